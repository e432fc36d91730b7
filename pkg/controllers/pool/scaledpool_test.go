package pool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// scaled has autoscaling, from 1 to 100 adapters.
func scaledPool(n int) *situation {
	s := settled(n)
	s.pool.Spec.Autoscaling = &v1alpha1.Autoscaling{Mode: v1alpha1.AutoscalingAuto, MaxReplicas: 100}
	for i, node := range s.nodes {
		node.Labels[v1alpha1.LabelPool], node.Labels[v1alpha1.LabelOrdinal] = "kafka", fmt.Sprint(i)
		s.pods = append(s.pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("dispatcher-", i)},
			Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		})
	}
	return s
}

// vpod adds a VPod with its placeholders: so many on each adapter, and so many that wait.
func (s *situation) vpod(name string, replicas int32, waiting int, on ...int) *situation {
	v := &v1alpha1.VPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name)},
		Spec:       v1alpha1.VPodSpec{Replicas: &replicas, PoolName: "kafka"},
	}
	s.vpods = append(s.vpods, v)
	for i, n := range append(on, waiting) {
		node := fmt.Sprint("kafka-", i)
		if i == len(on) {
			node = ""
		}
		from := len(s.placeholders)
		s.place(name, node, n)
		for _, pod := range s.placeholders[from:] {
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(v, v1alpha1.GroupVersion.WithKind(v1alpha1.KindVPod))}
			pod.Spec.Containers = requestsOne()
			pod.CreationTimestamp.Time = now
		}
	}
	return s
}

func requestsOne() []corev1.Container {
	one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
	return []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: one}}}
}

// plain adds placeholders that no VPod controls, of a ReplicaSet.
func (s *situation) plain(node string, n int) *situation {
	from := len(s.placeholders)
	s.place("", node, n)
	for i, pod := range s.placeholders[from:] {
		pod.Name = fmt.Sprint("plain-", i)
		delete(pod.Labels, v1alpha1.LabelVPod)
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "plain", UID: "plain", Controller: new(true)}}
		pod.Spec.Containers = requestsOne()
		pod.CreationTimestamp.Time = now
	}
	return s
}

func (s *situation) lastVPod() *v1alpha1.VPod { return s.vpods[len(s.vpods)-1] }

func (s *situation) cordoned(ordinal int, because string) *situation {
	s.nodes[ordinal].Spec.Unschedulable = true
	if because != "" {
		s.nodes[ordinal].Annotations = map[string]string{v1alpha1.AnnotationCordon: because}
	}
	return s
}

func limited(n int32) func(*situation) {
	return func(s *situation) { s.lastVPod().Spec.MaxAdapters = &n }
}
