package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// vpod has so many vreplicas, of which so many are placed; its condition Scheduled has the reason, if there is one.
func vpod(pool string, replicas, scheduled int32, reason string) v1alpha1.VPod {
	v := v1alpha1.VPod{
		Spec:   v1alpha1.VPodSpec{PoolName: pool, Replicas: &replicas},
		Status: v1alpha1.VPodStatus{ScheduledReplicas: scheduled},
	}
	if reason != "" {
		status := metav1.ConditionFalse
		if reason == v1alpha1.ReasonAllScheduled {
			status = metav1.ConditionTrue
		}
		v.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionScheduled, Status: status, Reason: reason}}
	}
	return v
}

// unbound is a placeholder without a node, controlled by something of a kind.
func unbound(pool, kind string) corev1.Pod {
	one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelPool: pool}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: one}}}},
	}
	if kind != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Controller: new(true)}}
	}
	return pod
}

func TestWhoWaitsAndWhy(t *testing.T) {
	leaving := vpod("kafka", 3, 0, v1alpha1.ReasonNoRoom)
	leaving.DeletionTimestamp = new(metav1.Now())
	failed := unbound("kafka", "")
	failed.Status.Phase = corev1.PodFailed
	for name, tc := range map[string]struct {
		vpods   []v1alpha1.VPod
		unbound []corev1.Pod
		want    map[string]map[string]int64
	}{
		"nobody": {},
		"by the reason that the VPod gives": {
			vpods: []v1alpha1.VPod{
				vpod("kafka", 5, 2, v1alpha1.ReasonNoRoom), vpod("kafka", 4, 0, v1alpha1.ReasonNoRoom),
				vpod("kafka", 3, 2, v1alpha1.ReasonAdapterLimit), vpod("other", 9, 8, v1alpha1.ReasonCreationRefused),
			},
			want: map[string]map[string]int64{
				"kafka": {v1alpha1.ReasonNoRoom: 7, v1alpha1.ReasonAdapterLimit: 1},
				"other": {v1alpha1.ReasonCreationRefused: 1},
			},
		},
		"a VPod that is new, or was scaled just now": {
			vpods: []v1alpha1.VPod{vpod("kafka", 2, 0, ""), vpod("kafka", 3, 2, v1alpha1.ReasonAllScheduled)},
			want:  map[string]map[string]int64{"kafka": {v1alpha1.ReasonScheduling: 3}},
		},
		"placed, too many, or going": {
			vpods: []v1alpha1.VPod{
				vpod("kafka", 2, 2, v1alpha1.ReasonAllScheduled), vpod("kafka", 1, 2, v1alpha1.ReasonAllScheduled), leaving,
			},
		},
		"pools that do not exist have no series of their own": {
			vpods: []v1alpha1.VPod{
				vpod("kafak", 2, 0, v1alpha1.ReasonPoolNotFound), vpod("gone", 3, 1, v1alpha1.ReasonNoRoom),
			},
			unbound: []corev1.Pod{unbound("kakfa", "")},
			want:    map[string]map[string]int64{"": {v1alpha1.ReasonPoolNotFound: 5}},
		},
		"placeholders of no VPod": {
			unbound: []corev1.Pod{unbound("kafka", ""), unbound("kafka", "ReplicaSet"), unbound("kafka", v1alpha1.KindVPod), failed},
			want:    map[string]map[string]int64{"kafka": {reasonNoVPod: 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := observation{
				pools: []v1alpha1.AdapterPool{poolNamed("kafka"), poolNamed("other")}, vpods: tc.vpods, unbound: tc.unbound,
			}
			want := map[string]map[string]int64{"": {v1alpha1.ReasonPoolNotFound: 0}, "kafka": {}, "other": {}}
			for _, pool := range []string{"kafka", "other"} {
				for _, reason := range reasons {
					want[pool][reason] = 0
				}
			}
			for pool, byReason := range tc.want {
				for reason, n := range byReason {
					want[pool][reason] = n
				}
			}
			if diff := cmp.Diff(want, o.waiting()); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
		})
	}
}
