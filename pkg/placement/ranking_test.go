package placement_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// on is an adapter in a zone, on a host of its own, with n vreplicas of x.
func on(zone string, capacity int64, n int) adapter {
	a := adapter{zone: zone, capacity: capacity}
	a.hold("x", n, false)
	return a
}

func at(ordinal int, a adapter) adapter { a.ordinal = ordinal; return a }

func cordoned(a adapter) adapter { a.cordoned = true; return a }

func tainted(a adapter) adapter { a.tainted = true; return a }

// numbered names the adapters a-0, a-1, ..., and gives them these ordinals where they have none.
func numbered(adapters []adapter) *pool {
	p := &pool{}
	for i := range adapters {
		a := adapters[i]
		a.name = fmt.Sprintf("a-%d", i)
		if a.ordinal == 0 {
			a.ordinal = i
		}
		p.adapters = append(p.adapters, &a)
	}
	return p
}

// slotsOf are the slots of all adapters, in the order of the model.
func slotsOf(p *pool, built *placement.Pool) []int {
	slots := make([]int, len(p.adapters))
	for i, a := range p.adapters {
		slots[i], _ = built.Slot(a.name)
	}
	return slots
}

func TestRank(t *testing.T) {
	const c = 9000
	tests := map[string]struct {
		adapters []adapter
		// want is by adapter: zone, host, adapter, lowest ordinal, fill up.
		want []placement.Scores
	}{
		"3/0+9: best zone, second host": {adapters: []adapter{on("z1", c, 3), on("z2", c, 0), on("z2", c, 9)}, want: []placement.Scores{{100, 99, 99, 100, 100}, {99, 100, 100, 99, 98}, {99, 98, 98, 98, 99}}},
		"alone":                         {adapters: []adapter{on("z1", c, 3)}, want: []placement.Scores{{100, 100, 100, 100, 100}}},
		"0/2/5 in three zones":          {adapters: []adapter{on("z1", c, 0), on("z2", c, 2), on("z3", c, 5)}, want: []placement.Scores{{100, 100, 100, 100, 98}, {99, 99, 99, 99, 100}, {98, 98, 98, 98, 99}}},
		"5/2/0 in three zones":          {adapters: []adapter{on("z1", c, 5), on("z2", c, 2), on("z3", c, 0)}, want: []placement.Scores{{98, 98, 98, 100, 100}, {99, 99, 99, 99, 99}, {100, 100, 100, 98, 98}}},
		"1+2/3: zones alike":            {adapters: []adapter{on("z1", c, 1), on("z1", c, 2), on("z2", c, 3)}, want: []placement.Scores{{100, 100, 100, 100, 100}, {100, 99, 99, 99, 99}, {100, 98, 98, 98, 98}}},
		"1/1 alike: second gets 0":      {adapters: []adapter{on("z1", c, 1), on("z2", c, 1)}, want: []placement.Scores{{100, 100, 100, 100, 100}, {100, 100, 100, 0, 0}}},
		"1000/0, a-0 and a-5000":        {adapters: []adapter{on("z1", c, 1000), at(5000, on("z2", c, 0))}, want: []placement.Scores{{99, 99, 99, 100, 100}, {100, 100, 100, 99, 99}}},
		"0/1000, a-0 and a-5000":        {adapters: []adapter{on("z1", c, 0), at(5000, on("z2", c, 1000))}, want: []placement.Scores{{100, 100, 100, 100, 99}, {99, 99, 99, 99, 100}}},
		"none":                          {want: []placement.Scores{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := numbered(tc.adapters)
			built := build(p)
			got := tally(p, built, request{vpod: "x", size: 1}).Rank(slotsOf(p, built))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
		})
	}
}

// 103 distinct counts: the ranks end at 0 and at 1, and never leave 0..100.
func TestRankOfMoreValuesThanScores(t *testing.T) {
	var adapters []adapter
	for n := range 103 {
		adapters = append(adapters, on(fmt.Sprintf("z%d", n), 9000, n))
	}
	p := numbered(adapters)
	built := build(p)
	got := tally(p, built, request{vpod: "x", size: 1}).Rank(slotsOf(p, built))
	for n, want := range map[int]placement.Scores{
		0: {100, 100, 100, 100, 1}, 1: {99, 99, 99, 99, 100}, 99: {1, 1, 1, 1, 2},
		100: {0, 0, 0, 1, 1}, 101: {0, 0, 0, 1, 1}, 102: {0, 0, 0, 1, 1},
	} {
		if diff := cmp.Diff(want, got[n]); diff != "" {
			t.Errorf("scores of count %d (-want +got):\n%s", n, diff)
		}
	}
}

