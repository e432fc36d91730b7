package soak

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func isVirtual(node *corev1.Node) bool { return v1alpha1.IsVirtual(node.Spec.ProviderID) }

func isPlaceholder(pod *corev1.Pod) bool {
	_, requests := pod.Spec.Containers[0].Resources.Requests[v1alpha1.ResourceVReplicas]
	return requests && pod.Labels[v1alpha1.LabelPool] != ""
}

func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// isServed says whether an adapter serves the vreplica, as far as anybody can see.
func isServed(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning }

// isAlive says whether a placeholder counts as one of its VPod's.
func isAlive(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !isFinished(pod) }

func isPodReady(pod *corev1.Pod) bool {
	return isAlive(pod) && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// isNodeReady says so of a node that exists.
func isNodeReady(node *corev1.Node) bool {
	return node != nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func isUnreachable(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable })
}

// owner is the VPod that a placeholder belongs to; "" if it belongs to none.
func owner(pod *corev1.Pod) types.UID {
	if o := metav1.GetControllerOfNoCopy(pod); o != nil && o.Kind == v1alpha1.KindVPod {
		return o.UID
	}
	return ""
}

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

func capacity(node *corev1.Node) int64 {
	c := node.Status.Allocatable[v1alpha1.ResourceVReplicas]
	return c.Value()
}

// wants is the number of vreplicas that a VPod asks for.
func wants(vpod *v1alpha1.VPod) int32 {
	switch {
	case vpod.Spec.Replicas != nil:
		return *vpod.Spec.Replicas
	case vpod.Status.DesiredReplicas != nil:
		return *vpod.Status.DesiredReplicas
	}
	return 1
}

// tolerated says whether no taint of a node keeps a pod away.
func tolerated(pod *corev1.Pod, node *corev1.Node) bool {
	return !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule &&
			!slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
				return t.Key == taint.Key && (t.Effect == "" || t.Effect == taint.Effect) &&
					(t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
			})
	})
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
