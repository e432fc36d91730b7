package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
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

func TestSize(t *testing.T) {
	refused := func(s *situation) {
		s.lastVPod().Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionScheduled, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonCreationRefused,
		}}
	}
	for name, tc := range map[string]struct {
		s       *situation
		want    string
		waiting int64
		lacking int64
	}{
		"C16: bound and waiting": {
			s:    scaledPool(2).vpod("x", 23, 5, 9, 9),
			want: "3: 23 vreplicas wanted, 10 per adapter", waiting: 5, lacking: 5,
		},
		"not created yet": {s: scaledPool(1).vpod("x", 25, 0), want: "3: 25 vreplicas wanted, 10 per adapter"},
		"the last number stays when the manifest leaves it out": {
			s: scaledPool(1).vpod("x", 0, 0).change(func(s *situation) {
				s.lastVPod().Spec.Replicas, s.lastVPod().Status.DesiredReplicas = nil, new(int32(12))
			}),
			want: "2: 12 vreplicas wanted, 10 per adapter",
		},
		"deleted": {
			s:    scaledPool(2).vpod("x", 15, 0, 8, 7).change(func(s *situation) { s.lastVPod().DeletionTimestamp = &earlier }),
			want: "1: 0 vreplicas wanted, 10 per adapter; needed 0, minReplicas is 1",
		},
		"a replacement is no demand": {
			s: scaledPool(2).vpod("x", 10, 1, 5, 5), want: "1: 10 vreplicas wanted, 10 per adapter", waiting: 1,
		},
		"C18: the limit": {
			s:    scaledPool(3).vpod("x", 25, 5, 10, 10).change(limited(2)),
			want: "2: 20 vreplicas wanted, 10 per adapter; adapter limits hold back 5 more",
		},
		"C18: the limit, with others on its adapters": {
			s:    scaledPool(3).vpod("y", 8, 0, 4, 4).vpod("x", 20, 8, 6, 6).change(limited(2)),
			want: "2: 20 vreplicas wanted, 10 per adapter; adapter limits hold back 8 more",
		},
		"an adapter that is lost is none of those that count for the limit": {
			s:    scaledPool(3).vpod("x", 20, 0, 10, 10).change(limited(2)).cordoned(1, v1alpha1.CordonLost),
			want: "3: 20 vreplicas wanted, 10 per adapter, adapter dispatcher-1 lost",
		},
		"C9: without a host, it holds its capacity": {
			s: scaledPool(3).vpod("x", 25, 5, 10, 10).nodeless(2, &corev1.Pod{}), want: "3: 25 vreplicas wanted, 10 per adapter",
			waiting: 5, lacking: 5,
		},
		"C9: or with a host no more": {
			s: scaledPool(3).vpod("x", 25, 5, 10, 10).cordoned(2, v1alpha1.CordonNoHost), want: "3: 25 vreplicas wanted, 10 per adapter",
			waiting: 5, lacking: 5,
		},
		"back in a StatefulSet that was created again": {
			s: scaledPool(3).vpod("x", 25, 5, 10, 10).cordoned(2, v1alpha1.CordonRemoved), want: "3: 25 vreplicas wanted, 10 per adapter",
			waiting: 5, lacking: 5,
		},
		"cordoned by a person": {
			s:    scaledPool(3).vpod("x", 25, 0, 10, 3, 10).cordoned(1, ""),
			want: "4: 25 vreplicas wanted, 10 per adapter, adapter dispatcher-1 cordoned holding 3",
		},
		"its host is cordoned": {
			s:    scaledPool(3).vpod("x", 25, 0, 10, 3, 10).cordoned(1, v1alpha1.CordonHostCordoned),
			want: "4: 25 vreplicas wanted, 10 per adapter, adapter dispatcher-1 cordoned holding 3",
		},
		"tainted by a person": {
			s: scaledPool(3).vpod("x", 25, 0, 10, 3, 10).change(func(s *situation) {
				s.nodes[1].Spec.Taints = []corev1.Taint{{Key: "mine", Effect: corev1.TaintEffectNoSchedule}}
			}),
			want: "4: 25 vreplicas wanted, 10 per adapter, adapter dispatcher-1 cordoned holding 3",
		},
		"draining: it would be open again": {
			s: scaledPool(3).vpod("x", 25, 0, 10, 10, 5).cordoned(2, v1alpha1.CordonDraining), want: "3: 25 vreplicas wanted, 10 per adapter",
		},
		"its name is taken": {
			s: scaledPool(3).vpod("x", 25, 5, 10, 0, 10).takenBy(1, ""), want: "4: 25 vreplicas wanted, 10 per adapter, adapter dispatcher-1 lost",
			waiting: 5, lacking: 5,
		},
		"others take room": {
			s:    scaledPool(2).plain("kafka-0", 4).vpod("x", 15, 0, 6, 9),
			want: "2: 15 vreplicas wanted, 10 per adapter, adapter dispatcher-0 with 4 taken by pods of no VPod",
		},
		"others wait": {
			s: scaledPool(1).plain("", 3).vpod("x", 9, 0, 9), want: "2: 12 vreplicas wanted, 10 per adapter", waiting: 3, lacking: 3,
		},
		"of a VPod that is gone": {
			s:    scaledPool(1).vpod("x", 9, 3, 4).change(func(s *situation) { s.vpods = nil }),
			want: "1: 3 vreplicas wanted, 10 per adapter, adapter dispatcher-0 with 4 taken by pods of no VPod", waiting: 3, lacking: 3,
		},
		"refused by a ResourceQuota: those that there are": {
			s: scaledPool(1).vpod("x", 50, 2, 10).change(refused), want: "2: 12 vreplicas wanted, 10 per adapter", waiting: 2, lacking: 2,
		},
		"nobody tries to place them": {
			s: scaledPool(3).vpod("x", 25, 5, 10, 10).change(func(s *situation) {
				for _, pod := range s.placeholders {
					pod.CreationTimestamp = earlier
				}
			}),
			want: "3: 25 vreplicas wanted, 10 per adapter",
		},
		"refused by the scheduler, however long ago": {
			s: scaledPool(3).vpod("x", 25, 1, 10, 10).change(func(s *situation) {
				s.lastPod().CreationTimestamp = earlier
				s.lastPod().Status.Conditions = []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				}}
			}),
			want: "3: 25 vreplicas wanted, 10 per adapter", waiting: 1, lacking: 1,
		},
		"finished": {
			s: scaledPool(1).vpod("x", 5, 0, 5).place("y", "kafka-0", 9).change(func(s *situation) {
				for _, pod := range s.placeholders[5:] {
					pod.Status.Phase = corev1.PodFailed
				}
			}),
			want: "1: 5 vreplicas wanted, 10 per adapter",
		},
		"units": {
			s: scaledPool(4).vpod("x", 35, 0).change(func(s *situation) {
				s.pool.Spec.Autoscaling.ScaleUpUnit, s.unit = v1alpha1.ScaleUpUnitZones, 3
			}),
			want: "6: 35 vreplicas wanted, 10 per adapter; needed 4, rounded up to a multiple of 3 zones",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := tc.s.view(tc.s.count(now), testPatience)
			if got := v.size.String(); got != tc.want || v.waiting != tc.waiting || v.lacking != tc.lacking {
				t.Errorf("size is %s, %d wait, %d of them lack; want %s, %d, %d", got, v.waiting, v.lacking, tc.want, tc.waiting, tc.lacking)
			}
		})
	}
}

