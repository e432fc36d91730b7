package vpod

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

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
	i, _ := adapter.IndexOf(o.vpod.Name, a.Name)
	j, _ := adapter.IndexOf(o.vpod.Name, b.Name)
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
