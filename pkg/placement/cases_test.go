package placement_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Reports by users of such systems, each as placements in and placements out of a vpod x. The lists are by adapter.
func TestReportedCases(t *testing.T) {
	tests := map[string]struct {
		policy   policy
		capacity int64
		// at is "zone/host" of each adapter, either may be missing.
		at []string
		// others and terminating are vreplicas of another vpod and of x; has is what x has already.
		others, terminating, has []int
		// cordoned are ordinals.
		cordoned        []int
		limit, replicas int
		want            []int
	}{
		"C4 9 on z1 z2 z3, z3 with room for 1: 4/4/1": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, others: []int{0, 0, 9},
			replicas: 9, want: []int{4, 4, 1},
		},
		"C4 the full one holds some already, 2/2/1 to 9: 4/4/1": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, others: []int{0, 0, 9}, has: []int{2, 2, 1},
			replicas: 9, want: []int{4, 4, 1},
		},
		"C4 hard at the zone, 9 on z1 z2 z3, z3 with room for 1: 4/4/1": {
			policy: policy{zone: level{maxSkew: 1}}, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, others: []int{0, 0, 9},
			replicas: 9, want: []int{4, 4, 1},
		},
		"C5 maxSkew 2, 5/0 to 6: 5/1": {
			policy: policy{adapter: level{maxSkew: 2}}, capacity: 10, at: []string{"z1/h1", "z1/h2"}, has: []int{5, 0},
			replicas: 6, want: []int{5, 1},
		},
		"C5 maxSkew 1, 5/0 to 10: 5/5": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z1/h2"}, has: []int{5, 0}, replicas: 10, want: []int{5, 5},
		},
		"C12 spread, 4 on three adapters: 2/1/1": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, replicas: 4, want: []int{2, 1, 1},
		},
		"C12 packed, 4 on three adapters: 4/0/0": {
			policy: maxFillUp, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, replicas: 4, want: []int{4, 0, 0},
		},
		"C12 packed, 13 of capacity 10: 10/3/0": {
			policy: maxFillUp, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, replicas: 13, want: []int{10, 3, 0},
		},
		"C12 packed, one on a-1 already, 0/1/0 to 3: 0/3/0": {
			policy: maxFillUp, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, has: []int{0, 1, 0}, replicas: 3, want: []int{0, 3, 0},
		},
		"C18 limit 2, 5 of capacity 3: 3/2/0": {
			policy: availability, capacity: 3, at: []string{"z1/h1", "z2/h2", "z3/h3"}, limit: 2, replicas: 5, want: []int{3, 2, 0},
		},
		"C18 limit 2, 8 of capacity 3: 3/3/0 and 2 wait": {
			policy: availability, capacity: 3, at: []string{"z1/h1", "z2/h2", "z3/h3"}, limit: 2, replicas: 8, want: []int{3, 3, 0},
		},
		"C18 limit raised to 3, 3/3/0 to 8: 3/3/2": {
			policy: availability, capacity: 3, at: []string{"z1/h1", "z2/h2", "z3/h3"}, has: []int{3, 3, 0}, limit: 3,
			replicas: 8, want: []int{3, 3, 2},
		},
		"C18 limit lowered to 1, 2/2/0 to 6: 3/3/0": {
			policy: availability, capacity: 3, at: []string{"z1/h1", "z2/h2", "z3/h3"}, has: []int{2, 2, 0}, limit: 1,
			replicas: 6, want: []int{3, 3, 0},
		},
		"C25 a-2 cordoned, 6: 3/3/0": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, cordoned: []int{2}, replicas: 6, want: []int{3, 3, 0},
		},
		"C25 a-2 cordoned with 1 on it, 0/0/1 to 6: 3/2/1": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, cordoned: []int{2}, has: []int{0, 0, 1},
			replicas: 6, want: []int{3, 2, 1},
		},
		"C25 uncordoned, 3/3/0 to 7: 3/3/1": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, has: []int{3, 3, 0}, replicas: 7, want: []int{3, 3, 1},
		},
		"C26 z3 dead, its 2 terminating, 2/2/- to 6: 3/3/-": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, cordoned: []int{2}, has: []int{2, 2, 0},
			terminating: []int{0, 0, 2}, replicas: 6, want: []int{3, 3, 0},
		},
		"C26 z3 back, 3/3/0 to 8: 3/3/2": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z3/h3"}, has: []int{3, 3, 0}, replicas: 8, want: []int{3, 3, 2},
		},
		"C27 terminating ones do not count but hold room, 1/0 of capacity 3 to 4: 1/2, 1 waits": {
			policy: availability, capacity: 3, at: []string{"z1/h1", "z2/h2"}, has: []int{1, 0}, terminating: []int{2, 1},
			replicas: 4, want: []int{1, 2},
		},
		"C30 2/2 to 5: 3/2": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2"}, has: []int{2, 2}, replicas: 5, want: []int{3, 2},
		},
		"C30 3/2 and three more adapters, 5 to 50: 10 each": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z2/h2", "z1/h1", "z2/h2", "z1/h1"}, has: []int{3, 2, 0, 0, 0},
			replicas: 50, want: []int{10, 10, 10, 10, 10},
		},
		"C31 no zones, hosts h1 h1 h2, 4: 1+1 and 2": {
			policy: availability, capacity: 10, at: []string{"/h1", "/h1", "/h2"}, replicas: 4, want: []int{1, 1, 2},
		},
		"C31 no labels at all, 4: 2/1/1": {
			policy: availability, capacity: 10, at: []string{"/", "/", "/"}, replicas: 4, want: []int{2, 1, 1},
		},
		"C31 no zone is one shared zone, 4: 1+1 and 2": {
			policy: availability, capacity: 10, at: []string{"/h1", "/h2", "z1/h3"}, replicas: 4, want: []int{1, 1, 2},
		},
		"C31 a-0 labelled later, 1+1 and 2 to 5: only the new one is z1's": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "/h1", "/h2"}, has: []int{1, 1, 2}, replicas: 5, want: []int{2, 1, 2},
		},
		"C33 3 on three adapters with 18 of 20 used: 1/1/1": {
			policy: availability, capacity: 20, at: []string{"z1/h1", "z1/h2", "z1/h3"}, others: []int{18, 18, 18}, replicas: 3, want: []int{1, 1, 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for run := range 20 {
				p := &pool{}
				for i, at := range tc.at {
					zone, host, _ := strings.Cut(at, "/")
					a := &adapter{name: fmt.Sprintf("a-%d", i), ordinal: i, zone: zone, host: host, capacity: tc.capacity}
					a.hold("x", at0(tc.has, i), false)
					a.hold("x", at0(tc.terminating, i), true)
					a.hold("other", at0(tc.others, i), false)
					p.adapters = append(p.adapters, a)
				}
				for _, i := range tc.cordoned {
					p.adapters[i].cordoned = true
				}
				had := sum(tc.has)
				rng := rand.New(rand.NewPCG(*firstSeed, uint64(run)))
				placed := place(shuffled(rng, p), request{vpod: "x", size: 1, limit: tc.limit}, tc.policy, tc.replicas-had)
				var got []int
				for _, a := range p.adapters {
					got = append(got, countOn(a, "x"))
				}
				if diff := cmp.Diff(tc.want, got); diff != "" || placed != sum(tc.want)-had {
					t.Fatalf("run %d: %d placed, want %d; vreplicas by adapter (-want +got):\n%s", run, placed, sum(tc.want)-had, diff)
				}
			}
		})
	}
}

// hold gives an adapter n more vreplicas.
func (a *adapter) hold(vpod string, n int, terminating bool) {
	for range n {
		a.vreplicas = append(a.vreplicas, vreplica{vpod: vpod, size: 1, terminating: terminating})
	}
}

// at0 is an element, or 0 where the list is shorter.
func at0(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}

func sum(list []int) int {
	total := 0
	for _, n := range list {
		total += n
	}
	return total
}
