package adapter

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// infix stands between the name of a VPod and the index of a placeholder in the placeholder's name. No two VPods have
// placeholders of the same name: what follows the last dash is the index.
const infix = "-vreplica-"

// PlaceholderName is the name of the placeholder of a VPod with an index.
func PlaceholderName(vpod string, index int) string { return vpod + infix + strconv.Itoa(index) }

// IndexOf reads the index from the name of a placeholder of a VPod; ok is false for a pod of another name.
func IndexOf(vpod, pod string) (index int, ok bool) {
	suffix, ok := strings.CutPrefix(pod, vpod+infix)
	if !ok {
		return 0, false
	}
	index, err := placement.ParseOrdinal(suffix)
	return index, err == nil
}

// IsUnit says whether a placeholder stands for one vreplica. Another one takes more or less room than it would be served.
func IsUnit(pod *corev1.Pod) bool { return snapshot.Requested(pod, v1alpha1.ResourceVReplicas) == 1 }

// Adopts says whether a pod that nobody controls is, or is about to be, a VPod's own. Any other with its label is left alone.
func Adopts(vpod *v1alpha1.VPod, pod *corev1.Pod) bool {
	_, named := IndexOf(vpod.Name, pod.Name)
	return named && metav1.GetControllerOfNoCopy(pod) == nil && IsUnit(pod) &&
		pod.Labels[v1alpha1.LabelVPod] == vpod.Name && pod.Labels[v1alpha1.LabelPool] == vpod.Spec.PoolName
}
