package vpod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// burst is the most placeholders of a VPod that wait for the scheduler's first word at one time, so that the status of a
// large VPod follows, and others get their turn, here and in the scheduler's queue.
const burst = 200

// plan is what to do about the placeholders of a VPod, in this order: what is removed makes room in a ResourceQuota for
// what is created.
type plan struct {
	remove []*corev1.Pod
	// evict are those that are served and could stay, so that PodDisruptionBudgets hold for them; together: all of them or
	// none.
	evict    []*corev1.Pod
	together bool
	mend     []*corev1.Pod
	// create are indices.
	create []int
}

func (p plan) isEmpty() bool { return len(p.remove)+len(p.evict)+len(p.mend)+len(p.create) == 0 }

// leaves are all that will be gone.
func (p plan) leaves() []*corev1.Pod { return slices.Concat(p.remove, p.evict) }

// decide is everything that this controller knows about its job. It depends on nothing but the observation.
func decide(o observation) plan {
	var p plan
	for _, pod := range o.pods {
		relation := o.relationTo(pod)
		if pod.DeletionTimestamp == nil && (relation == inherited || relation == own && (adapter.IsFinished(pod) || !adapter.IsUnit(pod))) {
			p.remove = append(p.remove, pod)
		}
	}
	// What waits serves nobody: it is replaced at once.
	alive := o.alive()
	outdated := filter(alive, func(pod *corev1.Pod) bool {
		return isWaiting(pod) && (otherScheduler(o.vpod, pod) || otherPriority(o.vpod, pod))
	})
	alive = without(alive, outdated)

	b, missing := o.balance(alive)
	p.remove = slices.Concat(p.remove, outdated, b.remove)
	p.evict, p.together = b.evict, b.together
	p.mend = filter(without(alive, b.leaves()), func(pod *corev1.Pod) bool {
		return !isMended(o.vpod, pod) || o.isCalledOff(pod)
	})
	if !o.holdsBack(len(alive)) {
		untried := len(filter(alive, isUntried))
		p.create = o.freeIndices(max(0, min(missing, burst-untried)))
	}
	return p
}

// balance says which placeholders go and how many are missing.
func (o observation) balance(alive []*corev1.Pod) (p plan, missing int) {
	stale := filter(alive, o.isStale)
	spare := o.spare(stale)
	switch excess := len(alive) - desired(o.vpod); {
	case excess > spare:
		return plan{remove: o.surplus(alive, excess-spare)}, 0
	case spare == 0:
		return plan{}, max(0, -excess)
	case excess >= 0:
		return o.replace(alive, stale, spare)
	case !slices.ContainsFunc(alive, func(pod *corev1.Pod) bool { return !isAdmitted(pod) && !o.isStale(pod) }):
		// A ResourceQuota that lets not even as many exist as are asked for keeps none on an adapter that it is to leave.
		p = o.sacrificeForQuota(alive, stale)
	}
	return p, max(0, desired(o.vpod)-len(alive))
}

// surplus picks n to remove. A VPod that shrinks loses the victims of its pool's choice. Else others were to take the place of
// some that stay after all, or somebody made some by hand: what is published stays, because somebody is served by it.
func (o observation) surplus(alive []*corev1.Pod, n int) []*corev1.Pod {
	from := o.dispensable(alive, n)
	if o.shrinks || o.pool == nil {
		return o.victims(from, n)
	}
	isPlaced := func(pod *corev1.Pod) bool { return isAdmitted(pod) && o.nodes[pod.Spec.NodeName] != nil }
	placed := filter(from, isPlaced)
	unserved := slices.Concat(without(from, placed), o.unpublished(placed))
	if len(unserved) < n {
		return append(unserved, o.victims(without(from, unserved), n-len(unserved))...)
	}
	return o.victims(unserved, n)
}

// dispensable are those of which n may be removed. What is leaving is evicted instead, unless the VPod shrinks.
func (o observation) dispensable(alive []*corev1.Pod, n int) []*corev1.Pod {
	staying := filter(alive, func(pod *corev1.Pod) bool { return !o.isLeaving(pod) })
	if o.shrinks || len(staying) < n {
		return alive
	}
	return staying
}

// holdsBack says whether to wait before the API server is asked again to create what it refused.
func (o observation) holdsBack(alive int) bool {
	r := o.refusal
	return r.holds(o.now) && r.generation == o.vpod.Generation && alive >= r.alive
}

// freeIndices are the n lowest that no pod has. The name of one that is being deleted is free once it is gone.
func (o observation) freeIndices(n int) []int {
	taken := make(map[int]bool, len(o.pods))
	for _, pod := range o.pods {
		if i, ok := adapter.IndexOf(o.vpod.Name, pod.Name); ok {
			taken[i] = true
		}
	}
	var free []int
	for i := 0; len(free) < n; i++ {
		if !taken[i] {
			free = append(free, i)
		}
	}
	return free
}
