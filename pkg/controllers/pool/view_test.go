package pool

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

func TestWhatAnAdapterHolds(t *testing.T) {
	s := scaledPool(5).vpod("x", 5, 1, 2, 0, 3).plain("kafka-0", 1).cordoned(2, v1alpha1.CordonDraining).takenBy(4, "")
	s.placeholders[0].DeletionTimestamp = &earlier // It holds its room until it is gone.
	s.nodeless(3, &corev1.Pod{})
	v := s.view(s.count(), testPatience)
	want := []occupancy{
		{pod: "dispatcher-0", held: 3}, {pod: "dispatcher-1"}, {pod: "dispatcher-2", held: 3, closed: true},
		{pod: "dispatcher-3", closed: true, absent: "no host"}, {pod: "dispatcher-4", closed: true},
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
		"no room on what is not ready": {
			s: scaledPool(3).vpod("x", 6, 0, 2, 2, 2).change(func(s *situation) {
				for _, node := range s.nodes[:2] {
					adapter.NodeCondition(node, corev1.NodeReady).Status = corev1.ConditionFalse
				}
			}), lowest: 1, wantEnd: 3, wantWhy: "dispatcher-2 is not removed",
		},
		"those that drain already are open again, if they stay": {
			s: scaledPool(3).vpod("x", 6, 0, 2, 2, 2).cordoned(1, v1alpha1.CordonDraining).cordoned(0, ""), lowest: 2, wantEnd: 2,
		},
		"pods that no VPod controls": {
			s: scaledPool(4).vpod("x", 3, 0, 1, 1, 1).plain("kafka-2", 2), lowest: 1, wantEnd: 3,
			wantWhy: "dispatcher-2 is not removed: it has pods that no VPod controls, and nothing moves those: team/plain-0, team/plain-1",
		},
		"pods that no VPod controls, on their way out": {
			s: scaledPool(3).plain("kafka-2", 2).change(func(s *situation) {
				for _, pod := range s.placeholders {
					pod.DeletionTimestamp = &earlier
				}
			}), lowest: 1, wantEnd: 1,
		},
		"a VPod that is gone: the rest follows": {
			s: scaledPool(3).vpod("x", 30, 0, 10, 10, 10).change(func(s *situation) { s.vpods = nil }), lowest: 1, wantEnd: 1,
		},
		"another that has its name": {
			s: scaledPool(3).vpod("x", 30, 0, 10, 10, 10).change(func(s *situation) { s.lastVPod().UID = "other" }), lowest: 1, wantEnd: 1,
		},
		"a VPod that is being deleted": {
			s:      scaledPool(3).vpod("x", 30, 0, 10, 10, 10).change(func(s *situation) { s.lastVPod().DeletionTimestamp = &earlier }),
			lowest: 1, wantEnd: 1,
		},
		"what goes has its room until then": {
			s:      scaledPool(2).vpod("x", 8, 0, 8, 0).vpod("y", 3, 0, 0, 3).change(func(s *situation) { s.vpods = s.vpods[1:] }),
			lowest: 1, wantEnd: 2, wantWhy: "1 vreplica of VPod team/y, the first on kafka-1: no room on the 1 open adapter kept",
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
			end, why := tc.s.shrink(tc.s.count(), tc.lowest)
			if end != tc.wantEnd || (tc.wantWhy == "") != (why == "") || !strings.Contains(why, tc.wantWhy) {
				t.Errorf("it shrinks to %d because %q, want %d because %q", end, why, tc.wantEnd, tc.wantWhy)
			}
		})
	}
}

// The ordinals of a StatefulSet need not begin at 0.
func TestOrdinalsThatBeginElsewhere(t *testing.T) {
	s := scaledPool(5)
	s.members, s.nodes = s.members[2:], s.nodes[2:]
	s.set.Spec.Ordinals, s.set.Spec.Replicas = &appsv1.StatefulSetOrdinals{Start: 2}, new(int32(3))
	if end, why := s.shrink(s.count(), 1); end != 1 || why != "" {
		t.Errorf("empty, it shrinks to %d because %q, want 1", end, why)
	}
	s.vpod("x", 7, 0, 0, 0, 3, 2, 2)
	if end, why := s.shrink(s.count(), 1); end != 1 || why != "" {
		t.Errorf("it shrinks to %d because %q, want 1", end, why)
	}
	s.vpod("y", 8, 0, 0, 0, 7, 1)
	if end, why := s.shrink(s.count(), 1); end != 2 || !strings.HasPrefix(why, "dispatcher-3 is not removed") {
		t.Errorf("it shrinks to %d because %q, want 2", end, why)
	}
}

func TestC22_PodsThatDoNotFollow(t *testing.T) {
	s := scaledPool(3).vpod("x", 1, 0)
	s.pods = append(s.pods[:1:1], s.pods[2], &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "dispatcher-4"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "dispatcher-3", DeletionTimestamp: &earlier}})
	v := s.view(s.count(), testPatience)
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
