package pool

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// refusedFirst is how long after the API server refused that the StatefulSet is scaled it is asked again, refusedMost how
// long after it has refused the same again and again.
const refusedFirst, refusedMost = 2 * time.Second, 30 * time.Second

// refusal is what the API server answered when it was asked to scale the StatefulSet. The zero refusal is that it did.
type refusal struct {
	// replicas is the number that it was asked for, and words is the answer.
	replicas int32
	words    string
	since    time.Time
	// pause is how long it is not asked again since then.
	pause time.Duration
}

// after is the refusal that follows r.
func (r refusal) after(replicas int32, err error, now time.Time) refusal {
	next := refusal{replicas: replicas, words: wording.Cut(err.Error(), maxAnswer), since: now, pause: refusedFirst}
	if r.replicas == replicas && r.words != "" {
		next.pause = min(2*r.pause, refusedMost)
	}
	return next
}

// left is how much of the pause is left.
func (r refusal) left(now time.Time) time.Duration { return max(0, r.pause-now.Sub(r.since)) }

// isRefusal says whether an error is an answer that will be the same for a while. A StatefulSet that is gone is seen soon.
func isRefusal(err error) bool { return retry.IsRefusal(err) && !apierrors.IsNotFound(err) }
