package snapshot

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// holdForNominees has adapters keep the room of preemptors that wait for it. The filters see that room anyway, but an
// adapter that has no other must not be eligible either, lest it holds the minimum down for all others.
//
// Whether there is any such room is asked of the contenders alone, a few: unless one of them has nominees, each count
// that could be the minimum is that of an adapter whose room is really free.
func (p *Profile) holdForNominees(c *Cycle, pod *v1.Pod) {
	contenders := c.Tally.Contenders(placement.Rules{})
	if !slices.ContainsFunc(contenders, func(slot int) bool { return p.nominated(c.Adapter(slot).Name, pod) > 0 }) {
		return
	}
	for name := range c.pool.names {
		slot, found := c.pool.Slot(name)
		if size := p.nominated(name, pod); found && size > 0 {
			c.Tally.Hold(slot, size)
		}
	}
}

// nominated is the room on a node of pods that are nominated to it, and to which a pod has to yield.
func (p *Profile) nominated(node string, pod *v1.Pod) int64 {
	var size int64
	for _, nominee := range p.handle.NominatedPodsForNode(node) {
		if other := nominee.GetPod(); other.UID != pod.UID && corev1.PodPriority(other) >= corev1.PodPriority(pod) {
			size += Requested(other, p.Resource)
		}
	}
	return size
}
