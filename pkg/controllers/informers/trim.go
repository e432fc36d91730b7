package informers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Trimmed objects are for reading. They are changed by patches, never by an update, which would write the gaps.

// trimPod keeps of a pod who it is, whose it is, where it is and how it is.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok { // a tombstone
		return object, nil
	}
	pod.ManagedFields = nil
	pod.Spec = corev1.PodSpec{
		NodeName:          pod.Spec.NodeName,
		SchedulerName:     pod.Spec.SchedulerName,
		PriorityClassName: pod.Spec.PriorityClassName,
		Containers:        trimContainers(pod.Spec.Containers),
		InitContainers:    trimContainers(pod.Spec.InitContainers),
		Resources:         pod.Spec.Resources,
		Overhead:          pod.Spec.Overhead,
	}
	pod.Status = corev1.PodStatus{
		Phase:             pod.Status.Phase,
		Reason:            pod.Status.Reason,
		Conditions:        pod.Status.Conditions,
		StartTime:         pod.Status.StartTime,
		ContainerStatuses: pod.Status.ContainerStatuses,
	}
	return pod, nil
}

// trimContainers keeps what tells how much room a pod takes.
func trimContainers(all []corev1.Container) []corev1.Container {
	var trimmed []corev1.Container
	for _, c := range all {
		trimmed = append(trimmed, corev1.Container{
			Name: c.Name, Image: c.Image, Resources: c.Resources, RestartPolicy: c.RestartPolicy,
		})
	}
	return trimmed
}

// trimNode leaves out what kubelets list at length: images, volumes, addresses.
func trimNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	node.ManagedFields = nil
	node.Status = corev1.NodeStatus{
		Capacity:    node.Status.Capacity,
		Allocatable: node.Status.Allocatable,
		Conditions:  node.Status.Conditions,
		NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: node.Status.NodeInfo.KubeletVersion},
	}
	return node, nil
}

// trimStatefulSet leaves out most of the template. It keeps what says which nodes the pods may run on.
func trimStatefulSet(object any) (any, error) {
	set, ok := object.(*appsv1.StatefulSet)
	if !ok {
		return object, nil
	}
	set.ManagedFields = nil
	template := corev1.PodSpec{NodeSelector: set.Spec.Template.Spec.NodeSelector, Tolerations: set.Spec.Template.Spec.Tolerations}
	if a := set.Spec.Template.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		template.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		}}
	}
	set.Spec = appsv1.StatefulSetSpec{
		Replicas:            set.Spec.Replicas,
		Ordinals:            set.Spec.Ordinals,
		PodManagementPolicy: set.Spec.PodManagementPolicy,
		Template:            corev1.PodTemplateSpec{Spec: template},
	}
	return set, nil
}