// The weights are also in configuration files: 101^3, 101^2, 101, 1.
func TestShippedProfiles(t *testing.T) {
	wantAvailability := placement.Rules{Weights: placement.Weights{
		placement.FewestInZone: 1_030_301, placement.FewestOnHost: 10_201, placement.FewestOnAdapter: 101, placement.LowestOrdinal: 1,
	}}
	wantAvailability.MaxSkew[placement.ByAdapter] = 1
	if diff := cmp.Diff(wantAvailability, placement.Availability); diff != "" {
		t.Errorf("availability (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(placement.Rules{Weights: placement.Weights{placement.FillUp: 1}}, placement.MaxFillUp); diff != "" {
		t.Errorf("fill up (-want +got):\n%s", diff)
	}
}

// alternative is an adapter by the vreplicas in its zone, on its host and on itself, and by its ordinal.
type alternative struct{ zone, host, adapter, ordinal int }

func TestWhoWins(t *testing.T) {
	spread, packed := placement.Availability.Weights, placement.MaxFillUp.Weights
	tests := map[string]struct {
		weights       placement.Weights
		winner, loser alternative
	}{
		"zone 0 < 1, ordinal 1 > 0":             {spread, alternative{0, 0, 0, 1}, alternative{1, 0, 0, 0}},
		"zone 0 < 1, ordinal 5000 > 0":          {spread, alternative{0, 0, 0, 5000}, alternative{1, 0, 0, 0}},
		"zone 0 < 1000, ordinal 5000 > 0":       {spread, alternative{0, 0, 0, 5000}, alternative{1000, 1000, 1000, 0}},
		"zone 999 < 1000, ordinal 5000 > 0":     {spread, alternative{999, 999, 999, 5000}, alternative{1000, 0, 0, 0}},
		"zone 5 < 6, host and adapter 5 > 0":    {spread, alternative{5, 5, 5, 7}, alternative{6, 0, 0, 0}},
		"zone 5 = 5, host 1 < 2, ordinal 9 > 0": {spread, alternative{5, 1, 1, 9}, alternative{5, 2, 0, 0}},
		"zone, host 5 = 5, adapter 1 < 2":       {spread, alternative{5, 5, 1, 5000}, alternative{5, 5, 2, 0}},
		"all counts 5 = 5, ordinal 0 < 1":       {spread, alternative{5, 5, 5, 0}, alternative{5, 5, 5, 1}},
		"all counts 5 = 5, ordinal 4999 < 5000": {spread, alternative{5, 5, 5, 4999}, alternative{5, 5, 5, 5000}},
		"packed: 1 > 0, ordinal 5000 > 0":       {packed, alternative{1, 1, 1, 5000}, alternative{0, 0, 0, 0}},
		"packed: 1 and 9 serve, ordinal 0 < 1":  {packed, alternative{1, 1, 1, 0}, alternative{9, 9, 9, 1}},
		"packed: 9 and 1 serve, ordinal 0 < 1":  {packed, alternative{9, 9, 9, 0}, alternative{1, 1, 1, 1}},
		"packed: none serves, ordinal 0 < 1":    {packed, alternative{9, 9, 0, 0}, alternative{0, 0, 0, 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := &pool{adapters: append(tc.winner.adapters("winner"), tc.loser.adapters("loser")...)}
			built := build(p)
			winner, _ := built.Slot("winner")
			loser, _ := built.Slot("loser")
			scores := tally(p, built, request{vpod: "x", size: 1}).Rank([]int{loser, winner})
			if lost, won := scores[0].Total(tc.weights), scores[1].Total(tc.weights); won <= lost {
				t.Errorf("total %d of %v, want more than %d of %v", won, scores[1], lost, scores[0])
			}
		})
	}
}

// adapters makes one with these numbers, and neighbours that hold the rest of its host's and zone's vreplicas.
func (alt alternative) adapters(name string) []*adapter {
	a := &adapter{name: name, ordinal: alt.ordinal, zone: name, host: name + "-host"}
	onHost := &adapter{name: name + "-on-host", ordinal: 10_000 + alt.ordinal, zone: name, host: name + "-host"}
	inZone := &adapter{name: name + "-in-zone", ordinal: 20_000 + alt.ordinal, zone: name, host: name + "-other"}
	a.hold("x", alt.adapter, false)
	onHost.hold("x", alt.host-alt.adapter, false)
	inZone.hold("x", alt.zone-alt.host, false)
	return []*adapter{a, onHost, inZone}
}
