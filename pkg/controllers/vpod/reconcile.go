package vpod

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

const (
	// retryConflict is how long to wait until the cache has what a write found changed.
	retryConflict = 100 * time.Millisecond
	// retryRoom is how long to wait until somebody must have used room that was there.
	retryRoom = 2 * time.Second
	// retryRollout is how long to wait until room is looked for again that what is to be replaced needs.
	retryRollout = 10 * time.Second
	// action is what events say was tried.
	action = "Placing"
)

// reconcile reads, decides, acts, and publishes.
func (r *reconciler) reconcile(ctx context.Context, vpod *v1alpha1.VPod) (ctrl.Result, error) {
	m := r.memories.of(vpod)
	o, err := r.observe(ctx, vpod, m)
	if err != nil {
		return ctrl.Result{}, err
	}
	switch {
	case vpod.DeletionTimestamp != nil:
		// The garbage collector removes the placeholders. Until the last is gone, adapters go by what is published.
	case vpod.Spec.Replicas != nil && decide(o).isEmpty():
		if !o.holdsBack(len(o.alive())) {
			o.refusal, m.refusal = nil, nil // Nothing is asked for that could be refused.
		}
	default:
		var ok bool
		if o, ok, err = r.confirm(ctx, o); err != nil || !ok {
			return ctrl.Result{}, err
		}
		o, err = r.enforce(ctx, o, m)
		m.refusal, m.eviction, m.tried = o.refusal, o.eviction, o.tried
	}
	before := o.vpod.ResourceVersion
	o, pause, failure := r.publish(ctx, o, m)
	if err = errors.Join(err, failure); apierrors.IsConflict(err) || errors.Is(err, errOutdated) {
		klog.FromContext(ctx).V(3).Info("Trying again, because something changed meanwhile", "reason", err.Error())
		return ctrl.Result{RequeueAfter: retryConflict}, nil
	}
	r.tellRefusal(o, m)
	after := retry.Soonest(pause, o.again())
	if o.vpod.ResourceVersion != before || pause > 0 {
		// What others made of the pool meanwhile may have been counted too late. A VPod for which it made no difference
		// waits for an event of its own.
		after = retry.Soonest(after, o.census.expires(o.now))
	}
	return ctrl.Result{RequeueAfter: after}, err
}

// again is how long to wait before the VPod is looked at again, even if nothing happens until then; 0 is for ever.
func (o observation) again() time.Duration {
	after := retry.Soonest(o.wake(), o.retry(), o.eviction.ends(o.now))
	if o.census != nil && apimeta.IsStatusConditionPresentAndEqual(o.status().Conditions, v1alpha1.ConditionScheduled, metav1.ConditionFalse) &&
		reasonToWait(o.status()) == "" {
		after = retry.Soonest(after, retryRoom) // Others may have taken the room that there seemed to be.
	}
	if slices.ContainsFunc(o.pending(), isRefused) {
		after = retry.Soonest(after, retryRoom) // What is in the way of a replacement may go away without a word.
	}
	if o.refusal.holds(o.now) && len(decide(o).leaves()) > 0 {
		after = retry.Soonest(after, retryConflict) // There is another way than what was refused.
	}
	if !o.lacking.IsZero() {
		after = retry.Soonest(after, retryRollout)
	}
	return after
}

// enforce makes what is what is wanted, and returns what is known then. What the API server refuses is no error.
func (r *reconciler) enforce(ctx context.Context, o observation, m *memory) (observation, error) {
	o, err := r.keepScale(ctx, o)
	if err != nil {
		return o, err
	}
	o, p, failure := r.ask(ctx, o, decide(o))
	if slices.ContainsFunc(p.leaves(), isAdmitted) {
		// Published before it is done: the room of what is removed goes to others at once, and both must not be told of it.
		left := o
		left.pods = without(o.pods, p.leaves())
		if left, _, err = r.publish(ctx, left, m); err != nil {
			return o, err
		}
		o.vpod = left.vpod
	}
	o, err = r.act(ctx, o, p)
	err = errors.Join(failure, err)
	alive := len(o.alive())
	if refused, ok := errors.AsType[*refusedError](err); ok {
		o.refusal = o.refusal.after(refused, ofCreation, o.now)
		o.refusal.generation, o.refusal.alive = o.vpod.Generation, alive
		return o, nil
	}
	if err == nil && !o.holdsBack(alive) {
		o.refusal = nil
	}
	return o, err
}

// keepScale writes the number of vreplicas into a spec without one: /scale, and so every scaler, reads it there.
func (r *reconciler) keepScale(ctx context.Context, o observation) (observation, error) {
	if o.vpod.Spec.Replicas != nil {
		return o, nil
	}
	vpod := o.vpod.DeepCopy()
	vpod.Spec.Replicas = new(int32(desired(o.vpod)))
	patch := client.MergeFromWithOptions(o.vpod, client.MergeFromWithOptimisticLock{})
	if err := r.writer.Patch(ctx, vpod, patch); err != nil {
		return o, fmt.Errorf("setting spec.replicas: %w", err)
	}
	klog.FromContext(ctx).Info("Kept the scale that the manifest leaves out", "replicas", *vpod.Spec.Replicas)
	o.vpod = vpod
	return o, nil
}

// publish writes the status if it changed, and says how long to wait if it is too early for that. It returns what is known
// with the VPod as it is then.
func (r *reconciler) publish(ctx context.Context, o observation, m *memory) (after observation, pause time.Duration, err error) {
	status := o.status()
	if apiequality.Semantic.DeepEqual(o.vpod.Status, status) {
		return o, 0, nil
	}
	m.pace = m.pace.notice(o.now)
	if pause := m.pace.wait(weigh(o.vpod.Status, status), o.now); pause > 0 {
		return o, pause, nil
	}
	vpod := o.vpod.DeepCopy()
	vpod.Status = status
	patch := client.MergeFromWithOptions(o.vpod, client.MergeFromWithOptimisticLock{})
	if err := r.writer.Status().Patch(ctx, vpod, patch); err != nil {
		if apierrors.IsNotFound(err) {
			return o, 0, nil
		}
		return o, 0, fmt.Errorf("writing the status: %w", err)
	}
	metrics.Published()
	m.pace = m.pace.wrote(o.now)
	r.tell(o.vpod, vpod)
	o.vpod = vpod
	return o, 0, nil
}

// tell makes an event of it when a VPod is placed or waits for another reason than before.
func (r *reconciler) tell(was, is *v1alpha1.VPod) {
	before := apimeta.FindStatusCondition(was.Status.Conditions, v1alpha1.ConditionScheduled)
	after := apimeta.FindStatusCondition(is.Status.Conditions, v1alpha1.ConditionScheduled)
	if after.Reason == v1alpha1.ReasonScheduling || before != nil && before.Reason == after.Reason {
		return
	}
	kind := corev1.EventTypeWarning
	if after.Reason == v1alpha1.ReasonAllScheduled {
		kind = corev1.EventTypeNormal
	}
	r.events.Eventf(is, nil, kind, after.Reason, action, "%s", wording.Cut(after.Message, wording.MaxNote))
}

// retry is how long to wait before the API server is asked again to create what it refused; 0 is never.
func (o observation) retry() time.Duration {
	if o.refusal == nil {
		return 0
	}
	return max(o.refusal.until.Sub(o.now), time.Millisecond)
}
