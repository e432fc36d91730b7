package vpod

import (
	"errors"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The API server is asked again after refusalFirst, then twice as long each time, up to refusalMost: what it refuses for,
// such as a ResourceQuota, is not watched.
const (
	refusalFirst = time.Second
	refusalMost  = 20 * time.Second
)

// refusal is the API server's answer to the creation of a placeholder. It is kept in memory: a controller that has just
// started asks again.
type refusal struct {
	// message is the API server's, for the tenant.
	message string
	// quota: there are as many placeholders as a ResourceQuota allows.
	quota bool
	// generation is that of the VPod, and alive the number of its placeholders: with another spec, or fewer, the answer may
	// be another.
	generation int64
	alive      int
	pause      time.Duration
	until      time.Time
}

// after is the refusal that follows r, or the first if r is nil. It takes over the pause.
func (r *refusal) after(err error, now time.Time) *refusal {
	next := &refusal{
		message: err.Error(),
		quota:   apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"),
		pause:   refusalFirst,
	}
	if r != nil {
		next.pause = min(2*r.pause, refusalMost)
	}
	next.until = now.Add(next.pause)
	return next
}

// refusedError is an answer to a creation that will be the same for a while, in contrast to a failure to answer.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// isRefusal says whether an error is an answer, of the API server or of a webhook that it asked, and not a failure to
// answer or something that another try may cure at once.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code < http.StatusBadRequest {
		return false
	}
	return !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) && !apierrors.IsTooManyRequests(err) &&
		!apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) && !apierrors.IsServiceUnavailable(err)
}