func TestWhatAnAdapterHolds(t *testing.T) {
	s := scaledPool(4).vpod("x", 5, 1, 2, 0, 3).plain("kafka-0", 1).cordoned(2, v1alpha1.CordonDraining)
	s.placeholders[0].DeletionTimestamp = &earlier // It holds its room until it is gone.
	s.nodeless(3, &corev1.Pod{})
	v := s.view(s.count(now), testPatience)
	want := []occupancy{
		{pod: "dispatcher-0", held: 3}, {pod: "dispatcher-1"}, {pod: "dispatcher-2", held: 3, closed: true},
		{pod: "dispatcher-3", closed: true, absent: "no host"},
	}
	if diff := cmp.Diff(want, v.adapters, cmp.AllowUnexported(occupancy{})); diff != "" {
		t.Errorf("adapters (-want +got):\n%s", diff)
	}
}

func TestHowFarAPoolShrinks(t *testing.T) {
	for name, tc := range map[string]struct {
		s       *situation
		lowest  int32
		wantEnd int32
		wantWhy string
	}{
		"all fit":         {s: scaledPool(3).vpod("x", 15, 0, 5, 5, 5), lowest: 2, wantEnd: 2},
		"as far as asked": {s: scaledPool(3).vpod("x", 3, 0, 1, 1, 1), lowest: 2, wantEnd: 2},
		"no room": {
			s: scaledPool(3).vpod("x", 25, 0, 9, 9, 7), lowest: 2, wantEnd: 3,
			wantWhy: "dispatcher-2 is not removed: 5 vreplicas of VPod team/x, the first on kafka-2: no room on the 2 open adapters kept",
		},
		"no room on what is cordoned": {
			s: scaledPool(3).vpod("x", 6, 0, 2, 2, 2).cordoned(0, "").cordoned(1, ""), lowest: 1, wantEnd: 3, wantWhy: "dispatcher-2 is not removed",
		},
		"those that drain already are open again, if they stay": {
			s: scaledPool(3).vpod("x", 6, 0, 2, 2, 2).cordoned(1, v1alpha1.CordonDraining).cordoned(0, ""), lowest: 2, wantEnd: 2,
		},
		"pods that no VPod controls": {
			s: scaledPool(4).vpod("x", 3, 0, 1, 1, 1).plain("kafka-2", 2), lowest: 1, wantEnd: 3,
			wantWhy: "dispatcher-2 is not removed: it has pods that no VPod controls, and nothing moves those: team/plain-0, team/plain-1",
		},
		"an adapter limit": {
			s:      scaledPool(3).vpod("y", 17, 0, 8, 9).vpod("x", 3, 0, 0, 0, 3).change(limited(1)),
			lowest: 2, wantEnd: 3, wantWhy: "uses 1 adapter of at most 1, and the room for 1 is on others",
		},
		"without a node, it is empty": {
			s: scaledPool(3).vpod("x", 15, 0, 8, 7).nodeless(2, &corev1.Pod{}), lowest: 2, wantEnd: 2,
		},
		"C13: packed": {
			s: scaledPool(2).vpod("x", 1, 0, 1).vpod("y", 1, 0, 0, 1).change(func(s *situation) {
				s.lastVPod().Spec.SchedulerName = v1alpha1.SchedulerNameMaxFillUp
			}),
			lowest: 1, wantEnd: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			end, why := tc.s.shrink(tc.s.count(now), tc.lowest)
			if end != tc.wantEnd || (tc.wantWhy == "") != (why == "") || !strings.Contains(why, tc.wantWhy) {
				t.Errorf("it shrinks to %d because %q, want %d because %q", end, why, tc.wantEnd, tc.wantWhy)
			}
		})
	}
}

