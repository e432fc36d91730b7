package pool

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// byName are the VPods of the pool by name.
func (s state) byName() map[types.NamespacedName]*v1alpha1.VPod {
	vpods := make(map[types.NamespacedName]*v1alpha1.VPod, len(s.vpods))
	for _, vpod := range s.vpods {
		vpods[client.ObjectKeyFromObject(vpod)] = vpod
	}
	return vpods
}

// waitsForRoom says whether a scheduler found none for a placeholder. One that nobody has tried yet waits for a scheduler:
// vreplicas that come and find room at once must not keep a pool from shrinking, however many they are.
func waitsForRoom(pod *corev1.Pod) bool {
	c := adapter.PodCondition(pod, corev1.PodScheduled)
	return c != nil && c.Reason != corev1.PodReasonSchedulingGated
}

// waitsSince is since when that is so.
func waitsSince(pod *corev1.Pod) time.Time {
	if c := adapter.PodCondition(pod, corev1.PodScheduled); c != nil && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	return pod.CreationTimestamp.Time
}

// isHopeless says whether no adapter can ever be found for a placeholder that has none: it is not what one is to be.
func isHopeless(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" {
		return false
	}
	_, err := snapshot.VreplicaOf(pod, v1alpha1.ResourceVReplicas)
	return err != nil
}

// controllerOf is the VPod that controls a placeholder, or is about to adopt it; nil: none does.
func controllerOf(pod *corev1.Pod, vpods map[types.NamespacedName]*v1alpha1.VPod) *v1alpha1.VPod {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		vpod := vpods[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[v1alpha1.LabelVPod]}]
		if vpod == nil || !adapter.Adopts(vpod, pod) {
			return nil
		}
		return vpod
	}
	if !isVPod(owner) {
		return nil
	}
	vpod := vpods[types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}]
	if vpod == nil || vpod.UID != owner.UID {
		return nil
	}
	return vpod
}

func isVPod(owner *metav1.OwnerReference) bool {
	return owner.Kind == v1alpha1.KindVPod && owner.APIVersion == v1alpha1.GroupVersion.String()
}

// goes says whether a placeholder that the VPod controls, or none, is gone soon: it is being deleted, or its VPod is or was,
// and the garbage collector sees to the rest. Until then it holds its room, and nothing moves it.
func goes(pod *corev1.Pod, vpod *v1alpha1.VPod) bool {
	if vpod != nil {
		return pod.DeletionTimestamp != nil || vpod.DeletionTimestamp != nil
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	return pod.DeletionTimestamp != nil || owner != nil && isVPod(owner)
}

// idOf is a VPod as the scheduler knows it, by the label of its placeholders.
func idOf(vpod *v1alpha1.VPod) placement.VPod {
	return placement.VPod{Namespace: vpod.Namespace, Kind: v1alpha1.KindVPod, Name: vpod.Name}
}

func limitOf(vpod *v1alpha1.VPod) int {
	if vpod.Spec.MaxAdapters == nil {
		return 0
	}
	return int(*vpod.Spec.MaxAdapters)
}
