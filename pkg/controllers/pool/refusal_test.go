package pool

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

var errRefused = fmt.Errorf("scaling the StatefulSet to 3: %w",
	apierrors.NewForbidden(schema.GroupResource{Resource: "statefulsets"}, "x", errors.New("the platform says no")))

func TestAScaleThatIsRefusedIsToldAndTriedAgain(t *testing.T) {
	s := pooled(1).want(9).look()
	const says = `the number of adapters stays 1: scaling the StatefulSet to 3: statefulsets "x" is forbidden: the platform says no; size 3`
	refuse := func() {
		s.memory.refusal = s.memory.refusal.after(s.last.replicas, errRefused, s.at)
	}
	s.want(25).decideOnly()
	s.check(t, "not asked yet", 3, 1, v1alpha1.ReasonScalingUp, "there are to be 3 adapters instead of 1")
	refuse()
	for _, pause := range []time.Duration{2, 4, 8, 16, 30, 30} {
		s.at = s.at.Add(pause*time.Second - 1)
		s.decideOnly().check(t, "refused", 3, 1, v1alpha1.ReasonStatefulSetStuck, says)
		if left := s.refusal.left(s.at); left != 1 || s.last.after != 1 {
			t.Errorf("asked again after %s, looked at after %s, want 1ns", left, s.last.after)
		}
		s.at = s.at.Add(1)
		s.decideOnly().check(t, "asked again", 3, 1, v1alpha1.ReasonStatefulSetStuck, says)
		if left := s.refusal.left(s.at); left != 0 {
			t.Errorf("asked again after %s more", left)
		}
		refuse()
	}
	s.restart().decideOnly().check(t, "after a restart, it is no work of somebody else", 3, 1, v1alpha1.ReasonScalingUp, "")
	if s.last.hand != untouched {
		t.Errorf("by hand: %d", s.last.hand)
	}
	refuse()
	s.want(35).decideOnly().check(t, "another number is asked for at once", 4, 1, v1alpha1.ReasonScalingUp, "")
	if s.refusal != (refusal{}) {
		t.Errorf("it remembers %+v", s.refusal)
	}
	refuse()
	s.have(4).decideOnly().check(t, "somebody did it", 4, 4, v1alpha1.ReasonWantedSize, "")
}

func TestAScaleThatCannotBeReadIsTold(t *testing.T) {
	for name, s := range map[string]*scene{
		"before anything was decided": pooled(2).want(25),
		"on the way up":               pooled(2).want(15).look().want(25),
	} {
		s.last, s.memory = s.stay(s.memory, errRefused, s.at)
		c := s.scaled(s.last, s.memory, s.at)
		if s.last.target != 2 || s.last.replicas != 2 || s.last.after != refusedFirst || c.Reason != v1alpha1.ReasonStatefulSetStuck {
			t.Errorf("%s: decided is %+v, it says %+v", name, s.last, c)
		}
	}
}

func TestWhatIsARefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"none":           {},
		"refused":        {errRefused, true},
		"gone":           {apierrors.NewNotFound(schema.GroupResource{Resource: "statefulsets"}, "x"), false},
		"behind":         {errBehind, false},
		"another writer": {apierrors.NewConflict(schema.GroupResource{Resource: "statefulsets"}, "x", errors.New("newer")), false},
	} {
		if isRefusal(tc.err) != tc.want {
			t.Errorf("%s: %v, want %v", name, isRefusal(tc.err), tc.want)
		}
	}
}
