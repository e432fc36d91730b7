// Package adapter says which adapter of which pool something in the cluster belongs to.
package adapter

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// ID tells an adapter from all others.
type ID struct {
	// Pool is the name of the AdapterPool.
	Pool string
	// Ordinal is that of the pod in the StatefulSet.
	Ordinal int
}

// NodeName is the name of the adapter's virtual node.
func (id ID) NodeName() string { return v1alpha1.NodeName(id.Pool, id.Ordinal) }

// ProviderID is the provider ID of the adapter's virtual node.
func (id ID) ProviderID() string { return v1alpha1.ProviderID(id.Pool, id.Ordinal) }

// PodName is the name of the pod that is the adapter, in the namespace of the pool's StatefulSet.
func (id ID) PodName(pool *v1alpha1.AdapterPool) string {
	return v1alpha1.NodeName(pool.Spec.StatefulSetRef.Name, id.Ordinal)
}

// Parse reads a name of the form <prefix>-<ordinal>: that of a virtual node, whose prefix is the pool, or of a pod, whose
// prefix is the StatefulSet.
func Parse(name string) (prefix string, ordinal int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return "", 0, false
	}
	ordinal, err := placement.ParseOrdinal(name[i+1:])
	return name[:i], ordinal, err == nil
}

// OfNodeName reads the name of a virtual node. Whether it is one, the name alone does not say.
func OfNodeName(name string) (ID, bool) {
	pool, ordinal, ok := Parse(name)
	return ID{Pool: pool, Ordinal: ordinal}, ok
}

// Owns says whether a node is the virtual node of this adapter, and not one that has its name by chance.
func (id ID) Owns(node *corev1.Node) bool {
	return node.Name == id.NodeName() && node.Spec.ProviderID == id.ProviderID()
}

// In says whether a StatefulSet has, or is about to have, the pod with this ordinal.
func (id ID) In(set *appsv1.StatefulSet) bool {
	first, end := Ordinals(set)
	return first <= id.Ordinal && id.Ordinal < end
}

// Ordinals are those of the pods that a StatefulSet has, or is about to have: from first on, without end. One that is being
// deleted has none.
func Ordinals(set *appsv1.StatefulSet) (first, end int) {
	replicas := 1
	if set.Spec.Ordinals != nil {
		first = int(set.Spec.Ordinals.Start)
	}
	if set.Spec.Replicas != nil {
		replicas = int(*set.Spec.Replicas)
	}
	if set.DeletionTimestamp != nil {
		replicas = 0
	}
	return first, first + replicas
}
