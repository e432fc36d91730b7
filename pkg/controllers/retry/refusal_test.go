package retry

import (
	"errors"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestInWords(t *testing.T) {
	refused := apierrors.NewTooManyRequests("It would violate the budget.", 0)
	named := apierrors.NewTooManyRequests("It would violate the budget.", 0)
	named.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The budget x needs 2 and has 2"}}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"without causes":        {refused, "It would violate the budget"},
		"with one":              {named, "It would violate the budget. The budget x needs 2 and has 2"},
		"not of the API server": {errors.New("no route to host"), "no route to host"},
	} {
		if got := InWords(tc.err); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
