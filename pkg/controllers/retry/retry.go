// Package retry says how soon the controllers try again, and how long they may go on with what they decided.
package retry

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// PlanLife is how long after it was decided what cannot be undone may still be done. It is well below the duration of the
// lease, which is 15 s by default: a leader that was frozen until another one leads, and goes on before it finds out, does
// no harm any more.
const PlanLife = 5 * time.Second

// Limiter has an object tried again soon after an error, and then after twice as long each time. The longest wait is short,
// so that everything is repaired soon after an outage of the API server, however long that was.
func Limiter() workqueue.TypedRateLimiter[reconcile.Request] {
	const first, last = 20 * time.Millisecond, 10 * time.Second
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, last)
}

// Soonest is the shortest of the durations that are above 0, or 0: when to look again, if there are several reasons to.
func Soonest(durations ...time.Duration) time.Duration {
	var least time.Duration
	for _, d := range durations {
		if d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}
