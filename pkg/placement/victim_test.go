package placement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// located makes adapters a-0, a-1, ... at "zone/host"; either may be missing.
func located(at ...string) *pool {
	p := &pool{}
	for i, place := range at {
		zone, host, _ := strings.Cut(place, "/")
		p.adapters = append(p.adapters, &adapter{name: fmt.Sprintf("a-%d", i), ordinal: i, zone: zone, host: host, capacity: 1000})
	}
	return p
}

// vreplicasOn makes x-0, x-1, ... from the names of their adapters: "-" is not bound, and "!" marks one that is not ready.
func vreplicasOn(names string) []placement.Candidate {
	var candidates []placement.Candidate
	for i, name := range strings.Fields(names) {
		c := placement.Candidate{ID: fmt.Sprintf("x-%d", i), Index: i}
		c.Adapter, c.Ready = strings.TrimSuffix(name, "!"), !strings.HasSuffix(name, "!")
		if name == "-" {
			c.Adapter, c.Ready = "", false
		}
		candidates = append(candidates, c)
	}
	return candidates
}

func words(victims []placement.Victim) []string {
	var said []string
	for _, v := range victims {
		said = append(said, v.String())
	}
	return said
}

func TestVictims(t *testing.T) {
	byDefault := placement.Availability.Weights
	tests := map[string]struct {
		at        []string
		vreplicas string
		n         int
		weights   placement.Weights
		want      []string
	}{
		"not bound, gone, not ready, serving": {
			at: []string{"z1/h1", "z2/h2"}, vreplicas: "- a-9 a-1! a-0 a-0", n: 4, weights: byDefault,
			want: []string{
				"x-0: not bound",
				"x-1 on a-9: adapter not in the pool",
				"x-2 on a-1: adapter not ready, 1 in its zone, 1 on its host, 1 on it, ordinal 1",
				"x-4 on a-0: 2 in its zone, 2 on its host, 2 on it, ordinal 0",
			},
		},
		"C6 4 on a-0 and 2 on a-3, which is gone, 6 to 1: a live one stays": {
			at: []string{"z1/h1", "z2/h2"}, vreplicas: "a-3 a-3 a-0 a-0 a-0 a-0", n: 5, weights: placement.MaxFillUp.Weights,
			want: []string{
				"x-1 on a-3: adapter not in the pool",
				"x-0 on a-3: adapter not in the pool",
				"x-5 on a-0: 4 in its zone, 4 on its host, 4 on it, ordinal 0",
				"x-4 on a-0: 3 in its zone, 3 on its host, 3 on it, ordinal 0",
				"x-3 on a-0: 2 in its zone, 2 on its host, 2 on it, ordinal 0",
			},
		},
		"zone 3 > 2, though host, adapter and ordinal are less": {
			at: []string{"z1/h1", "z1/h2", "z1/h3", "z2/h4"}, vreplicas: "a-0 a-1 a-2 a-3 a-3", n: 1, weights: byDefault,
			want: []string{"x-2 on a-2: 3 in its zone, 1 on its host, 1 on it, ordinal 2"},
		},
		"zone 3 = 3, host 2 > 1": {
			at: []string{"z1/h1", "z1/h1", "z1/h2"}, vreplicas: "a-0 a-1 a-2", n: 1, weights: byDefault,
			want: []string{"x-1 on a-1: 3 in its zone, 2 on its host, 1 on it, ordinal 1"},
		},
		"host 3 = 3, adapter 2 > 1": {
			at: []string{"z1/h1", "z1/h1"}, vreplicas: "a-0 a-0 a-1", n: 1, weights: byDefault,
			want: []string{"x-1 on a-0: 3 in its zone, 3 on its host, 2 on it, ordinal 0"},
		},
		"all alike, ordinal 10 > 9": {
			at: strings.Fields(strings.Repeat("z1/h1 ", 11)), vreplicas: "a-10 a-9", n: 1, weights: byDefault,
			want: []string{"x-0 on a-10: 2 in its zone, 2 on its host, 1 on it, ordinal 10"},
		},
		"counts follow each pick, 3/1 by 3: 1/0, ordinal 1 > 0 when alike": {
			at: []string{"z1/h1", "z2/h2"}, vreplicas: "a-0 a-0 a-0 a-1", n: 3, weights: byDefault,
			want: []string{
				"x-2 on a-0: 3 in its zone, 3 on its host, 3 on it, ordinal 0",
				"x-1 on a-0: 2 in its zone, 2 on its host, 2 on it, ordinal 0",
				"x-3 on a-1: 1 in its zone, 1 on its host, 1 on it, ordinal 1",
			},
		},
		"one not ready counts in its zone, 1+2/2": {
			at: []string{"z1/h1", "z1/h2", "z2/h3"}, vreplicas: "a-0! a-1 a-1 a-2 a-2", n: 2, weights: byDefault,
			want: []string{
				"x-0 on a-0: adapter not ready, 3 in its zone, 1 on its host, 1 on it, ordinal 0",
				"x-4 on a-2: 2 in its zone, 2 on its host, 2 on it, ordinal 2",
			},
		},
		"two not ready, zone 2 > 1": {
			at: []string{"z1/h1", "z2/h2"}, vreplicas: "a-0! a-0 a-1!", n: 1, weights: byDefault,
			want: []string{"x-0 on a-0: adapter not ready, 2 in its zone, 2 on its host, 2 on it, ordinal 0"},
		},
		"no zones, no hosts: one shared zone, hosts of their own": {
			at: []string{"/", "/"}, vreplicas: "a-0 a-0 a-1", n: 1, weights: byDefault,
			want: []string{"x-1 on a-0: 3 in its zone, 2 on its host, 2 on it, ordinal 0"},
		},
		"only ordinals count": {
			at: []string{"z1/h1", "z1/h1", "z2/h2"}, vreplicas: "a-0 a-0 a-1 a-2", n: 2, weights: placement.Weights{placement.LowestOrdinal: 1},
			want: []string{
				"x-3 on a-2: 1 in its zone, 1 on its host, 1 on it, ordinal 2",
				"x-2 on a-1: 3 in its zone, 3 on its host, 1 on it, ordinal 1",
			},
		},
		"only zones count: the highest index of the fullest": {
			at: []string{"z1/h1", "z1/h1", "z2/h2"}, vreplicas: "a-1 a-0 a-2", n: 1, weights: placement.Weights{placement.FewestInZone: 1},
			want: []string{"x-1 on a-0: 2 in its zone, 2 on its host, 1 on it, ordinal 0"},
		},
		"adapter one rank > ordinal one rank, 2:1": {
			at: []string{"z1/h1", "z1/h1"}, vreplicas: "a-0 a-0 a-1", n: 1, weights: placement.Weights{placement.FewestOnAdapter: 2, placement.LowestOrdinal: 1},
			want: []string{"x-1 on a-0: 3 in its zone, 3 on its host, 2 on it, ordinal 0"},
		},
		"adapter one rank < ordinal one rank, 1:2": {
			at: []string{"z1/h1", "z1/h1"}, vreplicas: "a-0 a-0 a-1", n: 1, weights: placement.Weights{placement.FewestOnAdapter: 1, placement.LowestOrdinal: 2},
			want: []string{"x-2 on a-1: 3 in its zone, 3 on its host, 1 on it, ordinal 1"},
		},
		"no weight: the highest index": {
			at: []string{"z1/h1", "z1/h1"}, vreplicas: "a-0 a-1 a-1 a-0", n: 2,
			want: []string{
				"x-3 on a-0: 4 in its zone, 4 on its host, 2 on it, ordinal 0",
				"x-2 on a-1: 3 in its zone, 3 on its host, 2 on it, ordinal 1",
			},
		},
		"more than there are": {vreplicas: "- -", n: 3, weights: byDefault, want: []string{"x-1: not bound", "x-0: not bound"}},
		"none":                {vreplicas: "-", n: 0, weights: byDefault},
		"fewer than none":     {vreplicas: "-", n: -1, weights: byDefault},
		"no candidates":       {n: 1, weights: byDefault},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := build(located(tc.at...)).Victims(vreplicasOn(tc.vreplicas), tc.n, tc.weights)
			if diff := cmp.Diff(tc.want, words(got)); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
		})
	}
}

