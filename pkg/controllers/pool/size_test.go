package pool

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

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
		lacking int
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
			want: "2: 15 vreplicas wanted, 10 per adapter",
		},
		"deleted, and waiting": {
			s:    scaledPool(2).vpod("x", 15, 15).change(func(s *situation) { s.lastVPod().DeletionTimestamp = &earlier }),
			want: "1: 0 vreplicas wanted, 10 per adapter; needed 0, minReplicas is 1",
		},
		"that nobody has tried yet": {
			s:    scaledPool(2).vpod("x", 15, 1).change(func(s *situation) { s.lastPod().Status.Conditions = nil }),
			want: "2: 15 vreplicas wanted, 10 per adapter",
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
		"others wait that may use no further adapter": {
			s: scaledPool(1).plain("kafka-0", 4).plain("", 9).change(func(s *situation) {
				for _, pod := range s.placeholders {
					pod.Annotations = map[string]string{v1alpha1.AnnotationMaxAdapters: "1"}
				}
			}),
			want: "1: 6 vreplicas wanted, 10 per adapter, adapter dispatcher-0 with 4 taken by pods of no VPod; adapter limits hold back 3 more",
		},
		"of a VPod that is gone: their room is taken, and nobody's": {
			s:    scaledPool(1).vpod("x", 9, 3, 4).vpod("y", 7, 0).change(func(s *situation) { s.vpods = s.vpods[1:] }),
			want: "2: 7 vreplicas wanted, 10 per adapter, adapter dispatcher-0 with 4 taken by pods of no VPod",
		},
		"refused by a ResourceQuota: those that there are": {
			s: scaledPool(1).vpod("x", 50, 2, 10).change(refused), want: "2: 12 vreplicas wanted, 10 per adapter", waiting: 2, lacking: 2,
		},
		"beyond what its controller has seen, nothing": {
			s: scaledPool(1).vpod("x", 100, 0, 5).change(unseen(new(int32(5)))), want: "1: 5 vreplicas wanted, 10 per adapter",
		},
		"nor of a VPod that is new": {
			s:    scaledPool(1).vpod("x", 100, 5).change(unseen(nil)),
			want: "1: 0 vreplicas wanted, 10 per adapter; needed 0, minReplicas is 1", waiting: 5,
		},
		"fewer at once": {
			s: scaledPool(2).vpod("x", 5, 0, 6, 6).change(unseen(new(int32(12)))), want: "1: 5 vreplicas wanted, 10 per adapter",
		},
		"with a controller that is silent, those that there are": {
			s: scaledPool(1).vpod("x", 100, 5, 10).change(unseen(new(int32(5)))).change(func(s *situation) {
				for _, pod := range s.placeholders {
					pod.CreationTimestamp.Time = now.Add(-silence)
				}
			}),
			want: "2: 15 vreplicas wanted, 10 per adapter", waiting: 5, lacking: 5,
		},
		"nobody tries to place them": {
			s: scaledPool(3).vpod("x", 25, 5, 10, 10).change(func(s *situation) {
				for _, pod := range s.placeholders {
					pod.CreationTimestamp, pod.Status.Conditions = earlier, nil
				}
			}),
			want: "3: 25 vreplicas wanted, 10 per adapter",
		},
		"refused by the scheduler, however long ago": {
			s:    scaledPool(2).vpod("x", 25, 5, 10, 10).change(refusedFor(time.Hour)),
			want: "3: 25 vreplicas wanted, 10 per adapter", waiting: 5, lacking: 5,
		},
		"refused just now, though there is room": {
			s:    scaledPool(3).vpod("x", 25, 5, 10, 10).change(refusedFor(lackFor - 1)),
			want: "3: 25 vreplicas wanted, 10 per adapter", waiting: 5, lacking: 5,
		},
		"refused for long though there is room: it waits for something else": {
			s:    scaledPool(3).vpod("x", 25, 5, 10, 10).change(refusedFor(lackFor)),
			want: "3: 25 vreplicas wanted, 10 per adapter", lacking: 5,
		},
		"room on adapters that are cordoned is none": {
			s:    scaledPool(3).vpod("x", 25, 5, 10, 10).change(refusedFor(time.Hour)).cordoned(2, v1alpha1.CordonDraining),
			want: "3: 25 vreplicas wanted, 10 per adapter", waiting: 5, lacking: 5,
		},
		"what asks for two at once can never be placed": {
			s: scaledPool(1).vpod("x", 4, 0, 4).plain("", 7).change(func(s *situation) {
				for _, pod := range s.placeholders[4:] {
					pod.Spec.Containers = append(requestsOne(), requestsOne()...)
				}
			}),
			want: "1: 4 vreplicas wanted, 10 per adapter",
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
			v := tc.s.view(tc.s.count(), testPatience)
			if got := v.size.String(); got != tc.want || v.waiting != tc.waiting || len(v.lacking) != tc.lacking {
				t.Errorf("size is %s, %d wait, %d of them lack; want %s, %d, %d", got, v.waiting, len(v.lacking), tc.want, tc.waiting, tc.lacking)
			}
		})
	}
}

// refusedFor has the scheduler have found no place for so long for those that wait.
func refusedFor(d time.Duration) func(*situation) {
	return func(s *situation) {
		for _, pod := range s.placeholders {
			if pod.Spec.NodeName == "" {
				pod.Status.Conditions[0].LastTransitionTime.Time = now.Add(-d)
			}
		}
	}
}

func TestOfThoseThatWaitTheYoungestLack(t *testing.T) {
	s := scaledPool(3).vpod("x", 21, 3, 10, 10).change(refusedFor(time.Minute))
	s.lastPod().Status.Conditions[0].LastTransitionTime.Time = now.Add(-time.Second)
	if got := s.view(s.count(), testPatience).lacking; len(got) != 1 || !got[0].Equal(now.Add(-time.Second)) {
		t.Errorf("lacking are %v", got)
	}
}

// unseen has the controller of the last VPod not know its spec yet, and before that publish so many that were asked for.
func unseen(before *int32) func(*situation) {
	return func(s *situation) { s.lastVPod().Generation, s.lastVPod().Status.DesiredReplicas = 2, before }
}

func TestPlaceholdersOfASpecThatIsNotSeenYetAreLookedAtAgain(t *testing.T) {
	s := scaledPool(1).vpod("x", 100, 5).change(unseen(nil))
	if d, _ := decide(s.view(s.count(), testPatience), memory{}, now); d.after != silence {
		t.Errorf("look again after %s, want %s", d.after, silence)
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
	size := s.size(s.count())
	if want := "2: 8 vreplicas wanted, 10 per adapter, adapter dispatcher-0 cordoned holding 3"; size.String() != want {
		t.Errorf("size is %q, want %q", size, want)
	}
}
