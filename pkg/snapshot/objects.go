package snapshot

import (
	v1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// PoolOf is the pool that the scheduler sees, made from API objects: the nodes of a pool, without those whose ordinal is
// missing or malformed, and what placeholders do on them.
//
// A placeholder counts where it is bound. One that is terminating holds its room, but is nobody's vreplica any more. One
// that has finished, or is bound elsewhere, does not count.
func PoolOf(nodes []*v1.Node, placeholders []*v1.Pod) *placement.Pool {
	loads := make(map[string]*load, len(nodes))
	for _, pod := range placeholders {
		if pod.Spec.NodeName == "" || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
			continue
		}
		if loads[pod.Spec.NodeName] == nil {
			loads[pod.Spec.NodeName] = &load{}
		}
		loads[pod.Spec.NodeName].add(pod, Requested(pod, v1alpha1.ResourceVReplicas))
	}
	pool := placement.NewPool()
	for _, node := range nodes {
		served := loads[node.Name]
		if served == nil {
			served = &load{}
		}
		allocatable := node.Status.Allocatable[v1alpha1.ResourceVReplicas]
		if a, ok := adapterOn(node, allocatable.Value(), served.room); ok {
			pool.Put(a, served.counts)
		}
	}
	return pool
}

// load is what pods take of an adapter.
type load struct {
	room   int64
	counts map[placement.VPod]int
}

// add counts a pod that takes size of the room.
func (l *load) add(pod *v1.Pod, size int64) {
	l.room += size
	n := served(pod, size)
	if n == 0 {
		return
	}
	if l.counts == nil {
		l.counts = map[placement.VPod]int{}
	}
	l.counts[VPodOf(pod)] += n
}
