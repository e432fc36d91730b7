package vpod

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// untold is how long evictions are refused before anybody is told: a PodDisruptionBudget takes a moment to count.
const untold = 3 * time.Second

// ask finds out what the API server will let be evicted, and leaves out of a plan what it will not. What is not let go must
// not be taken out of the status either.
func (r *reconciler) ask(ctx context.Context, o observation, p plan) (observation, plan, error) {
	if len(p.evict) == 0 {
		return o, p, nil
	}
	allowed, err := p.evict, error(nil)
	if p.together {
		if err = r.withinBudgets(ctx, p.evict); err == nil {
			_, err = r.each(ctx, o, p.evict[:1], true)
		}
		if err != nil {
			allowed = nil
		}
	} else {
		allowed, err = r.each(ctx, o, p.evict, true)
	}
	if asked := len(p.evict); err != nil {
		klog.FromContext(ctx).V(3).Info("Some may not be evicted", "vreplicas", asked-len(allowed), "reason", err.Error())
	}
	p.evict = allowed
	o, err = o.refusedToEvict(err)
	return o, p, err
}

// evict carries it out. The first refusal ends it: it holds for the others, too.
func (r *reconciler) evict(ctx context.Context, o observation, pods []*corev1.Pod) (observation, error) {
	if len(pods) == 0 {
		return o, nil
	}
	gone, err := r.each(ctx, o, pods, false)
	o.pods = without(o.pods, gone)
	if len(gone) > 0 {
		o.eviction = nil
		for _, pod := range gone {
			metrics.Evicted(o.vpod.Spec.PoolName, o.cause(pod))
		}
		klog.FromContext(ctx).V(3).Info("Evicted placeholders", "count", len(gone), "first", klog.KObj(gone[0]))
	}
	return o.refusedToEvict(err)
}

// cause is why a placeholder is evicted, in one of a few words: an annotation may say anything.
func (o observation) cause(pod *corev1.Pod) string {
	switch {
	case o.draining[pod.Spec.NodeName]:
		return v1alpha1.CordonDraining
	case pod.Annotations[v1alpha1.AnnotationMove] == v1alpha1.MoveRebalance:
		return v1alpha1.MoveRebalance
	}
	return "Other"
}

// refusedToEvict remembers an answer that is a refusal; it is no error.
func (o observation) refusedToEvict(err error) (observation, error) {
	if refused, ok := errors.AsType[*refusedError](err); ok {
		o.eviction = o.eviction.after(refused, ofEviction, o.now)
		return o, nil
	}
	return o, err
}

// each asks for one eviction after the other, because all of them may count against one budget, and returns the pods with
// which it got through. A dry run takes half of the time that there is at most, so that the other half is left for what it
// allows.
func (r *reconciler) each(ctx context.Context, o observation, pods []*corev1.Pod, dryRun bool) ([]*corev1.Pod, error) {
	for i, pod := range pods {
		if r.isOutdated(o) || dryRun && r.clock.Since(o.now) > retry.PlanLife/2 {
			return pods[:i], errOutdated
		}
		if err := r.evictOne(ctx, pod, dryRun); client.IgnoreNotFound(err) != nil {
			return pods[:i], err
		}
	}
	return pods, nil
}

// evictOne asks once. The client of the manager would ask up to ten times, and wait in between as long as the API server
// says.
func (r *reconciler) evictOne(ctx context.Context, pod *corev1.Pod, dryRun bool) error {
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	}
	request := r.pods.Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").MaxRetries(0)
	if dryRun {
		eviction.DeleteOptions.DryRun = []string{metav1.DryRunAll}
		request.Param("dryRun", metav1.DryRunAll)
	}
	// The answer is a status, which may be a failure in spite of the code of a success.
	err := request.Body(eviction).Do(ctx).Into(&policyv1.Eviction{})
	switch {
	case err == nil:
		return nil
	case isEvictionRefused(err):
		return &refusedError{errors.New(retry.InWords(err))}
	}
	return fmt.Errorf("evicting placeholder %s: %w", pod.Name, err)
}

// isEvictionRefused says whether an error is an answer that will be the same for a while: that of a PodDisruptionBudget, of
// two for one pod, or of a policy.
func isEvictionRefused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false
	}
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) ||
		apierrors.IsForbidden(err) || status.Status().Code == http.StatusInternalServerError
}

// withinBudgets returns a refusal where PodDisruptionBudgets would let some of the placeholders go and not all of them: none
// would find another adapter then, and fewer than before would be served.
func (r *reconciler) withinBudgets(ctx context.Context, pods []*corev1.Pod) error {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.live.List(ctx, &budgets, client.InNamespace(pods[0].Namespace)); err != nil {
		return fmt.Errorf("listing the PodDisruptionBudgets: %w", err)
	}
	for _, budget := range budgets.Items {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			continue // The API server takes none like that.
		}
		counting := filter(pods, func(pod *corev1.Pod) bool {
			return adapter.IsPodReady(pod) && selector.Matches(labels.Set(pod.Labels))
		})
		if allowed := int(budget.Status.DisruptionsAllowed); len(counting) > allowed {
			return &refusedError{fmt.Errorf("within spec.maxAdapters all %d have to go at once, "+
				"and the disruption budget %s allows %d", len(pods), budget.Name, allowed)}
		}
	}
	return nil
}

// tellRefusal makes an event of it, once, when evictions are refused.
func (r *reconciler) tellRefusal(o observation, m *memory) {
	if !o.eviction.lasts(untold, o.now) || o.eviction.told {
		return
	}
	told := *o.eviction
	told.told = true
	m.eviction = &told
	r.events.Eventf(o.vpod, nil, corev1.EventTypeWarning, v1alpha1.EventEvictionRefused, "Evicting", "%s",
		wording.Cut("Vreplicas that are to be served elsewhere stay: "+o.eviction.message, wording.MaxNote))
}
