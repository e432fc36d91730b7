package lab

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

var ready = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Lab"}}

// runs names what acts as a node's kubelet, for the column VERSION of kubectl get nodes.
func runs(kubelet string) corev1.NodeSystemInfo {
	return corev1.NodeSystemInfo{KubeletVersion: kubelet}
}

// Host is a real node, whose kubelet kwok simulates. An empty zone leaves the label out.
func Host(name, zone string) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", kubeletLabel: simulated},
		},
		Status: corev1.NodeStatus{Conditions: ready, NodeInfo: runs("kwok"), Allocatable: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("8"),
			corev1.ResourceMemory: resource.MustParse("32Gi"),
			corev1.ResourcePods:   resource.MustParse("110"),
		}},
	}
	if zone != "" {
		node.Labels[corev1.LabelTopologyZone] = zone
	}
	node.Status.Capacity = node.Status.Allocatable
	return node
}

// Adapter describes a virtual node of a pool.
type Adapter struct {
	Pool    string
	Ordinal int
	// Host and Zone may be empty: the node then lacks the label.
	Host, Zone string
	// Capacity is in vreplicas.
	Capacity int64
}

// Node is the virtual node, ready for use.
func (a Adapter) Node() *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: a.Name(),
			Labels: map[string]string{
				v1alpha1.LabelPool:         a.Pool,
				v1alpha1.LabelOrdinal:      strconv.Itoa(a.Ordinal),
				v1alpha1.LabelRoleAdapter:  "",
				corev1.LabelTopologyRegion: v1alpha1.RegionOfAdapters,
			},
		},
		Spec: corev1.NodeSpec{
			ProviderID: fmt.Sprintf("vpod://%s/%d", a.Pool, a.Ordinal),
			Taints: []corev1.Taint{
				{Key: v1alpha1.TaintPool, Value: a.Pool, Effect: corev1.TaintEffectNoSchedule},
			},
		},
		Status: corev1.NodeStatus{Conditions: ready, NodeInfo: runs("vpod-lab"), Allocatable: corev1.ResourceList{
			v1alpha1.ResourceVReplicas: *resource.NewQuantity(a.Capacity, resource.DecimalSI),
			corev1.ResourceCPU:         resource.MustParse("1m"),
			corev1.ResourceMemory:      resource.MustParse("1Ki"),
			corev1.ResourcePods:        *resource.NewQuantity(a.Capacity+110, resource.DecimalSI),
		}},
	}
	if a.Host != "" {
		node.Labels[v1alpha1.LabelHost] = a.Host
	}
	if a.Zone != "" {
		node.Labels[corev1.LabelTopologyZone] = a.Zone
	}
	node.Status.Capacity = node.Status.Allocatable
	return node
}

// Name is the name of the adapter's node.
func (a Adapter) Name() string { return fmt.Sprintf("%s-%d", a.Pool, a.Ordinal) }

// VPod describes the placeholder pods of a vpod.
type VPod struct {
	Namespace, Name, Pool string
	Replicas              int32
	// MaxAdapters is the most adapters that it may use. 0: no limit.
	MaxAdapters int
	// SchedulerName selects a profile. Empty: the one that spreads.
	SchedulerName string
}

// ReplicaSet has the ReplicaSet controller keep the placeholders.
func (v VPod) ReplicaSet() *appsv1.ReplicaSet {
	template := v.template()
	return &appsv1.ReplicaSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: v.Name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &v.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: template,
		},
	}
}

// Pod is a single placeholder, for tests that do without a controller. Each index is a pod of its own.
func (v VPod) Pod(index int) *corev1.Pod {
	template := v.template()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name = v.Namespace, fmt.Sprintf("%s-vreplica-%d", v.Name, index)
	return pod
}

func (v VPod) template() corev1.PodTemplateSpec {
	one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{v1alpha1.LabelVPod: v.Name, v1alpha1.LabelPool: v.Pool},
		},
		Spec: corev1.PodSpec{
			SchedulerName: v1alpha1.SchedulerName,
			NodeSelector:  map[string]string{v1alpha1.LabelPool: v.Pool},
			Tolerations:   tolerations(v.Pool),
			Containers: []corev1.Container{{
				Name:      "vreplica",
				Image:     "none",
				Resources: corev1.ResourceRequirements{Requests: one, Limits: one},
			}},
			TerminationGracePeriodSeconds: new(int64(0)),
			AutomountServiceAccountToken:  new(false),
		},
	}
	if v.MaxAdapters != 0 {
		template.Annotations = map[string]string{v1alpha1.AnnotationMaxAdapters: strconv.Itoa(v.MaxAdapters)}
	}
	if v.SchedulerName != "" {
		template.Spec.SchedulerName = v.SchedulerName
	}
	return template
}

// tolerations are for the pool's taint and for an adapter in trouble: only a controller of ours moves vreplicas.
func tolerations(pool string) []corev1.Toleration {
	tolerations := []corev1.Toleration{{
		Key: v1alpha1.TaintPool, Operator: corev1.TolerationOpEqual, Value: pool, Effect: corev1.TaintEffectNoSchedule,
	}}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
			tolerations = append(tolerations,
				corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
		}
	}
	return tolerations
}
