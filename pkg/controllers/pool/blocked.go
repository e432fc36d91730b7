package pool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// answerWithin is how long the API server is waited for, before something is told without its words. The client asks again
// and again for as long as a PodDisruptionBudget has not been counted, and other pools wait for their turn.
const answerWithin = 2 * time.Second

// whyNot says what is known of why the adapters beyond a target are not empty: whose vreplicas are there, and what the API
// server answers to whoever tries to evict one, or else the scheduler of one that waits.
func (r *reconciler) whyNot(ctx context.Context, s state, target int) string {
	remaining := s.remaining(target)
	if len(remaining) == 0 {
		return ""
	}
	var tenants []string
	for _, pod := range remaining {
		tenants = append(tenants, tenant(pod))
	}
	slices.Sort(tenants)
	words := ", of " + wording.List(slices.Compact(tenants), maxNamed)
	pod := remaining[0]
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err := r.client.SubResource("eviction").Create(ctx, pod.DeepCopy(), eviction, client.DryRunAll)
	if err != nil && ctx.Err() == nil {
		return fmt.Sprintf("%s; evicting %s/%s is refused: %s", words, pod.Namespace, pod.Name, wording.Cut(retry.InWords(err), maxAnswer))
	}
	for _, waiting := range s.placeholders {
		c := adapter.PodCondition(waiting, corev1.PodScheduled)
		if waiting.Spec.NodeName == "" && c != nil && c.Status == corev1.ConditionFalse && c.Message != "" {
			name := waiting.Namespace + "/" + waiting.Name
			return fmt.Sprintf("%s; the scheduler says of %s: %s", words, name, wording.Cut(c.Message, maxAnswer))
		}
	}
	return words
}

// remaining are the placeholders on the adapters from the n-th on, by name.
func (s state) remaining(n int) []*corev1.Pod {
	on := map[string]bool{}
	for _, m := range s.members[min(n, len(s.members)):] {
		on[m.id.NodeName()] = true
	}
	var all []*corev1.Pod
	for _, pod := range s.placeholders {
		if on[pod.Spec.NodeName] && !adapter.IsFinished(pod) {
			all = append(all, pod)
		}
	}
	slices.SortFunc(all, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}
