package soak

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outages follow since when which adapters are not ready, or missing.
type outages struct {
	// since is by the namespace and name of the adapter pod, sets by those of the StatefulSet.
	since map[string]time.Time
	sets  map[string]*appsv1.StatefulSet
	// last is when the last event was heard of.
	last time.Time
}

func newOutages() outages {
	return outages{since: map[string]time.Time{}, sets: map[string]*appsv1.StatefulSet{}}
}

func (o *outages) happens(e event) {
	switch object := e.object.(type) {
	case *corev1.Pod:
		if c := metav1.GetControllerOfNoCopy(object); c != nil && c.Kind == "StatefulSet" {
			o.pod(e, object)
		}
	case *appsv1.StatefulSet:
		o.set(e, object)
	}
	o.last = e.at
}

func (o *outages) set(e event, set *appsv1.StatefulSet) {
	if o.sets[key(set)] = set; e.gone {
		delete(o.sets, key(set))
	}
	// Should it grow again, that is another adapter.
	maps.DeleteFunc(o.since, func(pod string, _ time.Time) bool { return o.isRemoved(pod) })
}

// pod takes the pod's own word for since when it is not ready, because the event may be late.
func (o *outages) pod(e event, p *corev1.Pod) {
	switch _, already := o.since[key(p)]; {
	case !e.gone && isPodReady(p):
		delete(o.since, key(p))
	case already || o.isRemoved(key(p)):
	case e.missed:
		o.since[key(p)] = o.last
	default:
		since := e.at
		if c := podCondition(p, corev1.PodReady); c != nil && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero() {
			since = c.LastTransitionTime.Time
		}
		o.since[key(p)] = since
	}
}

// isRemoved says whether there is a StatefulSet that has no such pod any more. One that is replaced by another may not be
// there for a moment.
func (o *outages) isRemoved(pod string) bool {
	name, _, ok := split(pod)
	return !ok || o.sets[name] != nil && !o.hasAdapter(pod)
}

// hasAdapter says whether the StatefulSet of an adapter pod, by namespace and name, has the pod, or is about to.
func (o *outages) hasAdapter(pod string) bool {
	name, ordinal, ok := split(pod)
	set := o.sets[name]
	return ok && set != nil && ordinal < int(*set.Spec.Replicas)
}