// The numbers are there for others than readers as well.
func TestVictimCarriesItsNumbers(t *testing.T) {
	got := build(located("z1/h1", "z1/h1", "z1/h2")).Victims(vreplicasOn("a-0 a-0 a-1 a-2"), 1, placement.Availability.Weights)
	want := []placement.Victim{{
		Candidate: placement.Candidate{ID: "x-1", Index: 1, Adapter: "a-0", Ready: true},
		Standing:  placement.Serving, InZone: 4, OnHost: 3, OnAdapter: 2,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
}

func TestVictimsOfOneIndexByID(t *testing.T) {
	candidates := []placement.Candidate{{ID: "b", Index: 1}, {ID: "c", Index: 0}, {ID: "a", Index: 1}}
	got := placement.NewPool().Victims(candidates, 3, placement.Availability.Weights)
	if diff := cmp.Diff([]string{"b: not bound", "a: not bound", "c: not bound"}, words(got)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
}

// A rival takes no vreplicas, and those that it has do not count: so they go first.
func TestVictimsOnRival(t *testing.T) {
	p := &pool{adapters: []*adapter{{name: "a-0", zone: "z1", host: "h1"}, {name: "b-0", born: 1, zone: "z1", host: "h1"}}}
	got := build(p).Victims(vreplicasOn("b-0 a-0 a-0"), 2, placement.Availability.Weights)
	want := []string{"x-0 on b-0: adapter not in the pool", "x-2 on a-0: 2 in its zone, 2 on its host, 2 on it, ordinal 0"}
	if diff := cmp.Diff(want, words(got)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
}

// 102 hosts have more vreplicas than any in the fullest zone, so that a plain ranking would run out of scores and not tell
// 50 from 49. Nor would one from the winner of adding, which is on the emptiest.
func TestVictimsLexicographicWhereWinnerHasLowRank(t *testing.T) {
	p := &pool{}
	var candidates []placement.Candidate
	add := func(zone string, n int) {
		name := fmt.Sprintf("a-%d", len(p.adapters))
		p.adapters = append(p.adapters, &adapter{name: name, ordinal: len(p.adapters), zone: zone})
		for range n {
			i := len(candidates)
			candidates = append(candidates, placement.Candidate{ID: fmt.Sprint(i), Index: i, Adapter: name, Ready: true})
		}
	}
	add("fullest", 50)
	for range 220 {
		add("fullest", 49)
	}
	for n := range 102 {
		add("other", 51+n)
	}
	add("emptiest", 1)
	got := build(p).Victims(candidates, 1, placement.Availability.Weights)
	want := []string{"49 on a-0: 10830 in its zone, 50 on its host, 50 on it, ordinal 0"}
	if diff := cmp.Diff(want, words(got)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
}
