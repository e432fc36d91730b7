package rebalance

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// action is what events say was tried.
const action = "Rebalance"

var (
	errOutdated = errors.New("what was decided does not hold any more")
	errNotNow   = errors.New("the vreplica would not be let go")
)

// act carries out a plan, and returns what to remember. A mark that cannot be taken off keeps no other VPod from its turn.
func (r *reconciler) act(ctx context.Context, p plan, m memory, decided time.Time) (memory, error) {
	var errs []error
	for _, pod := range p.unmark {
		if err := r.annotate(ctx, pod, ""); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("taking the mark off placeholder %s: %w", klog.KObj(pod), err))
		}
	}
	for _, o := range p.outcomes {
		r.tell(ctx, o)
	}
	if p.begin != nil {
		var err error
		m, err = r.begin(ctx, *p.begin, m, decided)
		errs = append(errs, err)
	}
	return m, errors.Join(errs...)
}

// begin has a VPod move one of its placeholders. Once it is evicted, nothing brings it back: so what the cache says must
// hold on the API server, too. That of the placeholder itself, the version in the patch sees to.
func (r *reconciler) begin(ctx context.Context, mv move, m memory, decided time.Time) (memory, error) {
	if err := r.confirm(ctx, mv); err != nil {
		return m, err
	}
	why, err := r.objects(ctx, mv.pod)
	if err != nil {
		return m, err
	}
	if why != "" {
		o, m := m.fail(mv.vpod, mv.pod, fmt.Sprintf("A vreplica had better move %v, but %s", mv.Improvement, why), decided)
		r.tell(ctx, o)
		return m, errNotNow
	}
	if r.clock.Since(decided) > retry.PlanLife {
		return m, errOutdated
	}
	return r.mark(ctx, mv, m)
}

// mark marks the placeholder, and returns what to remember of the move.
func (r *reconciler) mark(ctx context.Context, mv move, m memory) (memory, error) {
	err := r.annotate(ctx, mv.pod, v1alpha1.MoveRebalance)
	if err != nil {
		err = fmt.Errorf("marking placeholder %s: %w", klog.KObj(mv.pod), err)
	}
	if isStale(err) {
		return m, err
	}
	// Whatever the answer was else: the mark may be set.
	t := m.turns[mv.vpod.UID]
	t.begun, m.begun = mv.begun, mv.begun
	switch {
	case err == nil:
		m.move = &mv
		klog.FromContext(ctx).V(2).Info("Moving a vreplica", "vpod", klog.KObj(mv.vpod), "placeholder", mv.pod.Name,
			"from", mv.From, "to", mv.To, "old", mv.Old, "new", mv.New)
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		t = t.failed(mv.vpod.Generation, mv.begun) // A policy refuses it, and will again.
	}
	return m.with(mv.vpod, t), err
}

// annotate sets the mark of a placeholder, or takes it off, if the placeholder is as it was.
func (r *reconciler) annotate(ctx context.Context, pod *corev1.Pod, mark string) error {
	is := pod.DeepCopy()
	if mark == "" {
		delete(is.Annotations, v1alpha1.AnnotationMove)
	} else {
		metav1.SetMetaDataAnnotation(&is.ObjectMeta, v1alpha1.AnnotationMove, mark)
	}
	return r.client.Patch(ctx, is, client.MergeFromWithOptions(pod, client.MergeFromWithOptimisticLock{}))
}

// confirm reads from the API server what a move depends on beside its placeholder: the pool, the VPod, and that each
// vreplica of it is served.
func (r *reconciler) confirm(ctx context.Context, mv move) error {
	pool, vpod := &v1alpha1.AdapterPool{}, &v1alpha1.VPod{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(mv.pool), pool); err != nil {
		return fmt.Errorf("reading the pool again: %w", err)
	}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(mv.vpod), vpod); err != nil {
		return fmt.Errorf("reading the VPod again: %w", err)
	}
	if pool.UID != mv.pool.UID || poolMatters(mv.pool, pool) || vpod.UID != mv.vpod.UID || vpodMatters(mv.vpod, vpod) {
		return errOutdated
	}
	var pods corev1.PodList
	labels := client.MatchingLabels{v1alpha1.LabelVPod: vpod.Name}
	if err := r.live.List(ctx, &pods, client.InNamespace(vpod.Namespace), labels); err != nil {
		return fmt.Errorf("listing the placeholders again: %w", err)
	}
	if !(state{pods: pointers(pods.Items)}).count().isSettled(vpod) {
		return errOutdated
	}
	return nil
}

// tell makes an event of what became of a move. It is related to the placeholder, so that the next one is another event.
func (r *reconciler) tell(ctx context.Context, o outcome) {
	kind, reason := corev1.EventTypeWarning, v1alpha1.EventNotRebalanced
	if o.moved {
		kind, reason = corev1.EventTypeNormal, v1alpha1.EventRebalanced
	}
	klog.FromContext(ctx).Info("A move has ended", "vpod", klog.KObj(o.vpod), "moved", o.moved, "note", o.note)
	r.events.Eventf(o.vpod, o.pod, kind, reason, action, "%s", wording.Cut(o.note, wording.MaxNote))
}
