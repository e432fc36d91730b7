package pool

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// unit is what the number of adapters is rounded up to a multiple of: the number of zones, or of real nodes, that the
// adapters may run on. It is 0 if nothing is rounded.
func unit(pool *v1alpha1.AdapterPool, set *appsv1.StatefulSet, nodes []corev1.Node) int {
	if set == nil || !hasUnit(pool) {
		return 0
	}
	template := &corev1.Pod{Spec: set.Spec.Template.Spec}
	affinity := nodeaffinity.GetRequiredNodeAffinity(template)
	zones, hosts := map[string]bool{}, 0
	for i := range nodes {
		node := &nodes[i]
		if matches, err := affinity.Match(node); err != nil || !matches || isVirtual(node) || !mayRunOn(template, node) {
			continue
		}
		hosts++
		zones[node.Labels[corev1.LabelTopologyZone]] = true // Without a label it is in the zone "", as for the scheduler.
	}
	if pool.Spec.Autoscaling.ScaleUpUnit == v1alpha1.ScaleUpUnitZones {
		return len(zones)
	}
	return hosts
}

// hasUnit says whether the number of adapters of a pool depends on the real nodes that there are.
func hasUnit(pool *v1alpha1.AdapterPool) bool {
	auto := pool.Spec.Autoscaling
	return auto != nil && (auto.ScaleUpUnit == v1alpha1.ScaleUpUnitZones || auto.ScaleUpUnit == v1alpha1.ScaleUpUnitNodes)
}

func isVirtual(node *corev1.Node) bool { return v1alpha1.IsVirtual(node.Spec.ProviderID) }

// mayRunOn says whether a pod tolerates the taints of a node that are there to stay. A node in trouble, or cordoned, is not
// another number of nodes.
func mayRunOn(pod *corev1.Pod, node *corev1.Node) bool {
	return !slices.ContainsFunc(lasting(node), func(taint corev1.Taint) bool {
		return !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return t.ToleratesTaint(klog.Logger{}, &taint, false)
		})
	})
}

// lasting are the taints of a node that keep pods off it, except those that tell of a state that it is in for a while.
func lasting(node *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(taint corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectPreferNoSchedule || isTemporary(taint.Key)
	})
}

// isTemporary says whether a taint tells of a state that a node is in for a while.
func isTemporary(key string) bool {
	return slices.ContainsFunc([]string{
		"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler",
	}, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}
