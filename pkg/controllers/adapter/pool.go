package adapter

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// KindStatefulSet is the kind of what controls an adapter pod.
const KindStatefulSet = "StatefulSet"

// Holder returns which of the pools that refer to one StatefulSet has it, and so the only one with virtual nodes: the
// oldest, and of those of the same age the first by name. One that is being deleted keeps it until it is gone. It returns
// nil if there are none.
func Holder(pools []v1alpha1.AdapterPool) *v1alpha1.AdapterPool {
	if len(pools) == 0 {
		return nil
	}
	holder := slices.MinFunc(pools, func(a, b v1alpha1.AdapterPool) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &holder
}

// IsPlaceholder tells a placeholder from a pod that has the label for some other reason. The controller may write
// placeholders alone: the same test is in the manifests.
func IsPlaceholder(pod *corev1.Pod) bool {
	return pod.Labels[v1alpha1.LabelPool] != "" && slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		_, requests := c.Resources.Requests[v1alpha1.ResourceVReplicas]
		return requests
	})
}

// IsFinished says whether a pod is through with its work, and so holds no room.
func IsFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// IsAutoscaled says whether the StatefulSet of a pool is scaled by us.
func IsAutoscaled(pool *v1alpha1.AdapterPool) bool {
	return pool.DeletionTimestamp == nil && pool.Spec.Autoscaling != nil && pool.Spec.Autoscaling.Mode != v1alpha1.AutoscalingOff
}

// IsDraining says whether a pool is about to do without an adapter of its StatefulSet. It depends on what is stored alone: so
// whoever leads next goes on with it, and a pool that is not scaled any more has no such adapters from that moment on.
func (id ID) IsDraining(pool *v1alpha1.AdapterPool, set *appsv1.StatefulSet) bool {
	if !IsAutoscaled(pool) || pool.Status.TargetAdapters == nil || !id.In(set) {
		return false
	}
	first, _ := Ordinals(set)
	return id.Ordinal >= first+int(*pool.Status.TargetAdapters)
}
