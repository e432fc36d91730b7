// Package pool publishes how an AdapterPool is, and keeps one that is deleted until its adapters are empty. Virtual nodes
// are the business of package node: it makes them, and takes them away once the pool is deleted and they are empty.
package pool

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// state is all that is known of a pool. Nothing in it is changed; it may be shared with the cache.
type state struct {
	// now is when it was read.
	now  time.Time
	pool *v1alpha1.AdapterPool
	// holder has the StatefulSet that the pool refers to: this pool, or another.
	holder *v1alpha1.AdapterPool
	// set is nil if there is none.
	set *appsv1.StatefulSet
	// nodes are the virtual nodes of the pool.
	nodes []*corev1.Node
	// members are what the StatefulSet has for adapters, by ordinal.
	members []member
	// placeholders are those that ask for the pool.
	placeholders []*corev1.Pod
	// vpods are those of the pool.
	vpods []*v1alpha1.VPod
	// pods are those that the StatefulSet controls, and unit is what the number of adapters is to be a multiple of, 0 for
	// none. They are known of a pool with autoscaling alone.
	pods []*corev1.Pod
	unit int
	// target is the number of adapters that the pool is held at; nil if it is not.
	target *int32
}

// member is one ordinal of the StatefulSet.
type member struct {
	id adapter.ID
	// node has the name of the virtual node. It may be a foreign one.
	node *corev1.Node
	// pod is the adapter, if there is no virtual node that tells of it.
	pod *corev1.Pod
}

// isTaken says whether somebody else's node has the name.
func (m member) isTaken() bool { return m.node != nil && !m.id.Owns(m.node) }

func (m member) isReady() bool { return !m.isTaken() && m.node != nil && adapter.IsNodeReady(m.node) }

// load is what a pool serves.
type load struct {
	used int64
	// tenants are the vpods that have vreplicas on the pool's adapters, by name.
	tenants []string
}

// load counts placeholders. One that is being deleted holds its room until it is gone, and one on a node that is gone none:
// it goes with its node.
func (s state) load() load {
	var l load
	nodes := make(map[string]bool, len(s.nodes))
	for _, node := range s.nodes {
		nodes[node.Name] = true
	}
	tenants := map[placement.VPod]string{}
	for _, pod := range s.placeholders {
		if !adapter.IsFinished(pod) && nodes[pod.Spec.NodeName] {
			l.used++
			tenants[snapshot.VPodOf(pod)] = tenant(pod)
		}
	}
	for _, name := range tenants {
		l.tenants = append(l.tenants, name)
	}
	slices.Sort(l.tenants)
	return l
}

// tenant names a vpod for people.
func tenant(pod *corev1.Pod) string {
	name := pod.Name
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		name = owner.Name
	}
	if vpod := pod.Labels[v1alpha1.LabelVPod]; vpod != "" {
		name = vpod
	}
	return pod.Namespace + "/" + name
}

func capacityOf(node *corev1.Node) int64 {
	quantity := node.Status.Allocatable[v1alpha1.ResourceVReplicas]
	return quantity.Value()
}
