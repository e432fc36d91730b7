package pool

import (
	"context"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// attempt is a scale that was found to be as it was decided on, and when that was decided.
type attempt struct {
	scale   *autoscalingv1.Scale
	decided time.Time
}

// scaleOf reads the scale of the StatefulSet from the API server, and compares it with what was decided on.
func (r *reconciler) scaleOf(ctx context.Context, s state, v view) (*autoscalingv1.Scale, error) {
	scale := &autoscalingv1.Scale{}
	if err := r.client.SubResource("scale").Get(ctx, s.set, scale); err != nil {
		return nil, fmt.Errorf("reading the scale of the StatefulSet: %w", err)
	}
	if scale.UID != s.set.UID || scale.Spec.Replicas != v.replicas {
		return nil, errBehind
	}
	return scale, nil
}

// rescale asks the StatefulSet for another number of replicas, unless somebody else has changed it since it was compared.
func (r *reconciler) rescale(ctx context.Context, s state, v view, d decision, a attempt) error {
	replicas := d.replicas
	if replicas < v.replicas {
		var err error
		if replicas, err = r.empty(ctx, s, v.replicas, replicas, a.decided); err != nil {
			return err
		}
		if err = r.unchanged(ctx, s.pool); err != nil {
			return err
		}
	}
	if replicas == v.replicas || r.clock.Now().Sub(a.decided) > retry.PlanLife {
		return errBehind
	}
	if err := r.update(ctx, s, v, a.scale, replicas); err != nil {
		return err
	}
	r.memories.scaled(s.pool, replicas)
	metrics.Scaled(s.pool.Name, v.replicas, replicas)
	klog.FromContext(ctx).Info("Scaled the StatefulSet",
		"from", v.replicas, "to", replicas, "target", d.target, "size", v.size.String())
	if replicas < v.replicas && replicas == d.target {
		metrics.DrainFinished(s.pool.Name)
	}
	r.tell(s.pool, v.news(d, replicas))
	return nil
}

// unchanged asks the API server whether a pool still is what was decided on. Where its user has switched autoscaling off, the
// adapters that were found empty are in use again.
func (r *reconciler) unchanged(ctx context.Context, pool *v1alpha1.AdapterPool) error {
	is := &v1alpha1.AdapterPool{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(pool), is); err != nil {
		return fmt.Errorf("reading the pool again: %w", err)
	}
	if is.UID != pool.UID || is.Generation != pool.Generation {
		return errBehind
	}
	return nil
}

// update writes a number of replicas. That the StatefulSet has another status by now, as it has all the time while its pods
// come and go, makes no difference.
func (r *reconciler) update(ctx context.Context, s state, v view, scale *autoscalingv1.Scale, replicas int32) error {
	for try := 1; ; try++ {
		scale.Spec.Replicas = replicas
		err := r.client.SubResource("scale").Update(ctx, s.set.DeepCopy(), client.WithSubResourceBody(scale))
		if apierrors.IsConflict(err) && try < 3 {
			if scale, err = r.scaleOf(ctx, s, v); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("scaling the StatefulSet to %d: %w", replicas, err)
		}
		return nil
	}
}

// news is what an event says of a number of replicas that was written.
func (v view) news(d decision, replicas int32) news {
	n := news{
		kind: corev1.EventTypeNormal, reason: v1alpha1.EventScaled, action: fmt.Sprintf("ScaleFrom%dTo%d", v.replicas, replicas),
		note: fmt.Sprintf("from %d to %d adapters: size %s", v.replicas, replicas, v.size),
	}
	switch {
	case replicas > v.replicas && d.hand == replaced:
		n.note = fmt.Sprintf("from %d to %d adapters, as many as the StatefulSet before this one had: size %s", v.replicas, replicas, v.size)
	case replicas > v.replicas && d.hand != untouched:
		n.reason = v1alpha1.EventScaleReverted
		n.note = fmt.Sprintf("somebody asked the StatefulSet for %s; it has %d again: size %s",
			wording.Count(v.replicas, "replica", "replicas"), replicas, v.size)
	case replicas < v.replicas:
		n.note = fmt.Sprintf("from %d to %d adapters, the others are empty: size %s", v.replicas, replicas, v.size)
	}
	return n
}

// empty asks the API server how far the adapters from the top down to a number are empty, and returns that number. It takes
// no longer than what was decided may still be done.
func (r *reconciler) empty(ctx context.Context, s state, from, to int32, decided time.Time) (int32, error) {
	n := from
	for ; n > to && r.clock.Now().Sub(decided) < retry.PlanLife/2; n-- {
		node := s.members[n-1].id.NodeName()
		var pods corev1.PodList
		err := r.live.List(ctx, &pods, client.HasLabels{v1alpha1.LabelPool}, client.MatchingFields{"spec.nodeName": node})
		if err != nil {
			return 0, fmt.Errorf("listing what is on node %s: %w", node, err)
		}
		for i := range pods.Items {
			if adapter.IsPlaceholder(&pods.Items[i]) && !adapter.IsFinished(&pods.Items[i]) {
				klog.FromContext(ctx).V(3).Info("The cache is behind: an adapter is not empty", "node", node)
				return n, nil
			}
		}
	}
	return n, nil
}

// published counts and tells what a status that was written began or ended.
func (r *reconciler) published(s state, v view, d decision) {
	wasDraining := v.target != nil && *v.target < v.replicas
	switch {
	case d.gaveUp:
		metrics.DrainBlocked(s.pool.Name)
	case d.target < v.replicas && !wasDraining:
		metrics.DrainStarted(s.pool.Name)
	}
	if d.hand == raised || d.hand == replaced && v.replicas > d.target {
		r.tell(s.pool, v.tooMany(d))
	}
}

// tooMany is what an event says of replicas that somebody else added.
func (v view) tooMany(d decision) news {
	until := "once they are empty"
	if d.target == v.replicas {
		until = fmt.Sprintf("once fewer have been enough for %s, and they are empty", v.delay)
	}
	who := "somebody asked the StatefulSet for"
	if d.hand == replaced {
		who = "the new StatefulSet has"
	}
	return news{
		kind: corev1.EventTypeNormal, reason: v1alpha1.EventScaleReverted, action: fmt.Sprintf("ScaleBackFrom%d", v.replicas),
		note: fmt.Sprintf("%s %s; those that are not wanted go %s: size %s",
			who, wording.Count(v.replicas, "replica", "replicas"), until, v.size),
	}
}
