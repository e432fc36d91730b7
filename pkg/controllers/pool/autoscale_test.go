package pool

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// What is said of the number of adapters of a pool that is not scaled.
func TestReport(t *testing.T) {
	off := func(s *situation) { s.pool.Spec.Autoscaling.Mode = v1alpha1.AutoscalingOff }
	held := func(s *situation) {
		s.pool.Status.TargetAdapters = new(int32(3))
		s.pool.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionScaled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonWantedSize}}
	}
	for name, tc := range map[string]struct {
		s                      *situation
		wantWanted, wantTarget *int32
		wantReason, wantSays   string // no reason: no condition
	}{
		"no autoscaling":    {s: settled(3).change(held)},
		"autoscaling, gone": {s: scaledPool(3).change(held).deleted()},
		"off": {
			s: scaledPool(3).vpod("x", 15, 0, 5, 5, 5).change(held).change(off), wantWanted: new(int32(2)),
			wantReason: v1alpha1.ReasonAutoscalingOff,
			wantSays:   "autoscaling is off, and the StatefulSet has 3 replicas; with mode Auto it would be size 2: 15 vreplicas wanted, 10 per adapter",
		},
		"off, and no StatefulSet": {
			s:          scaledPool(0).vpod("x", 15, 0).change(off).change(func(s *situation) { s.set, s.members = nil, nil }),
			wantWanted: new(int32(2)), wantReason: v1alpha1.ReasonAutoscalingOff, wantSays: "the StatefulSet has 0 replicas",
		},
		"no StatefulSet: the target is kept for the next one": {
			s:          scaledPool(0).vpod("x", 15, 0).change(held).change(func(s *situation) { s.set, s.members = nil, nil }),
			wantWanted: new(int32(2)), wantTarget: new(int32(3)),
			wantReason: v1alpha1.ReasonStatefulSetNotFound, wantSays: "there is no StatefulSet ns/dispatcher",
		},
		"StatefulSet on its way out": {
			s: scaledPool(0).change(held).change(func(s *situation) { s.set.DeletionTimestamp = &earlier }), wantWanted: new(int32(1)),
			wantTarget: new(int32(3)), wantReason: v1alpha1.ReasonStatefulSetNotFound, wantSays: "StatefulSet ns/dispatcher is being deleted",
		},
		"another pool has it": {
			s: scaledPool(2).change(held).change(func(s *situation) {
				s.holder = &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: "older", UID: "older"}}
			}),
			wantWanted: new(int32(1)), wantReason: v1alpha1.ReasonStatefulSetTaken, wantSays: "AdapterPool older has StatefulSet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.s.isScaled() {
				t.Fatal("it is scaled")
			}
			got := status(tc.s.state, tc.s.count(), now)
			tc.s.report(&got, tc.s.count(), now)
			if diff := cmp.Diff([]*int32{tc.wantWanted, tc.wantTarget}, []*int32{got.WantedAdapters, got.TargetAdapters}); diff != "" {
				t.Errorf("wanted and target (-want +got):\n%s", diff)
			}
			c := meta.FindStatusCondition(got.Conditions, v1alpha1.ConditionScaled)
			if (c == nil) != (tc.wantReason == "") ||
				c != nil && (c.Reason != tc.wantReason || c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, tc.wantSays)) {
				t.Errorf("it says %+v, want %s: %q", c, tc.wantReason, tc.wantSays)
			}
		})
	}
}

// C52: a pool that is held at no adapters is as it should be.
func TestC52_NoAdaptersBecauseNoneAreWanted(t *testing.T) {
	for name, tc := range map[string]struct {
		target     *int32
		wantReason string
		wantSays   string
	}{
		"none wanted":    {new(int32(0)), v1alpha1.ReasonAdaptersReady, "no adapters are wanted, and there are none"},
		"some to come":   {new(int32(2)), v1alpha1.ReasonNoAdapters, "StatefulSet ns/dispatcher has no replicas yet"},
		"not autoscaled": {nil, v1alpha1.ReasonNoAdapters, "StatefulSet ns/dispatcher has no replicas; scale it up"},
	} {
		s := scaledPool(0)
		s.target = tc.target
		got := meta.FindStatusCondition(status(s.state, s.count(), now).Conditions, v1alpha1.ConditionReady)
		if got.Reason != tc.wantReason || got.Message != tc.wantSays {
			t.Errorf("%s: it says %+v", name, got)
		}
	}
}

// The same state has the same status, or each look would cause the next.
func TestScaledStatusSettles(t *testing.T) {
	s := scaledPool(3).vpod("x", 15, 1, 5, 5, 4)
	var first *metav1.Condition
	m := memory{}
	for i := range 2 {
		v := s.view(s.count(), testPatience)
		var d decision
		d, m = decide(v, m, now)
		c := v.scaled(d, m, now)
		s.pool.Status.TargetAdapters = &d.target
		if i == 0 {
			first = &c
		} else if diff := cmp.Diff(*first, c); diff != "" {
			t.Errorf("the second time (-want +got):\n%s", diff)
		}
	}
}

func TestMemoriesForget(t *testing.T) {
	m := newMemories()
	pool := settled(0).pool
	m.scaled(pool, 3)
	if got := m.of(pool); !got.known || got.seen != 3 {
		t.Errorf("it remembers %+v", got)
	}
	other := pool.DeepCopy()
	other.UID = "other"
	if m.of(other).known {
		t.Error("it takes another pool of the same name for the one that it knows")
	}
	m.forget(pool.Name)
	if m.of(pool).known {
		t.Error("it remembers a pool that is gone")
	}
}
