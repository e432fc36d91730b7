package vpod

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// tally is the placeholders of a VPod, counted.
type tally struct {
	desired int
	// alive exist, placed or not.
	alive []*corev1.Pod
	// placed are on an adapter that exists and were admitted there, and no more than desired. What was bound to an adapter
	// beyond its capacity is never admitted, so nobody is ever told to serve it.
	placed []*corev1.Pod
	// ready are those of the placed that are on an adapter that is ready.
	ready []*corev1.Pod
}

// waiting is the number of vreplicas without an adapter.
func (t tally) waiting() int { return t.desired - len(t.placed) }

func (o observation) tally() tally {
	t := tally{desired: desired(o.vpod), alive: o.alive()}
	if o.pool != nil {
		t.placed = filter(t.alive, func(pod *corev1.Pod) bool {
			return o.nodes[pod.Spec.NodeName] != nil && isAdmitted(pod)
		})
	}
	if surplus := len(t.placed) - t.desired; surplus > 0 {
		// They are about to be removed; until then, nobody is to be told of more than was asked for.
		t.placed = without(t.placed, o.hidden(t.placed, surplus))
	}
	t.ready = filter(t.placed, adapter.IsPodReady)
	return t
}

// hidden picks n that are not published. Unless the VPod shrinks, these are the ones that are not published yet: the others
// stay it until they are let go, and are not published again if they cannot be then.
func (o observation) hidden(placed []*corev1.Pod, n int) []*corev1.Pod {
	if o.shrinks {
		return o.victims(placed, n)
	}
	isNew := o.unpublished(placed)
	if len(isNew) < n {
		return append(isNew, o.victims(without(placed, isNew), n-len(isNew))...)
	}
	// Of those none is worth more than another, but what is to stay.
	slices.SortFunc(isNew, func(a, b *corev1.Pod) int {
		return cmp.Or(compareBools(o.isStale(b), o.isStale(a)), cmp.Compare(b.Spec.NodeName, a.Spec.NodeName),
			o.compareIndices(b, a))
	})
	return isNew[:n]
}

// unpublished are those of the placeholders on each adapter that are more than the status says.
func (o observation) unpublished(placed []*corev1.Pod) []*corev1.Pod {
	published := map[string]int32{}
	for _, placement := range o.vpod.Status.Placements {
		published[placement.PodName] = placement.VReplicas
	}
	var isNew []*corev1.Pod
	for _, pods := range byNode(placed) {
		slices.SortFunc(pods, o.compareIndices) // As victims go: those with the highest index first, whoever leads.
		was := int(published[o.podName(ordinalOf(o.nodes[pods[0].Spec.NodeName]))])
		isNew = append(isNew, pods[min(was, len(pods)):]...)
	}
	return isNew
}

// status is what there is to publish. Conditions that stay as they were keep their times.
func (o observation) status() v1alpha1.VPodStatus {
	t := o.tally()
	status := v1alpha1.VPodStatus{
		ObservedGeneration: o.vpod.Generation,
		DesiredReplicas:    new(int32(t.desired)),
		Replicas:           int32(len(t.alive)),
		ScheduledReplicas:  int32(len(t.placed)),
		ReadyReplicas:      int32(len(t.ready)),
		Selector:           selector(o.vpod),
		Placements:         o.placements(t.placed),
		Conditions:         slices.Clone(o.vpod.Status.Conditions),
	}
	status.Adapters = int32(len(status.Placements))
	for _, condition := range []metav1.Condition{o.scheduled(t), o.readiness(t)} {
		condition.ObservedGeneration = o.vpod.Generation
		condition.LastTransitionTime = metav1.NewTime(o.now)
		apimeta.SetStatusCondition(&status.Conditions, condition)
	}
	return status
}

// placements tell which adapter serves how many, by ordinal.
func (o observation) placements(placed []*corev1.Pod) []v1alpha1.Placement {
	counts := map[int]int32{}
	for _, pod := range placed {
		counts[ordinalOf(o.nodes[pod.Spec.NodeName])]++
	}
	var placements []v1alpha1.Placement
	for _, ordinal := range slices.Sorted(maps.Keys(counts)) {
		placements = append(placements, v1alpha1.Placement{PodName: o.podName(ordinal), VReplicas: counts[ordinal]})
	}
	return placements
}

// podName is the name of an adapter for those who know no nodes.
func (o observation) podName(ordinal int) string {
	return adapter.ID{Pool: o.pool.Name, Ordinal: ordinal}.PodName(o.pool)
}

// weight is how much somebody who reads a status has to know of a change.
type weight int

const (
	// minor changes are of counts and messages, which people read.
	minor weight = iota
	// major changes are of placements and of the state of a condition, which programs go by.
	major
	// trouble is a reason to wait that was not there before.
	trouble
	// urgent changes answer a change of the spec, say that all is well, or take back a placement that somebody believes in.
	urgent
)

func weigh(was, is v1alpha1.VPodStatus) weight {
	switch {
	case was.ObservedGeneration != is.ObservedGeneration,
		apimeta.IsStatusConditionTrue(is.Conditions, v1alpha1.ConditionReady) &&
			!apimeta.IsStatusConditionTrue(was.Conditions, v1alpha1.ConditionReady),
		takesBack(was.Placements, is.Placements):
		return urgent
	case reasonToWait(is) != "" && reasonToWait(is) != reasonToWait(was):
		return trouble
	case !slices.Equal(was.Placements, is.Placements), !slices.Equal(states(was.Conditions), states(is.Conditions)):
		return major
	}
	return minor
}

// reasonToWait is why vreplicas wait, or "" if it is only a matter of time.
func reasonToWait(s v1alpha1.VPodStatus) string {
	c := apimeta.FindStatusCondition(s.Conditions, v1alpha1.ConditionScheduled)
	if c == nil || c.Status == metav1.ConditionTrue || c.Reason == v1alpha1.ReasonScheduling {
		return ""
	}
	return c.Reason
}

// takesBack says whether an adapter serves fewer than before.
func takesBack(was, is []v1alpha1.Placement) bool {
	now := make(map[string]int32, len(is))
	for _, placement := range is {
		now[placement.PodName] = placement.VReplicas
	}
	return slices.ContainsFunc(was, func(p v1alpha1.Placement) bool { return now[p.PodName] < p.VReplicas })
}

// states are the conditions without their messages and times.
func states(conditions []metav1.Condition) []string {
	var states []string
	for _, c := range conditions {
		states = append(states, c.Type+" "+string(c.Status)+" "+c.Reason)
	}
	return states
}
