package rebalance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// One look at a pool that was at rest.
func TestWhatIsMoved(t *testing.T) {
	two, zones := []string{"-", "-"}, []string{"zone=z1", "zone=z1", "zone=z2"}
	for name, tc := range map[string]struct {
		state *state
		want  string
	}{
		"4/0: the one with the highest index, to the other adapter": {
			state: poolOf(two...).serves("x", "4/0"), want: "x-vreplica-3 from a-0 to a-1",
		},
		"index 10 is above index 9": {
			state: poolOf("room=20", "-").serves("x", "11/0"), want: "x-vreplica-10 from a-0 to a-1",
		},
		"2/2: nothing":               {state: poolOf(two...).serves("x", "2/2")},
		"1/2: to the lower ordinal":  {state: poolOf(two...).serves("x", "1/2"), want: "x-vreplica-2 from a-1 to a-0"},
		"2/1: nothing":               {state: poolOf(two...).serves("x", "2/1")},
		"zones before adapters":      {state: poolOf(zones...).serves("x", "2/2/0"), want: "x-vreplica-3 from a-1 to a-2"},
		"no room where it is better": {state: poolOf("-", "room=4").serves("x", "4/0").serves("y", "0/4", placedBy(v1alpha1.SchedulerNameMaxFillUp))},
		"adapter limit":              {state: poolOf(two...).serves("x", "4/0", limitedTo(1))},
		"adapter limit not reached":  {state: poolOf(two...).serves("x", "4/0", limitedTo(2)), want: "x-vreplica-3 from a-0 to a-1"},
		"packing":                    {state: poolOf(two...).serves("x", "2/2", placedBy(v1alpha1.SchedulerNameMaxFillUp)), want: "x-vreplica-3 from a-1 to a-0"},
		"packed":                     {state: poolOf(two...).serves("x", "4/0", placedBy(v1alpha1.SchedulerNameMaxFillUp))},
		"another profile, whose rules we know not": {state: poolOf(two...).serves("x", "4/0", placedBy("mine"))},
		"from a cordoned adapter":                  {state: poolOf("cordoned", "-").serves("x", "4/0")},
		"to a cordoned adapter":                    {state: poolOf("-", "cordoned").serves("x", "4/0")},
		"to a tainted adapter":                     {state: poolOf("-", "tainted").serves("x", "4/0")},
		"to an adapter that is not ready":          {state: poolOf("-", "unready").serves("x", "4/0")},
		"no VPods":                                 {state: poolOf(two...)},
		"no adapters":                              {state: poolOf().serves("x", "0")},
		"the first VPod by name":                   {state: poolOf(two...).serves("y", "4/0").serves("x", "4/0"), want: "x-vreplica-3 from a-0 to a-1"},
		"the VPod that is uneven":                  {state: poolOf(two...).serves("x", "1/1").serves("y", "4/0"), want: "y-vreplica-3 from a-0 to a-1"},
		"a VPod with vreplicas on an adapter that is not ready; others go on": {
			state: poolOf("-", "-", "unready cordoned").serves("x", "4/0/1").serves("y", "4/0/0"),
			want:  "y-vreplica-3 from a-0 to a-1",
		},
		"a VPod that is being deleted": {
			state: poolOf(two...).serves("x", "4/0", func(v *v1alpha1.VPod) { v.DeletionTimestamp = &metav1.Time{Time: noon} }),
		},
		"a VPod one of whose placeholders is spoilt, and never placed": {
			state: poolOf(two...).serves("x", "4/0").waits("x", 1).with("x-vreplica-4", func(p *corev1.Pod) {
				p.Annotations[v1alpha1.AnnotationMaxAdapters] = "many"
			}),
		},
		"vreplicas that are not its own": {
			state: poolOf(two...).serves("x", "1/0").with("x-vreplica-0", func(p *corev1.Pod) { p.OwnerReferences[0].UID = "y" }),
			want:  "after 5m0s", // one is missing
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, m := decide(*tc.state, rested(), noon)
			if got := p.String(); got != tc.want {
				t.Errorf("plan is %q, want %q", got, tc.want)
			}
			if again, _ := decide(*tc.state, m, noon); again.String() != p.String() {
				t.Errorf("the next look says %q, the first said %q", again, p)
			}
		})
	}
}

