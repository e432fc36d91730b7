package vpod

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// patience is how long somebody who should act is given before that is taken for silence.
const patience = time.Minute

// rollout replaces one by one the bound placeholders that have another PriorityClass than their VPod: one more is created,
// and when it is placed, an outdated one is removed. So no more than one more than asked for exists, and no fewer serve.
// even: there are exactly as many as asked for.
//
// A placeholder that finds no room is not waited for: the room of an outdated one is what it needs. The same holds where a
// ResourceQuota leaves none for one more. Should another VPod get that room, no more is given up.
func (o observation) rollout(alive, outdated []*corev1.Pod, even bool) (remove []*corev1.Pod, missing int) {
	waiting := filter(without(alive, outdated), func(pod *corev1.Pod) bool { return !isAdmitted(pod) })
	switch {
	case len(waiting) > 0 && (len(filter(alive, isAdmitted)) < o.held || !o.isStuck(waiting)):
		return nil, 0
	case len(waiting) == 0 && even && (o.refusal == nil || !o.refusal.quota):
		return nil, 1
	}
	return []*corev1.Pod{o.leastMissed(alive, outdated)}, 0
}

// hold is how many vreplicas are placed, or were before in the course of a rollout, as far as they are asked for.
func (o observation) hold(before int) int {
	alive := o.alive()
	if !slices.ContainsFunc(alive, func(pod *corev1.Pod) bool { return otherPriority(o.vpod, pod) }) {
		return 0
	}
	return min(max(before, len(filter(alive, isAdmitted))), desired(o.vpod))
}

// isStuck says whether placeholders that wait will find no room by themselves. What the scheduler said may be from before
// room was made: where there is room by the numbers, it gets time to see it.
func (o observation) isStuck(waiting []*corev1.Pod) bool {
	youngest := slices.MaxFunc(waiting, func(a, b *corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	isAllRefused := !slices.ContainsFunc(waiting, func(pod *corev1.Pod) bool { return !isRefused(pod) })
	return isAllRefused && o.census != nil && (o.room().eligible == 0 || o.now.Sub(youngest.CreationTimestamp.Time) >= patience)
}

// leastMissed picks one of the outdated placeholders. The order is total:
//  1. those whose adapter is gone, then those whose adapter is not ready
//  2. the adapter with the fewest vreplicas of the VPod, then the zone, then the host
//  3. the higher ordinal, then the higher index, then the greater name
//
// Its replacement goes where the fewest are, and so takes its place. It is the reverse of scaling down, where the most
// lose one: so what is replaced last is where one too many is while there is one more than asked for, and its removal
// leaves an even spread behind.
func (o observation) leastMissed(alive, outdated []*corev1.Pod) *corev1.Pod {
	zones, hosts, adapters := map[string]int{}, map[string]int{}, map[string]int{}
	for _, pod := range alive {
		if node := o.nodes[pod.Spec.NodeName]; node != nil {
			zones[node.Labels[corev1.LabelTopologyZone]]++
			hosts[snapshot.HostOf(node)]++
			adapters[node.Name]++
		}
	}
	return slices.MinFunc(outdated, func(a, b *corev1.Pod) int {
		x, y := o.nodes[a.Spec.NodeName], o.nodes[b.Spec.NodeName]
		if x == nil || y == nil {
			return cmp.Or(compareBools(x != nil, y != nil), o.compareIndices(b, a))
		}
		return cmp.Or(
			compareBools(adapter.IsNodeReady(x), adapter.IsNodeReady(y)),
			cmp.Compare(adapters[x.Name], adapters[y.Name]),
			cmp.Compare(zones[x.Labels[corev1.LabelTopologyZone]], zones[y.Labels[corev1.LabelTopologyZone]]),
			cmp.Compare(hosts[snapshot.HostOf(x)], hosts[snapshot.HostOf(y)]),
			cmp.Compare(ordinalOf(y), ordinalOf(x)),
			o.compareIndices(b, a),
		)
	})
}

func (o observation) compareIndices(a, b *corev1.Pod) int {
	i, _ := indexOf(o.vpod.Name, a.Name)
	j, _ := indexOf(o.vpod.Name, b.Name)
	return cmp.Or(cmp.Compare(i, j), cmp.Compare(a.Name, b.Name))
}

// compareBools has false come first.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
