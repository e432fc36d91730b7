package rebalance

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// begun is a pool where a move of x-vreplica-3 from a-0 to a-1 was begun at noon, and y is as uneven as x was.
func begun(t *testing.T) (*state, memory) {
	t.Helper()
	s := poolOf("room=30", "room=30").serves("x", "4/0").serves("y", "4/0")
	p, m := decide(*s, rested(), noon)
	if p.String() != "x-vreplica-3 from a-0 to a-1" {
		t.Fatalf("plan is %q", p)
	}
	m.begun, m.move = noon, p.begin
	return s.with("x-vreplica-3", marked), m.with(s.vpod("x"), turn{begun: noon})
}

// replace has a VPod put a placeholder on an adapter in place of another one.
func (s *state) replace(old, node string) *state {
	pod := s.pod(old)
	s.pods = slices.DeleteFunc(s.pods, func(p *corev1.Pod) bool { return p == pod })
	s.pods = append(s.pods, placeholder(s.vpod(pod.Labels[v1alpha1.LabelVPod]), 4, node))
	return s
}

func TestWhatBecomesOfAMove(t *testing.T) {
	const why = "A vreplica was to move from a-0 (beside it 3 in the zone, 3 on the host, 3 on the adapter; ordinal 0) " +
		"to a-1 (beside it 3 in the zone, 0 on the host, 0 on the adapter; ordinal 1), but "
	const again = ". The next attempt is in 1m0s"
	for name, tc := range map[string]struct {
		edit func(*state)
		at   time.Duration
		// want is the plan, wantNote what is told.
		want, wantNote string
	}{
		"it goes on":                       {at: time.Second, want: "after 29s"},
		"the cache does not have the mark": {edit: func(s *state) { s.with("x-vreplica-3", unmarked); s.pod("x-vreplica-3").ResourceVersion = "1" }, at: time.Second, want: "after 29s"},
		"its replacement is not placed": {
			edit: func(s *state) { s.pods = append(s.pods, placeholder(s.vpod("x"), 4, "")) }, at: 2 * time.Second, want: "after 28s",
		},
		"its replacement is not admitted": {
			edit: func(s *state) { s.replace("x-vreplica-3", "a-1").with("x-vreplica-4", pending) }, at: 2 * time.Second, want: "after 28s",
		},
		"done": {
			edit: func(s *state) { s.replace("x-vreplica-3", "a-1") }, at: 10 * time.Second,
			want: "y-vreplica-3 from a-0 to a-1",
			wantNote: "Moved a vreplica from a-0 (beside it 3 in the zone, 3 on the host, 3 on the adapter; ordinal 0) " +
				"to a-1 (beside it 3 in the zone, 0 on the host, 0 on the adapter; ordinal 1)",
		},
		"done, before the rate allows for another": {
			edit: func(s *state) { s.replace("x-vreplica-3", "a-1") }, at: 2 * time.Second, want: "after 8s",
			wantNote: "Moved a vreplica from a-0 (beside it 3 in the zone, 3 on the host, 3 on the adapter; ordinal 0) " +
				"to a-1 (beside it 3 in the zone, 0 on the host, 0 on the adapter; ordinal 1)",
		},
		"placed where it was": {
			edit: func(s *state) { s.replace("x-vreplica-3", "a-0") }, at: 10 * time.Second,
			want: "y-vreplica-3 from a-0 to a-1, after 1m0s",
			wantNote: why + "was placed elsewhere; perhaps profile vpod-scheduler has other rules than those that come with the scheduler" +
				again,
		},
		"refused for too long": {
			at: 30 * time.Second, want: "unmark x-vreplica-3, after 4m30s", wantNote: why + "did not within 30s" + again,
		},
		"somebody took the mark off": {
			edit: func(s *state) { s.with("x-vreplica-3", unmarked) }, at: 10 * time.Second,
			want: "y-vreplica-3 from a-0 to a-1, after 1m0s", wantNote: why + "somebody took the mark off its placeholder" + again,
		},
		"gone without a replacement for too long": {
			edit: func(s *state) { s.with("x-vreplica-3", leaving) }, at: 30 * time.Second,
			want: "after 4m30s", wantNote: why + "not all vreplicas were served again within 30s" + again,
		},
		"the VPod was changed meanwhile": {
			edit: func(s *state) {
				s.vpods[0] = s.vpods[0].DeepCopy()
				s.replace("x-vreplica-3", "a-0").vpods[0].Generation++
			}, at: 10 * time.Second,
			want: "y-vreplica-3 from a-0 to a-1",
		},
		"the VPod is gone": {
			edit: func(s *state) {
				s.vpods = s.vpods[1:]
				s.pods = s.pods[4:]
			}, at: 10 * time.Second, want: "y-vreplica-3 from a-0 to a-1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := begun(t)
			// What is unsettled is so from the first look on after the mark.
			if _, m = decide(*s, m, noon); m.move == nil {
				t.Fatal("the move was over at once")
			}
			if tc.edit != nil {
				tc.edit(s)
			}
			p, _ := decide(*s, m, noon.Add(tc.at))
			var notes []string
			for _, o := range p.outcomes {
				notes = append(notes, o.note)
				if o.moved != strings.HasPrefix(o.note, "Moved") {
					t.Errorf("moved %t, but %s", o.moved, o.note)
				}
			}
			if got := p.String(); got != tc.want {
				t.Errorf("plan is %q, want %q", got, tc.want)
			}
			if got := strings.Join(notes, "; "); got != tc.wantNote {
				t.Errorf("told is\n%q, want\n%q", got, tc.wantNote)
			}
		})
	}
}

// A mark that another controller set is taken off after as long a time, and its VPod is left alone then.
func TestAMarkOfAnotherController(t *testing.T) {
	s, _ := begun(t)
	p, m := decide(*s, rested(), noon)
	if p.String() != "after 30s" {
		t.Errorf("plan is %q", p)
	}
	if p, m = decide(*s, m, noon.Add(30*time.Second)); p.String() != "unmark x-vreplica-3, after 4m30s" || len(p.outcomes) != 1 {
		t.Errorf("plan is %q, told is %+v", p, p.outcomes)
	}
	// It could not be taken off: that is tried again, and told once.
	if p, m = decide(*s, m, noon.Add(31*time.Second)); p.String() != "unmark x-vreplica-3, after 4m29s" || len(p.outcomes) != 0 {
		t.Errorf("plan is %q, told is %+v", p, p.outcomes)
	}
	if p, _ = decide(*s.with("x-vreplica-3", unmarked), m, noon.Add(32*time.Second)); p.String() != "y-vreplica-3 from a-0 to a-1, after 58s" {
		t.Errorf("plan is %q", p)
	}
}

// A placeholder that carries the mark and is not a VPod's is not ours to move.
func TestAMarkOnAPodOfNoVPod(t *testing.T) {
	s := poolOf("-", "-").serves("x", "1/0").with("x-vreplica-0", func(p *corev1.Pod) { p.OwnerReferences = nil; marked(p) })
	_, m := decide(*s, rested(), noon)
	if p, _ := decide(*s, m, noon.Add(patience)); p.String() != "unmark x-vreplica-0, after 4m30s" {
		t.Errorf("plan is %q", p)
	}
}
