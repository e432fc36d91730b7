package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// spread makes a pool with an adapter for each entry of at, "zone/host", from the vreplicas that each vpod has on them.
func spread(capacity int64, at []string, has map[string][]int) *pool {
	p := &pool{}
	for i, place := range at {
		a := &adapter{name: fmt.Sprintf("a-%d", i), ordinal: i, capacity: capacity}
		a.zone, a.host = splitPlace(place)
		p.adapters = append(p.adapters, a)
	}
	for vpod, counts := range has {
		for i, n := range counts {
			for range n {
				p.adapters[i].vreplicas = append(p.adapters[i].vreplicas, vreplica{vpod: vpod, size: 1})
			}
		}
	}
	return p
}

func splitPlace(place string) (zone, host string) {
	for i := range place {
		if place[i] == '/' {
			return place[:i], place[i+1:]
		}
	}
	return place, ""
}

// countsOf is the reverse of spread.
func countsOf(p *pool) map[string][]int {
	has := map[string][]int{}
	for i, a := range p.adapters {
		for _, r := range a.vreplicas {
			if has[r.vpod] == nil {
				has[r.vpod] = make([]int, len(p.adapters))
			}
			has[r.vpod][i]++
		}
	}
	return has
}

// move carries out a move. It fails if there is no such vreplica.
func (p *pool) move(m placement.Move) error {
	from, to := p.find(m.From), p.find(m.To)
	k := slices.IndexFunc(from.vreplicas, func(r vreplica) bool { return vpodID(r.vpod) == m.VPod && !r.terminating })
	if k < 0 {
		return fmt.Errorf("%s has no vreplica of %s to move to %s", m.From, m.VPod.Name, m.To)
	}
	to.vreplicas = append(to.vreplicas, from.vreplicas[k])
	from.vreplicas = slices.Delete(from.vreplicas, k, k+1)
	return nil
}

// openOf tells which adapters are open.
func openOf(p *pool, built *placement.Pool) func(slot int) bool {
	return func(slot int) bool { return isOpen(p.find(built.At(slot).Name)) }
}

// below keeps the adapters with ordinals below end.
func below(built *placement.Pool, end int) func(slot int) bool {
	return func(slot int) bool { return built.At(slot).Ordinal < end }
}

