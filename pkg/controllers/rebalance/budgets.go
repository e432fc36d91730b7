package rebalance

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// objects says why the API server would not let a placeholder go, or "".
func (r *reconciler) objects(ctx context.Context, pod *corev1.Pod) (string, error) {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.live.List(ctx, &budgets, client.InNamespace(pod.Namespace)); err != nil {
		return "", fmt.Errorf("listing the PodDisruptionBudgets: %w", err)
	}
	return objection(budgets.Items, pod), nil
}

// objection is what budgets have against a move, or "". Its replacement is served before a placeholder is evicted, so a
// budget allows for one more than its status says: also one that lets nobody be missed is no hindrance, as long as as many
// are healthy as it wants. Where it would be, no replacement is made in vain.
func objection(budgets []policyv1.PodDisruptionBudget, pod *corev1.Pod) string {
	var found *policyv1.PodDisruptionBudget
	for i := range budgets {
		b := &budgets[i]
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) { // The API server takes none that is malformed.
			continue
		}
		if found != nil {
			return fmt.Sprintf("PodDisruptionBudgets %s and %s both select its placeholder, and so the API server evicts it never",
				found.Name, b.Name)
		}
		found = b
	}
	switch {
	case found == nil:
		return ""
	case found.Status.ObservedGeneration < found.Generation:
		return fmt.Sprintf("PodDisruptionBudget %s has not been counted yet", found.Name)
	case found.Status.CurrentHealthy < found.Status.DesiredHealthy:
		return fmt.Sprintf("PodDisruptionBudget %s wants %d to be healthy, and %d are",
			found.Name, found.Status.DesiredHealthy, found.Status.CurrentHealthy)
	}
	return ""
}
