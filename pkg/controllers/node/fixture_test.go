package node

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// now is when every test decides; durations below are counted back from it.
var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// settled is an adapter that is ready on its host, with its virtual node in order and one placeholder on it.
func settled(edits ...func(*state)) state {
	ref := v1alpha1.StatefulSetReference{Namespace: "eventing", Name: "dispatcher"}
	s := state{
		id:    adapter.ID{Pool: "kafka", Ordinal: 1},
		holds: true,
		pool: &v1alpha1.AdapterPool{
			ObjectMeta: metav1.ObjectMeta{Name: "kafka", UID: "pool"},
			Spec:       v1alpha1.AdapterPoolSpec{StatefulSetRef: ref, Capacity: 20},
		},
		set: &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name, UID: "set"},
			Spec:       appsv1.StatefulSetSpec{Replicas: new(int32(3))},
		},
		pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: ref.Namespace, Name: "dispatcher-1", UID: "pod", CreationTimestamp: ago(2 * time.Hour),
				OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: ref.Name, UID: "set", Controller: new(true)}},
			},
			Spec: corev1.PodSpec{NodeName: "host"},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(time.Hour)},
			}},
		},
		host: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "host", Labels: map[string]string{corev1.LabelTopologyZone: "z1"}},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
			}},
		},
		bound: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{
			Namespace: "tenant", Name: "x-vreplica-0", UID: "x0", Labels: map[string]string{v1alpha1.LabelPool: "kafka"},
		}}},
		othersReady: true,
	}
	s.node = decide(s, "v1", now.Add(-time.Hour)).node
	s.node.UID = "node"
	for _, edit := range edits {
		edit(&s)
	}
	return s
}

// Edits of a settled adapter.
var (
	noNode      = func(s *state) { s.node = nil }
	noPool      = func(s *state) { s.pool, s.set, s.pod, s.host = nil, nil, nil, nil }
	poolLeaving = func(s *state) { s.pool.DeletionTimestamp = new(ago(0)) }
	notHolder   = func(s *state) { s.holds = false }
	noSet       = func(s *state) { s.set = nil }
	setLeaving  = func(s *state) { s.set.DeletionTimestamp = new(ago(0)) }
	scaledDown  = func(s *state) { s.set.Spec.Replicas = new(int32(1)) }
	draining    = func(s *state) {
		s.pool.Spec.Autoscaling = &v1alpha1.Autoscaling{Mode: v1alpha1.AutoscalingAuto, MaxReplicas: 9}
		s.pool.Status.TargetAdapters = new(int32(1))
	}
	autoscalingOff = func(s *state) { s.pool.Spec.Autoscaling.Mode = v1alpha1.AutoscalingOff }
	noPod          = func(s *state) { s.pod, s.host = nil, nil }
	podLeaving     = func(s *state) { s.pod.DeletionTimestamp = new(ago(0)) }
	podWaits       = func(s *state) { s.pod.Spec.NodeName, s.pod.Status.Conditions, s.host = "", nil, nil }
	podOrphaned    = func(s *state) { s.pod.OwnerReferences = nil }
	podForeign     = func(s *state) { s.pod.OwnerReferences[0].Kind, s.pod.OwnerReferences[0].UID = "ReplicaSet", "other" }
	podMarked      = func(s *state) { s.pod.Annotations = map[string]string{v1alpha1.AnnotationUnschedulable: "true"} }
	noHost         = func(s *state) { s.host = nil }
	hostCordoned   = func(s *state) { s.host.Spec.Unschedulable = true }
	hostUnknown    = func(s *state) { s.host.Status.Conditions[0].Status = corev1.ConditionUnknown }
	hostTainted    = func(s *state) {
		s.host.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}}
	}
	noneReady = func(s *state) { s.othersReady = false }
	empty     = func(s *state) { s.bound = nil }
	finished  = func(s *state) { s.bound[0].Status.Phase = corev1.PodFailed }
)

// podNotReady: since so long, as the pod says.
func podNotReady(since time.Duration) func(*state) {
	return func(s *state) {
		s.pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(since), Message: "containers crash"},
		}
	}
}

// nodeNotReady: since so long, as the virtual node says.
func nodeNotReady(since time.Duration) func(*state) {
	return func(s *state) {
		c := adapter.NodeCondition(s.node, corev1.NodeReady)
		c.Status, c.LastTransitionTime = corev1.ConditionFalse, ago(since)
	}
}

func nodeUnknown(since time.Duration) func(*state) {
	return func(s *state) {
		c := adapter.NodeCondition(s.node, corev1.NodeReady)
		c.Status, c.LastTransitionTime = corev1.ConditionUnknown, ago(since)
	}
}

func evictionTimeout(d time.Duration) func(*state) {
	return func(s *state) { s.pool.Spec.EvictionTimeout = &metav1.Duration{Duration: d} }
}
