package snapshot

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// Reasons why a node cannot be judged as an adapter of the vreplica's pool. They are constants, so that the scheduler
// can count the nodes that share one.
const (
	ReasonOtherPool  = "adapter(s) of another pool or of none"
	ReasonBadOrdinal = "adapter(s) without a valid " + v1alpha1.LabelOrdinal + " label"
	ReasonRival      = "adapter(s) with a " + v1alpha1.LabelOrdinal + " label that an older adapter has"
)

// adapterOf reads a node of a pool with what it serves. ok is false if its ordinal is missing or malformed.
func adapterOf(info fwk.NodeInfo, name v1.ResourceName) (a placement.Adapter, counts map[placement.VPod]int, ok bool) {
	node := info.Node()
	ordinal, err := placement.ParseOrdinal(node.Labels[v1alpha1.LabelOrdinal])
	if err != nil {
		return a, nil, false
	}
	capacity := info.GetAllocatable().GetScalarResources()[name]
	a = placement.Adapter{
		Name:     node.Name,
		Ordinal:  ordinal,
		Zone:     node.Labels[v1.LabelTopologyZone],
		Host:     node.Labels[v1alpha1.LabelHost],
		Capacity: capacity,
		Free:     capacity - info.GetRequested().GetScalarResources()[name],
		Born:     node.CreationTimestamp.UnixNano(),
	}
	if a.Host == "" {
		a.Host = node.Name
	}
	for _, p := range info.GetPods() {
		if n := served(p, name); n > 0 {
			if counts == nil {
				counts = map[placement.VPod]int{}
			}
			counts[VPodOf(p.GetPod())] += n
		}
	}
	return a, counts, true
}

// room is how much of an adapter's capacity a pod on it takes.
func room(p fwk.PodInfo, name v1.ResourceName) int64 {
	return p.CalculateResource().Resource.GetScalarResources()[name]
}

// served is how many vreplicas of its vpod a pod on an adapter stands for; a terminating one for none.
func served(p fwk.PodInfo, name v1.ResourceName) int {
	if p.GetPod().DeletionTimestamp != nil {
		return 0
	}
	return int(room(p, name))
}
