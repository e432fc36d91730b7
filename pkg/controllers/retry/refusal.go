package retry

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsRefusal says whether an error is an answer, of the API server or of a webhook that it asked, and not a failure to
// answer or something that another try may cure at once.
func IsRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code < http.StatusBadRequest {
		return false
	}
	return !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) && !apierrors.IsTooManyRequests(err) &&
		!apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) && !apierrors.IsServiceUnavailable(err)
}

// InWords is an error with its causes, of which that of an eviction names the budget. It ends without a full stop, so that
// a message can go on.
func InWords(err error) string {
	words := []string{err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			words = append(words, cause.Message)
		}
	}
	return strings.TrimSuffix(strings.Join(words, " "), ".")
}
