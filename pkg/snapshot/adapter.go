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
	capacity, requested := info.GetAllocatable().GetScalarResources()[name], info.GetRequested().GetScalarResources()[name]
	if a, ok = adapterOn(info.Node(), capacity, requested); !ok {
		return a, nil, false
	}
	var l load
	for _, p := range info.GetPods() {
		l.add(p.GetPod(), room(p, name))
	}
	return a, l.counts, true
}

// adapterOn is the adapter that a node of a pool is, if pods on it take that much of its capacity. ok is false if its
// ordinal is missing or malformed.
func adapterOn(node *v1.Node, capacity, requested int64) (a placement.Adapter, ok bool) {
	ordinal, err := placement.ParseOrdinal(node.Labels[v1alpha1.LabelOrdinal])
	if err != nil {
		return a, false
	}
	return placement.Adapter{
		Name:     node.Name,
		Ordinal:  ordinal,
		Zone:     node.Labels[v1.LabelTopologyZone],
		Host:     HostOf(node),
		Capacity: capacity,
		Free:     capacity - requested,
		Born:     node.CreationTimestamp.UnixNano(),
	}, true
}

// HostOf is the name of the real node of an adapter; one without is a host of its own.
func HostOf(node *v1.Node) string {
	if host := node.Labels[v1alpha1.LabelHost]; host != "" {
		return host
	}
	return node.Name
}

// room is how much of an adapter's capacity a pod on it takes.
func room(p fwk.PodInfo, name v1.ResourceName) int64 {
	return p.CalculateResource().Resource.GetScalarResources()[name]
}

// served is how many vreplicas of its vpod a pod that takes size of an adapter's capacity stands for; a terminating one
// for none.
func served(pod *v1.Pod, size int64) int {
	if pod.DeletionTimestamp != nil {
		return 0
	}
	return int(size)
}
