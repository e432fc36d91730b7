package pool

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// size is how many adapters the pool should have.
func (s state) size(c census) placement.Size {
	var demands []placement.Demand
	for id, t := range c.all() {
		demands = append(demands, c.demand(id, t))
	}
	return placement.SizeOf(s.berths(c), demands, int64(s.pool.Spec.Capacity), s.bounds())
}

// all are the VPods, and then the others.
func (c census) all() iter.Seq2[placement.VPod, *tenancy] {
	return func(yield func(placement.VPod, *tenancy) bool) {
		for _, tenants := range []map[placement.VPod]*tenancy{c.tenants, c.others} {
			for id, t := range tenants {
				if !yield(id, t) {
					return
				}
			}
		}
	}
}

// bounds are those of the spec, with their defaults for pools that were stored by a version without them.
func (s state) bounds() placement.Bounds {
	auto := s.pool.Spec.Autoscaling
	b := placement.Bounds{Min: 1, Max: int(auto.MaxReplicas), Unit: s.unit}
	if auto.MinReplicas != nil {
		b.Min = int(*auto.MinReplicas)
	}
	switch auto.ScaleUpUnit {
	case v1alpha1.ScaleUpUnitZones:
		b.Of = "zones"
	case v1alpha1.ScaleUpUnitNodes:
		b.Of = "nodes"
	}
	return b
}

// berths are what the adapters can be counted on for, by ordinal.
func (s state) berths(c census) []placement.Berth {
	berths := make([]placement.Berth, len(s.members))
	for i, m := range s.members {
		name := m.id.NodeName()
		berths[i] = placement.Berth{
			Name: m.id.PodName(s.pool), State: m.berth(), Held: c.own[name], Foreign: c.foreign[name],
		}
	}
	return berths
}

// berth is what an adapter can be counted on for. One that is cordoned only because it is to be removed would be open again
// as soon as it is wanted.
func (m member) berth() placement.State {
	switch {
	case m.isTaken():
		return placement.Lost
	case m.node == nil:
		return placement.Starting
	case !m.node.Spec.Unschedulable && isBarred(m.node):
		return placement.Cordoned
	case !m.node.Spec.Unschedulable:
		return placement.Open
	}
	switch m.node.Annotations[v1alpha1.AnnotationCordon] {
	case v1alpha1.CordonNoHost, v1alpha1.CordonRemoved:
		// The latter is of a StatefulSet that was there before, or had fewer replicas: now it has the adapter.
		return placement.Starting
	case v1alpha1.CordonDraining:
		return placement.Open
	case v1alpha1.CordonLost:
		return placement.Lost
	}
	return placement.Cordoned
}

// isBarred says whether a virtual node has a taint of somebody else, which keeps vreplicas off it.
func isBarred(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		isHard := taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		return isHard && !slices.Contains(tolerated, taint.Key)
	})
}

// tolerated are the taints that placeholders tolerate, and the one that goes with a cordon.
var tolerated = []string{
	v1alpha1.TaintPool, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeUnschedulable,
}
