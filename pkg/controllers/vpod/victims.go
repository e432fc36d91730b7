package vpod

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// criteria are what the priorities of a pool mean: in removing, each criterion of adding is turned around.
var criteria = map[v1alpha1.RemovalPriority]placement.Criterion{
	v1alpha1.RemoveWithAvailabilityZonePriority: placement.FewestInZone,
	v1alpha1.RemoveWithAvailabilityNodePriority: placement.FewestOnHost,
	v1alpha1.RemoveWithEvenPodSpreadPriority:    placement.FewestOnAdapter,
	v1alpha1.RemoveWithHighestOrdinalPriority:   placement.LowestOrdinal,
}

// removal is how the pool chooses vreplicas to remove.
func removal(pool *v1alpha1.AdapterPool) placement.Weights {
	if pool == nil || pool.Spec.Descheduling == nil || len(pool.Spec.Descheduling.Priorities) == 0 {
		return placement.Availability.Weights
	}
	var weights placement.Weights
	for _, priority := range pool.Spec.Descheduling.Priorities {
		if criterion, known := criteria[priority.Name]; known {
			weights[criterion] = priority.Weight
		}
	}
	return weights
}

// victims picks n placeholders to remove when a VPod shrinks. An adapter that drains is as good as one that is not ready.
func (o observation) victims(pods []*corev1.Pod, n int) []*corev1.Pod {
	byName := make(map[string]*corev1.Pod, len(pods))
	candidates := make([]placement.Candidate, 0, len(pods))
	for _, pod := range pods {
		byName[pod.Name] = pod
		index, _ := adapter.IndexOf(o.vpod.Name, pod.Name)
		node := o.nodes[pod.Spec.NodeName]
		candidates = append(candidates, placement.Candidate{
			ID: pod.Name, Index: index, Adapter: pod.Spec.NodeName, Ready: node != nil && adapter.IsNodeReady(node) && !o.draining[node.Name],
		})
	}
	var victims []*corev1.Pod
	// What the adapters serve does not matter here: the candidates are all that is counted.
	pool := snapshot.PoolOf(slices.Collect(maps.Values(o.nodes)), nil)
	for _, victim := range pool.Victims(candidates, n, removal(o.pool)) {
		victims = append(victims, byName[victim.ID])
	}
	return victims
}

// ordinalOf is that of an adapter of the pool, whose label was found to be well formed when it was observed.
func ordinalOf(node *corev1.Node) int {
	ordinal, _ := placement.ParseOrdinal(node.Labels[v1alpha1.LabelOrdinal])
	return ordinal
}
