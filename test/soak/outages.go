package soak

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// outages follow since when which adapters are not ready, or missing.
type outages struct {
	// since is by the namespace and name of the adapter pod, sets by those of the StatefulSet.
	since map[string]time.Time
	sets  map[string]*appsv1.StatefulSet
	// removed are adapters that their StatefulSet has no more by somebody else's hand than the controller's, and returned is
	// when it had them again.
	removed  map[string]bool
	returned map[string]time.Time
	// last is when the last event was heard of.
	last time.Time
}

func newOutages() outages {
	return outages{
		since: map[string]time.Time{}, sets: map[string]*appsv1.StatefulSet{},
		removed: map[string]bool{}, returned: map[string]time.Time{},
	}
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
	had, has := 0, int(*set.Spec.Replicas)
	if was := o.sets[key(set)]; was != nil {
		had = int(*was.Spec.Replicas)
	}
	if e.gone {
		has = 0
	}
	for i := range max(had, has) {
		switch adapter := v1alpha1.NodeName(key(set), i); {
		case i >= has && (e.gone || !isScaledByUs(set)):
			o.removed[adapter] = true
		case i < has && o.removed[adapter]:
			delete(o.removed, adapter)
			o.returned[adapter] = e.at
		}
	}
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

// isRemovedByHand says whether a StatefulSet has an adapter no more because of somebody else than the controller, or had it
// not a moment ago, which not everybody may have heard of.
func (o *outages) isRemovedByHand(pod string, at time.Time) bool {
	since, isBack := o.returned[pod]
	return o.removed[pod] || isBack && at.Sub(since) <= late
}

// hasAdapter says whether the StatefulSet of an adapter pod, by namespace and name, has the pod, or is about to.
func (o *outages) hasAdapter(pod string) bool {
	name, ordinal, ok := split(pod)
	set := o.sets[name]
	return ok && set != nil && ordinal < int(*set.Spec.Replicas)
}
