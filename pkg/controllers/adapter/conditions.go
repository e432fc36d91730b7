package adapter

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// PodCondition returns a condition of a pod; nil: there is none.
func PodCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}

// NodeCondition returns a condition of a node; nil: there is none.
func NodeCondition(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &node.Status.Conditions[i]
}

// IsPodReady says whether a pod is ready, by its condition.
func IsPodReady(pod *corev1.Pod) bool {
	c := PodCondition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// IsNodeReady says whether a node is ready, by its condition.
func IsNodeReady(node *corev1.Node) bool {
	c := NodeCondition(node, corev1.NodeReady)
	return c != nil && c.Status == corev1.ConditionTrue
}
