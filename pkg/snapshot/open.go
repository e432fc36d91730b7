package snapshot

import (
	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// open tells which adapters are open to a pod: those that the in-tree plugins NodeUnschedulable, TaintToleration and
// NodeAffinity let it on.
func (p *pool) open(logger klog.Logger, pod *v1.Pod) func(slot int) bool {
	passable := make([]bool, len(p.taints))
	for i, taints := range p.taints {
		_, barred := corev1.FindMatchingUntoleratedTaint(logger, taints, pod.Spec.Tolerations, barring, true)
		passable[i] = !barred
	}
	if !selective(pod) {
		return func(slot int) bool { return passable[p.doors[slot]] }
	}
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	return func(slot int) bool {
		if !passable[p.doors[slot]] {
			return false
		}
		matches, err := affinity.Match(p.nodes[slot])
		return err == nil && matches
	}
}

// selective says whether a pod wants more of a node than to be of its pool, which all adapters of the pool are: it
// saves the matching of thousands of labels.
func selective(pod *v1.Pod) bool {
	for key, value := range pod.Spec.NodeSelector {
		if key != v1alpha1.LabelPool || value != pod.Labels[v1alpha1.LabelPool] {
			return true
		}
	}
	return pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil &&
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}