// The ordinals of a StatefulSet need not begin at 0.
func TestOrdinalsThatBeginElsewhere(t *testing.T) {
	s := scaledPool(5).vpod("x", 7, 0, 0, 0, 3, 2, 2)
	s.members, s.nodes = s.members[2:], s.nodes[2:]
	s.set.Spec.Ordinals, s.set.Spec.Replicas = &appsv1.StatefulSetOrdinals{Start: 2}, new(int32(3))
	if end, why := s.shrink(s.count(now), 1); end != 1 || why != "" {
		t.Errorf("it shrinks to %d because %q, want 1", end, why)
	}
	s.vpod("y", 8, 0, 0, 0, 7, 1)
	if end, why := s.shrink(s.count(now), 1); end != 2 || !strings.HasPrefix(why, "dispatcher-3 is not removed") {
		t.Errorf("it shrinks to %d because %q, want 2", end, why)
	}
}

func TestC22_PodsThatDoNotFollow(t *testing.T) {
	s := scaledPool(3).vpod("x", 1, 0)
	s.pods = append(s.pods[:1:1], s.pods[2], &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "dispatcher-4"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "dispatcher-3", DeletionTimestamp: &earlier}})
	v := s.view(s.count(now), testPatience)
	if !slices.Equal(v.missing, []string{"dispatcher-1"}) || !slices.Equal(v.excess, []string{"dispatcher-4"}) {
		t.Errorf("missing are %v, and %v are too many", v.missing, v.excess)
	}
	s.pods[0].Status.Conditions = nil
	for policy, want := range map[appsv1.PodManagementPolicyType]string{
		appsv1.ParallelPodManagement:     "dispatcher-0 is not ready",
		appsv1.OrderedReadyPodManagement: "dispatcher-0 is not ready, and with podManagementPolicy OrderedReady one pod that is not ready holds up the others",
	} {
		s.set.Spec.PodManagementPolicy = policy
		if got := s.holdup(); got != want {
			t.Errorf("what holds it up is %q, want %q", got, want)
		}
	}
}

func TestWhatIsLeftOnAdaptersThatAreDrained(t *testing.T) {
	s := scaledPool(3).vpod("b", 2, 0, 0, 1, 1).vpod("a", 2, 0, 1, 0, 1)
	var names []string
	for _, pod := range s.remaining(1) {
		names = append(names, tenant(pod)+" on "+pod.Spec.NodeName)
	}
	if diff := cmp.Diff([]string{"team/a on kafka-2", "team/b on kafka-1", "team/b on kafka-2"}, names); diff != "" {
		t.Errorf("left are (-want +got):\n%s", diff)
	}
	if left := s.remaining(3); len(left) > 0 {
		t.Errorf("%d are left beyond the end", len(left))
	}
}

// A cordoned adapter of 10 with 3 of a VPod and 2 that no VPod controls can be counted on for 3.
func TestACordonedAdapterIsCountedOnForWhatVPodsHaveThere(t *testing.T) {
	s := scaledPool(1).vpod("x", 8, 5, 3)
	from := len(s.placeholders)
	s.place("guest", "kafka-0", 2)
	for _, pod := range s.placeholders[from:] {
		pod.Spec.Containers = requestsOne()
	}
	s.nodes[0].Spec.Unschedulable = true
	size := s.size(s.count(now))
	if want := "2: 8 vreplicas wanted, 10 per adapter, adapter dispatcher-0 cordoned holding 3"; size.String() != want {
		t.Errorf("size is %q, want %q", size, want)
	}
}
