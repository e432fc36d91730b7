package node

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// morePods is the room for pods beyond one for each vreplica: pods of DaemonSets that tolerate everything, which must not
// take that of vreplicas.
const morePods = 110

// shape is the virtual node as it should be: what is there, with what is ours put right. What others set besides stays.
func (s state) shape(cordon string, h health, version string, now time.Time) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: s.id.NodeName()},
		Spec:       corev1.NodeSpec{ProviderID: s.id.ProviderID()},
	}
	if s.node != nil {
		node = s.node.DeepCopy()
	}
	s.label(node)
	s.taint(node)
	setCordon(node, cordon)
	setReady(node, h, now)
	node.Status.NodeInfo.KubeletVersion = v1alpha1.KubeletVersion(version)
	if s.pool != nil {
		own(node, s.pool)
		setCapacity(node, int64(s.pool.Spec.Capacity))
	}
	return node
}

// label leaves out the labels of operating system and architecture, which nearly all DaemonSets select.
func (s state) label(node *corev1.Node) {
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[v1alpha1.LabelPool] = s.id.Pool
	node.Labels[v1alpha1.LabelOrdinal] = strconv.Itoa(s.id.Ordinal)
	node.Labels[v1alpha1.LabelRoleAdapter] = ""
	node.Labels[corev1.LabelTopologyRegion] = v1alpha1.RegionOfAdapters
	node.Labels[corev1.LabelNodeExcludeBalancers] = ""
	if s.host == nil {
		// Between two hosts, an adapter still counts where it was last.
		return
	}
	node.Labels[v1alpha1.LabelHost] = v1alpha1.HostLabel(s.host.Name)
	delete(node.Labels, corev1.LabelTopologyZone)
	if zone := factsOf(s.host).zone; zone != "" {
		node.Labels[corev1.LabelTopologyZone] = zone
	}
}

// taint keeps all pods but the pool's placeholders off the node.
func (s state) taint(node *corev1.Node) {
	ours := corev1.Taint{Key: v1alpha1.TaintPool, Value: s.id.Pool, Effect: corev1.TaintEffectNoSchedule}
	isOurs := func(t corev1.Taint) bool { return t.Key == ours.Key }
	if i := slices.IndexFunc(node.Spec.Taints, isOurs); i >= 0 && node.Spec.Taints[i] == ours &&
		!slices.ContainsFunc(node.Spec.Taints[i+1:], isOurs) {
		return
	}
	node.Spec.Taints = append(slices.DeleteFunc(node.Spec.Taints, isOurs), ours)
}

// setCordon takes a node out of use for a reason, or back into it without one. A cordon without our annotation is a
// person's, and is left alone: it takes the node out of use whether we have a reason or not.
func setCordon(node *corev1.Node, reason string) {
	_, isOurs := node.Annotations[v1alpha1.AnnotationCordon]
	switch {
	case node.Spec.Unschedulable && !isOurs:
	case reason != "":
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		node.Annotations[v1alpha1.AnnotationCordon] = reason
		node.Spec.Unschedulable = true
	case isOurs:
		delete(node.Annotations, v1alpha1.AnnotationCordon)
		node.Spec.Unschedulable = false
	}
}

// setReady mirrors the adapter. Conditions of memory, disk and process IDs are kube-controller-manager's, which adds them
// as unknown when heartbeats stop; an adapter has none of these.
func setReady(node *corev1.Node, h health, now time.Time) {
	want := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: h.reason, Message: h.message,
		LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(h.since),
	}
	if h.ready {
		want.Status, want.LastTransitionTime = corev1.ConditionTrue, metav1.NewTime(now)
	}
	if is := adapter.NodeCondition(node, corev1.NodeReady); is != nil && is.Status == want.Status {
		want.LastTransitionTime = is.LastTransitionTime
		if is.Reason == want.Reason && is.Message == want.Message {
			want.LastHeartbeatTime = is.LastHeartbeatTime
		}
	}
	node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		switch c.Type {
		case corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
			return true
		}
		return false
	})
	node.Status.Conditions = append(node.Status.Conditions, want)
}

// own has the node go with the pool, should this controller not be there any more. Not while the pool is being deleted:
// the nodes stay until they are empty, and deletion in the foreground would take them away again and again.
func own(node *corev1.Node, pool *v1alpha1.AdapterPool) {
	if pool.DeletionTimestamp != nil {
		return
	}
	ours := metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindAdapterPool, Name: pool.Name, UID: pool.UID,
	}
	isOurs := func(o metav1.OwnerReference) bool { return o.Kind == ours.Kind && o.APIVersion == ours.APIVersion }
	if i := slices.IndexFunc(node.OwnerReferences, isOurs); i >= 0 && node.OwnerReferences[i] == ours {
		return
	}
	node.OwnerReferences = append(slices.DeleteFunc(node.OwnerReferences, isOurs), ours)
}

// setCapacity makes room for vreplicas. A node without processor and memory would have kubectl describe divide by zero;
// these amounts do not show in a sum over nodes.
func setCapacity(node *corev1.Node, vreplicas int64) {
	want := corev1.ResourceList{
		v1alpha1.ResourceVReplicas: *resource.NewQuantity(vreplicas, resource.DecimalSI),
		corev1.ResourceCPU:         resource.MustParse("1m"),
		corev1.ResourceMemory:      resource.MustParse("1Ki"),
		corev1.ResourcePods:        *resource.NewQuantity(vreplicas+morePods, resource.DecimalSI),
	}
	if !apiequality.Semantic.DeepEqual(node.Status.Capacity, want) {
		node.Status.Capacity = want
	}
	if !apiequality.Semantic.DeepEqual(node.Status.Allocatable, want) {
		node.Status.Allocatable = want.DeepCopy()
	}
}
