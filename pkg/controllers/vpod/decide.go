package vpod

import (
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
	mend   []*corev1.Pod
	// create are indices.
	create []int
}

func (p plan) isEmpty() bool { return len(p.remove)+len(p.mend)+len(p.create) == 0 }

// decide is everything that this controller knows about its job. It depends on nothing but the observation.
func decide(o observation) plan {
	var p plan
	for _, pod := range o.pods {
		relation := o.relationTo(pod)
		if pod.DeletionTimestamp == nil && (relation == inherited || relation == own && (adapter.IsFinished(pod) || !isUnit(pod))) {
			p.remove = append(p.remove, pod)
		}
	}
	// What waits serves nobody: it is replaced at once.
	alive := o.alive()
	outdated := filter(alive, func(pod *corev1.Pod) bool {
		return isWaiting(pod) && (otherScheduler(o.vpod, pod) || otherPriority(o.vpod, pod))
	})
	alive = without(alive, outdated)

	surplus, missing := o.balance(alive)
	p.remove = append(append(p.remove, outdated...), surplus...)
	p.mend = filter(without(alive, surplus), func(pod *corev1.Pod) bool { return !isMended(o.vpod, pod) })
	if !o.holdsBack(len(alive)) {
		untried := len(filter(alive, isUntried))
		p.create = o.freeIndices(max(0, min(missing, burst-untried)))
	}
	return p
}

// balance says which placeholders there are too many, and how many are missing.
func (o observation) balance(alive []*corev1.Pod) (surplus []*corev1.Pod, missing int) {
	replicas := desired(o.vpod)
	outdated := filter(alive, func(pod *corev1.Pod) bool { return otherPriority(o.vpod, pod) })
	spare := 0
	if len(outdated) > 0 && replicas > 0 {
		spare = 1
	}
	switch excess := len(alive) - replicas; {
	case excess < 0:
		return nil, -excess
	case excess > spare:
		return o.victims(alive, excess-spare), 0
	case spare == 0:
		return nil, 0
	default:
		return o.rollout(alive, outdated, excess == 0)
	}
}

// holdsBack says whether to wait before the API server is asked again to create what it refused.
func (o observation) holdsBack(alive int) bool {
	r := o.refusal
	return r != nil && r.generation == o.vpod.Generation && alive >= r.alive && o.now.Before(r.until)
}

// freeIndices are the n lowest that no pod has. The name of one that is being deleted is free once it is gone.
func (o observation) freeIndices(n int) []int {
	taken := make(map[int]bool, len(o.pods))
	for _, pod := range o.pods {
		if i, ok := indexOf(o.vpod.Name, pod.Name); ok {
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