// VPod y is uneven, and may not move for what happens beside it.
func TestNothingIsMovedMeanwhile(t *testing.T) {
	uneven := func(adapters ...string) *state { return poolOf(adapters...).serves("y", "4/0") }
	for name, tc := range map[string]struct {
		state *state
		want  string
	}{
		"a vreplica waits for room that is there": {
			state: uneven("-", "-").serves("x", "1/0").waits("x", 1), want: "after 5m0s",
		},
		"a vreplica waits for its adapter limit, which nothing here changes": {
			state: uneven("-", "-").serves("x", "6/0", limitedTo(1)).waits("x", 1), want: "y-vreplica-3 from a-0 to a-1",
		},
		"a vreplica is missing": {
			state: uneven("-", "-").serves("x", "1/0", func(v *v1alpha1.VPod) { *v.Spec.Replicas = 2 }), want: "after 5m0s",
		},
		"there is one too many": {
			state: uneven("-", "-").serves("x", "2/0", func(v *v1alpha1.VPod) { *v.Spec.Replicas = 1 }), want: "after 5m0s",
		},
		"a vreplica is not admitted yet":          {state: uneven("-", "-").serves("x", "1/0").with("x-vreplica-0", pending), want: "after 5m0s"},
		"a vreplica moves":                        {state: uneven("-", "-").serves("x", "1/0").with("x-vreplica-0", marked), want: "after 30s"},
		"one is about to be gone, and holds room": {state: uneven("-", "-").serves("x", "1/0").with("x-vreplica-0", leaving), want: "after 5m0s"},
		"somebody else moves one":                 {state: uneven("-", "-").serves("x", "1/0").with("x-vreplica-0", wanted), want: "after 5m0s"},
		"one that has failed moves no more":       {state: uneven("-", "-").serves("x", "1/0").with("x-vreplica-0", wanted).with("x-vreplica-0", failing), want: "after 5m0s"},
		"a node says that its adapter drains":     {state: uneven("-", "-", "draining"), want: ""},
		"no node says yet that its adapter drains": {state: func() *state {
			s := uneven("-", "-", "-")
			s.pool.Spec.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 3}
			s.pool.Status.TargetAdapters = new(int32(2))
			return s
		}()},
		"the adapter is not going to be kept": {state: func() *state {
			s := uneven("-", "-")
			s.pool.Spec.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 3}
			s.pool.Status.TargetAdapters, s.pool.Status.WantedAdapters = new(int32(2)), new(int32(1))
			return s
		}()},
		"the pool is being deleted": {state: func() *state {
			s := uneven("-", "-")
			s.pool.DeletionTimestamp = &metav1.Time{Time: noon}
			return s
		}()},
		"it is off, and what carries the mark still has it taken off": {state: func() *state {
			s := uneven("-", "-").with("y-vreplica-1", marked).with("y-vreplica-2", wanted)
			s.pool.Spec.Descheduling.Rebalance.Mode = v1alpha1.RebalanceOff
			return s
		}(), want: "unmark y-vreplica-1"},
		"it is not asked for": {state: func() *state {
			s := uneven("-", "-")
			s.pool.Spec.Descheduling = nil
			return s
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := decide(*tc.state, rested(), noon)
			if got := p.String(); got != tc.want {
				t.Errorf("plan is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRate(t *testing.T) {
	s := poolOf("-", "-").serves("x", "4/0")
	for name, tc := range map[string]struct {
		rate *int32
		m    memory
		want string
	}{
		"just begun":                     {rate: new(int32(6)), m: memory{begun: noon}, want: "after 10s"},
		"almost":                         {rate: new(int32(6)), m: memory{begun: noon.Add(-9 * time.Second)}, want: "after 1s"},
		"due":                            {rate: new(int32(6)), m: memory{begun: noon.Add(-10 * time.Second)}, want: "x-vreplica-3 from a-0 to a-1"},
		"a higher rate is in force":      {rate: new(int32(60)), m: memory{begun: noon.Add(-time.Second)}, want: "x-vreplica-3 from a-0 to a-1"},
		"a lower rate is in force":       {rate: new(int32(1)), m: memory{begun: noon.Add(-10 * time.Second)}, want: "after 50s"},
		"the default is 6":               {m: memory{begun: noon.Add(-9 * time.Second)}, want: "after 1s"},
		"nothing remembered":             {rate: new(int32(6)), want: "after 10s"},
		"the clock was set back an hour": {rate: new(int32(6)), m: memory{begun: noon.Add(time.Hour)}, want: "after 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			s.pool.Spec.Descheduling.Rebalance.EvictionsPerMinute = tc.rate
			if p, _ := decide(*s, tc.m, noon); p.String() != tc.want {
				t.Errorf("plan is %q, want %q", p, tc.want)
			}
		})
	}
}

// The VPod that moved the longest ago is next; one that never did is before.
func TestTurns(t *testing.T) {
	s := poolOf("room=30", "room=30").serves("x", "4/0").serves("y", "4/0").serves("z", "4/0")
	ago := func(minutes int) turn { return turn{begun: noon.Add(-time.Duration(minutes) * time.Minute)} }
	for name, tc := range map[string]struct {
		turns map[types.UID]turn
		want  string
	}{
		"all never":     {want: "x-vreplica-3 from a-0 to a-1"},
		"one did":       {turns: map[types.UID]turn{"uid-of-x": ago(9)}, want: "y-vreplica-3 from a-0 to a-1"},
		"longest ago":   {turns: map[types.UID]turn{"uid-of-x": ago(2), "uid-of-y": ago(1), "uid-of-z": ago(3)}, want: "z-vreplica-3 from a-0 to a-1"},
		"by name again": {turns: map[types.UID]turn{"uid-of-x": ago(2), "uid-of-y": ago(2), "uid-of-z": ago(2)}, want: "x-vreplica-3 from a-0 to a-1"},
	} {
		t.Run(name, func(t *testing.T) {
			m := rested()
			m.turns = tc.turns
			if p, _ := decide(*s, m, noon); p.String() != tc.want {
				t.Errorf("plan is %q, want %q", p, tc.want)
			}
		})
	}
}

// A VPod for which moving was of no use is left alone for longer each time, and others have their turn.
func TestBackoff(t *testing.T) {
	var got []time.Duration
	for failed := (turn{}); len(got) < 9; {
		failed = failed.failed(7, noon)
		got = append(got, failed.wait(7, noon))
	}
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60}
	for i := range want {
		want[i] *= time.Minute
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}

	s, m := poolOf("-", "-").serves("x", "4/0").serves("y", "4/0"), rested()
	m.turns = map[types.UID]turn{"uid-of-x": turn{}.failed(7, noon)}
	for name, tc := range map[string]struct {
		edit func()
		at   time.Duration
		want string
	}{
		"another one":         {want: "y-vreplica-3 from a-0 to a-1, after 1m0s"},
		"after a minute":      {at: time.Minute, want: "x-vreplica-3 from a-0 to a-1"},
		"its spec is changed": {edit: func() { s.vpod("x").Generation++ }, want: "x-vreplica-3 from a-0 to a-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s.vpod("x").Generation = 7
			if tc.edit != nil {
				tc.edit()
			}
			if p, _ := decide(*s, m, noon.Add(tc.at)); p.String() != tc.want {
				t.Errorf("plan is %q, want %q", p, tc.want)
			}
		})
	}
}
