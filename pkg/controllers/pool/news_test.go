package pool

import (
	"strings"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Nobody is said to have asked for what a new StatefulSet just has.
func TestWhatIsToldOfAnotherNumber(t *testing.T) {
	renewed := func(n int32) *scene {
		return pooled(3).want(25).look().change(func(s *scene) { s.view.set = "new" }).have(n).decideOnly()
	}
	for name, tc := range map[string]struct {
		s                    *scene
		replicas             int32
		wantReason, wantSays string
	}{
		"lowered by hand": {
			s: pooled(3).want(25).look().have(1).decideOnly(), replicas: 3,
			wantReason: v1alpha1.EventScaleReverted, wantSays: "somebody asked the StatefulSet for 1 replica; it has 3 again: size 3",
		},
		"created again with less": {
			s: renewed(1), replicas: 3,
			wantReason: v1alpha1.EventScaled, wantSays: "from 1 to 3 adapters, as many as the StatefulSet before this one had: size 3",
		},
	} {
		got := tc.s.view.news(tc.s.last, tc.replicas)
		if got.reason != tc.wantReason || !strings.HasPrefix(got.note, tc.wantSays) {
			t.Errorf("%s: %s: %q", name, got.reason, got.note)
		}
	}
	more := renewed(5)
	if got := more.tooMany(more.last).note; !strings.HasPrefix(got, "the new StatefulSet has 5 replicas; those that are not wanted go once they are empty") {
		t.Errorf("created again with more: %q", got)
	}
}
