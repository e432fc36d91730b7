// Package retry says how soon the controllers try again.
package retry

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Limiter has an object tried again soon after an error, and then after twice as long each time. The longest wait is short,
// so that everything is repaired soon after an outage of the API server, however long that was.
func Limiter() workqueue.TypedRateLimiter[reconcile.Request] {
	const first, last = 20 * time.Millisecond, 10 * time.Second
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, last)
}
