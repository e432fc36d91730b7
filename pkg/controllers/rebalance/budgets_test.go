package rebalance

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestWhatBudgetsHaveAgainstAMove(t *testing.T) {
	budget := func(name, vpod string, healthy, wanted int32) policyv1.PodDisruptionBudget {
		return policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 2},
			Spec: policyv1.PodDisruptionBudgetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: vpod}},
			},
			Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, CurrentHealthy: healthy, DesiredHealthy: wanted},
		}
	}
	uncounted := budget("b", "x", 4, 4)
	uncounted.Generation = 3
	all := budget("all", "x", 4, 4)
	all.Spec.Selector = &metav1.LabelSelector{}
	for name, tc := range map[string]struct {
		budgets []policyv1.PodDisruptionBudget
		want    string
	}{
		"none":                    {},
		"of another VPod":         {budgets: []policyv1.PodDisruptionBudget{budget("b", "y", 4, 9)}},
		"one may be missed":       {budgets: []policyv1.PodDisruptionBudget{budget("b", "x", 4, 3)}},
		"nobody may be missed":    {budgets: []policyv1.PodDisruptionBudget{budget("b", "x", 4, 4)}},
		"more than there are":     {budgets: []policyv1.PodDisruptionBudget{budget("b", "x", 4, 5)}, want: "PodDisruptionBudget b wants 5 to be healthy, and 4 are"},
		"not counted":             {budgets: []policyv1.PodDisruptionBudget{uncounted}, want: "PodDisruptionBudget b has not been counted yet"},
		"two for one placeholder": {budgets: []policyv1.PodDisruptionBudget{budget("b", "x", 4, 3), all}, want: "PodDisruptionBudgets b and all both select its placeholder, and so the API server evicts it never"},
		"for the whole namespace": {budgets: []policyv1.PodDisruptionBudget{all}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := objection(tc.budgets, poolOf("-").serves("x", "1").pods[0]); got != tc.want {
				t.Errorf("objection is %q, want %q", got, tc.want)
			}
		})
	}
}