func TestDrainMovesWhatLeavesByTheRules(t *testing.T) {
	three, six := []string{"z1/h1", "z2/h2", "z3/h3"}, []string{"z1/h1", "z2/h2", "z3/h3", "z1/h1", "z2/h2", "z3/h3"}
	for name, tc := range map[string]struct {
		capacity  int64
		at        []string
		has       map[string][]int
		keep      int
		cordoned  []int
		limit     int
		policy    policy
		want      map[string][]int
		wantStuck []string
	}{
		"C13 packed, one leftover": {
			capacity: 10, at: three[:2], has: map[string][]int{"x": {1, 0}, "y": {0, 1}}, keep: 1, policy: maxFillUp,
			want: map[string][]int{"x": {1, 0}, "y": {1, 0}},
		},
		"nothing leaves": {
			capacity: 10, at: three, has: map[string][]int{"x": {3, 3, 3}}, keep: 3, policy: availability,
			want: map[string][]int{"x": {3, 3, 3}},
		},
		"empty ones leave": {
			capacity: 10, at: three, has: map[string][]int{"x": {3, 0, 0}}, keep: 1, policy: availability,
			want: map[string][]int{"x": {3, 0, 0}},
		},
		"the other adapter of the zone takes it": {
			capacity: 10, at: six, has: map[string][]int{"x": {1, 1, 1, 1, 0, 1}}, keep: 3, policy: availability,
			want: map[string][]int{"x": {2, 2, 1, 0, 0, 0}},
		},
		"packed where the vpod is already": {
			capacity: 10, at: three, has: map[string][]int{"x": {0, 1, 2}, "y": {5, 0, 0}}, keep: 2, policy: maxFillUp,
			want: map[string][]int{"x": {0, 3, 0}, "y": {5, 0, 0}},
		},
		"one vreplica too many": {
			capacity: 4, at: three, has: map[string][]int{"x": {2, 3, 2}, "y": {0, 0, 2}}, keep: 2, policy: availability,
			want:      map[string][]int{"x": {4, 3, 0}, "y": {0, 1, 1}},
			wantStuck: []string{"1 vreplica of VPod default/y, the first on a-2: no room on the 2 open adapters kept"},
		},
		"a cordoned one takes nothing": {
			capacity: 4, at: three, has: map[string][]int{"x": {3, 0, 2}}, keep: 2, cordoned: []int{1}, policy: availability,
			want:      map[string][]int{"x": {4, 0, 1}},
			wantStuck: []string{"1 vreplica of VPod default/x, the first on a-2: no room on the 1 open adapter kept"},
		},
		"limit 1: all leave, and then one other adapter is enough": {
			capacity: 4, at: three, has: map[string][]int{"x": {0, 0, 4}, "y": {1, 0, 0}}, keep: 2, limit: 1, policy: maxFillUp,
			want: map[string][]int{"x": {3, 0, 1}, "y": {1, 0, 0}},
			wantStuck: []string{
				"1 vreplica of VPod default/x, the first on a-2: uses 1 adapter of at most 1, and the room for 4 is on others",
			},
		},
		"limit 2: what is on the kept one counts": {
			capacity: 4, at: six, has: map[string][]int{"x": {1, 0, 0, 1, 1, 2}}, keep: 3, limit: 2, policy: availability,
			want: map[string][]int{"x": {3, 2, 0, 0, 0, 0}},
		},
		"adapters from two leave": {
			capacity: 3, at: three, has: map[string][]int{"x": {0, 1, 1}, "y": {0, 0, 1}}, keep: 1, policy: availability,
			want: map[string][]int{"x": {2, 0, 0}, "y": {1, 0, 0}},
		},
		"none is kept": {
			capacity: 3, at: three, has: map[string][]int{"x": {1, 0, 0}}, keep: 0, policy: availability,
			want:      map[string][]int{"x": {1, 0, 0}},
			wantStuck: []string{"1 vreplica of VPod default/x, the first on a-0: no room on the 0 open adapters kept"},
		},
		"two zones must be open, and one is": {
			capacity: 9, at: three, has: map[string][]int{"x": {1, 0, 1}}, keep: 1, policy: policy{zone: level{minDomains: 2}},
			want: map[string][]int{"x": {1, 0, 1}},
			wantStuck: []string{
				"1 vreplica of VPod default/x, the first on a-2: there is room for 8 on the 1 open adapter kept, " +
					"but its rules allow none of them",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := spread(tc.capacity, tc.at, tc.has)
			for _, ordinal := range tc.cordoned {
				p.adapters[ordinal].cordoned = true
			}
			built := build(p)
			var tenants []placement.Tenant
			for vpod := range tc.has {
				tenants = append(tenants, placement.Tenant{VPod: vpodID(vpod), Rules: rules(tc.policy), Limit: tc.limit})
			}
			d := built.Drain(below(built, tc.keep), openOf(p, built), tenants)
			for _, m := range d.Moves {
				if err := p.move(m); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, countsOf(p)); diff != "" {
				t.Errorf("vreplicas (-want +got):\n%s", diff)
			}
			var stuck []string
			for _, s := range d.Stuck {
				stuck = append(stuck, s.String())
			}
			if diff := cmp.Diff(tc.wantStuck, stuck); diff != "" {
				t.Errorf("stuck (-want +got):\n%s", diff)
			}
			if d.OK() != (len(tc.wantStuck) == 0) {
				t.Errorf("OK is %t, stuck %v", d.OK(), stuck)
			}
		})
	}
}

func TestDrainMovesNothingOfVPodsThatNobodyControls(t *testing.T) {
	p := spread(9, []string{"", ""}, map[string][]int{"x": {0, 1}, "y": {1, 2}})
	built := build(p)
	d := built.Drain(below(built, 1), nil, []placement.Tenant{{VPod: vpodID("x"), Rules: placement.Availability}})
	want := placement.Drain{
		Leaving: 3, Kept: 1, Room: 8,
		Moves: []placement.Move{{VPod: vpodID("x"), From: "a-1", To: "a-0"}},
		Stuck: []placement.Stuck{{VPod: vpodID("y"), Adapter: "a-1", Vreplicas: 2, Reason: placement.NoTenant}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const words = "2 vreplicas of VPod default/y, the first on a-1: controlled by no VPod, so nothing moves them"
	if got := d.Stuck[0].String(); got != words {
		t.Errorf("words %q, want %q", got, words)
	}
}

// What nobody moves comes first, then those with the lowest limit, then those with most that leave.
func TestStuckVPodsAreToldInOrder(t *testing.T) {
	p := spread(9, []string{""}, map[string][]int{"limit 1": {1}, "limit 2": {3}, "many": {3}, "few": {1}, "nobody's": {1}})
	tenants := []placement.Tenant{
		{VPod: vpodID("many")}, {VPod: vpodID("few")}, {VPod: vpodID("limit 2"), Limit: 2}, {VPod: vpodID("limit 1"), Limit: 1},
	}
	built := build(p)
	var got []string
	for _, s := range built.Drain(below(built, 0), nil, tenants).Stuck {
		got = append(got, s.VPod.Name)
	}
	if diff := cmp.Diff([]string{"nobody's", "limit 1", "limit 2", "many", "few"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
