package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// errBehind is that the cache was behind.
var errBehind = errors.New("what was decided on has changed meanwhile")

// settle publishes how a pool is, and scales it. The status comes first: from then on the adapters beyond the target are
// drained, and whoever leads next knows it.
func (r *reconciler) settle(ctx context.Context, s state) (time.Duration, error) {
	now, c := r.clock.Now(), s.count()
	if !s.isScaled() {
		r.memories.forget(s.pool.Name)
		want := status(s, c, now)
		s.report(&want, c, now)
		return 0, r.publish(ctx, s.pool, want)
	}
	v := s.view(c, r.patience)
	d, m, a, err := r.decide(ctx, s, v)
	if err != nil {
		return 0, err
	}
	s.target = &d.target
	want := status(s, c, now)
	want.WantedAdapters, want.TargetAdapters = new(v.wanted()), s.target
	s.setCondition(&want, v.scaled(d, m, now), now)
	if err := r.publish(ctx, s.pool, want); err != nil {
		return 0, err
	}
	r.memories.keep(s.pool, m)
	r.published(s, v, d)
	if d.replicas == v.replicas || m.refusal.left(now) > 0 {
		return d.after, nil
	}
	err = r.rescale(ctx, s, v, d, a)
	if isRefusal(err) {
		klog.FromContext(ctx).Info("The API server refuses to scale the StatefulSet", "err", err)
		m.refusal = m.refusal.after(d.replicas, err, now)
		r.memories.keep(s.pool, m)
		return interval, nil // To tell it.
	}
	return d.after, err
}

// decide decides, and finds out what it takes to carry that out.
func (r *reconciler) decide(ctx context.Context, s state, v view) (d decision, m memory, a attempt, err error) {
	a.decided = r.clock.Now()
	before := r.memories.of(s.pool)
	d, m = decide(v, before, a.decided)
	if d.acts(v) {
		if a.scale, err = r.scaleOf(ctx, s, v); isRefusal(err) {
			d, m = v.stay(before, err, a.decided)
			return d, m, a, nil
		}
	}
	if err == nil && d.gaveUp {
		m.blocked += r.whyNot(ctx, s, int(*v.target))
	}
	return d, m, a, err
}

// isScaled says whether the number of adapters is ours to decide, and can be decided: there is a StatefulSet, and it is this
// pool's.
func (s state) isScaled() bool { return adapter.IsAutoscaled(s.pool) && s.hasSet() }

func (s state) hasSet() bool {
	return s.set != nil && s.set.DeletionTimestamp == nil && (s.holder == nil || s.holder.UID == s.pool.UID)
}

// report completes the status of a pool that is not scaled. The target of one whose StatefulSet is missing is kept: it is
// what the next one gets.
func (s state) report(status *v1alpha1.AdapterPoolStatus, taken census, now time.Time) {
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionScaled)
	if s.pool.Spec.Autoscaling == nil || s.pool.DeletionTimestamp != nil {
		return
	}
	size := s.size(taken)
	status.WantedAdapters = new(int32(size.Wanted))
	c := metav1.Condition{Type: v1alpha1.ConditionScaled, Status: metav1.ConditionFalse}
	switch {
	case !adapter.IsAutoscaled(s.pool):
		c.Reason = v1alpha1.ReasonAutoscalingOff
		c.Message = fmt.Sprintf("autoscaling is off, and the StatefulSet has %s; with mode Auto it would be size %s",
			wording.Count(len(s.members), "replica", "replicas"), size)
	default:
		c.Reason, c.Message = s.obstacle(load{})
		if c.Reason == v1alpha1.ReasonStatefulSetNotFound {
			status.TargetAdapters = s.pool.Status.TargetAdapters
		}
	}
	s.setCondition(status, c, now)
}

// acts says whether something is to be done that must not be decided on what has changed meanwhile.
func (d decision) acts(v view) bool {
	return d.hand != untouched || d.replicas != v.replicas || v.target == nil || d.target != *v.target
}
