package placement_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// rebalance carries out one move after another, until there is none. The words are those of the first.
func rebalance(t *testing.T, p *pool, r request, want policy) (moves int, words string) {
	t.Helper()
	for ; moves < 100; moves++ {
		m, found := improvement(p, r, want)
		if !found {
			return moves, words
		}
		if words == "" {
			words = m.String()
		}
		if err := p.move(m.Move); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no end of moves")
	return 0, ""
}

func improvement(p *pool, r request, want policy) (placement.Improvement, bool) {
	built := build(p)
	asked := placement.Request{VPod: vpodID(r.vpod), Size: r.size, Limit: r.limit, Open: openOf(p, built)}
	return built.Rebalance(asked, rules(want))
}

func TestRebalanceMovesUntilNothingIsBetter(t *testing.T) {
	three := []string{"z1/h1", "z2/h2", "z3/h3"}
	for name, tc := range map[string]struct {
		policy    policy
		capacity  int64
		at        []string
		has       map[string][]int
		cordoned  []int
		limit     int
		want      []int
		wantMoves int
		wantWords string
	}{
		"C26 a zone is back": {
			policy: availability, capacity: 10, at: three, has: map[string][]int{"x": {3, 3, 0}}, want: []int{2, 2, 2}, wantMoves: 2,
			wantWords: "from a-1 (beside it 2 in the zone, 2 on the host, 2 on the adapter; ordinal 1) " +
				"to a-2 (beside it 0 in the zone, 0 on the host, 0 on the adapter; ordinal 2)",
		},
		"even already": {
			policy: availability, capacity: 10, at: three, has: map[string][]int{"x": {2, 1, 1}}, want: []int{2, 1, 1},
		},
		"one more on a higher ordinal": {
			policy: availability, capacity: 10, at: three, has: map[string][]int{"x": {1, 1, 2}}, want: []int{2, 1, 1}, wantMoves: 1,
			wantWords: "from a-2 (beside it 1 in the zone, 1 on the host, 1 on the adapter; ordinal 2) " +
				"to a-0 (beside it 1 in the zone, 1 on the host, 1 on the adapter; ordinal 0)",
		},
		"hosts within a zone": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z1/h1", "z1/h2"}, has: map[string][]int{"x": {2, 2, 0}},
			want: []int{1, 1, 2}, wantMoves: 2,
			wantWords: "from a-1 (beside it 3 in the zone, 3 on the host, 1 on the adapter; ordinal 1) " +
				"to a-2 (beside it 3 in the zone, 0 on the host, 0 on the adapter; ordinal 2)",
		},
		"C5 5/0 ends as 3/2": {
			policy: availability, capacity: 10, at: []string{"z1/h1", "z1/h2"}, has: map[string][]int{"x": {5, 0}}, want: []int{3, 2},
			wantMoves: 2,
			wantWords: "from a-0 (beside it 4 in the zone, 4 on the host, 4 on the adapter; ordinal 0) " +
				"to a-1 (beside it 4 in the zone, 0 on the host, 0 on the adapter; ordinal 1)",
		},
		"the better one is full": {
			policy: availability, capacity: 4, at: three, has: map[string][]int{"x": {3, 2, 0}, "y": {0, 0, 4}},
			want: []int{3, 2, 0},
		},
		"the better one is cordoned": {
			policy: availability, capacity: 9, at: three, has: map[string][]int{"x": {2, 2, 0}}, cordoned: []int{2},
			want: []int{2, 2, 0},
		},
		"a cordoned one keeps what it has": {
			policy: availability, capacity: 9, at: three, has: map[string][]int{"x": {1, 1, 4}}, cordoned: []int{2},
			want: []int{1, 1, 4},
		},
		"at the limit only between those in use": {
			policy: availability, capacity: 9, at: three, has: map[string][]int{"x": {1, 5, 0}}, limit: 2,
			want: []int{3, 3, 0}, wantMoves: 2,
			wantWords: "from a-1 (beside it 4 in the zone, 4 on the host, 4 on the adapter; ordinal 1) " +
				"to a-0 (beside it 1 in the zone, 1 on the host, 1 on the adapter; ordinal 0)",
		},
		"on one adapter and at the limit of one": {
			policy: availability, capacity: 9, at: three, has: map[string][]int{"x": {0, 3, 0}}, limit: 1, want: []int{0, 3, 0},
		},
		"above the limit those in use still take more": {
			policy: maxFillUp, capacity: 9, at: three, has: map[string][]int{"x": {2, 1, 1}}, limit: 1,
			want: []int{4, 0, 0}, wantMoves: 2,
			wantWords: "from a-2 (beside it 0 in the zone, 0 on the host, 0 on the adapter; ordinal 2) " +
				"to a-0 (beside it 2 in the zone, 2 on the host, 2 on the adapter; ordinal 0)",
		},
		"packed into the lowest in use, the highest first": {
			policy: maxFillUp, capacity: 4, at: three, has: map[string][]int{"x": {1, 2, 1}}, want: []int{4, 0, 0}, wantMoves: 3,
			wantWords: "from a-2 (beside it 0 in the zone, 0 on the host, 0 on the adapter; ordinal 2) " +
				"to a-0 (beside it 1 in the zone, 1 on the host, 1 on the adapter; ordinal 0)",
		},
		"packed on one adapter it stays, though a lower one is free": {
			policy: maxFillUp, capacity: 4, at: three, has: map[string][]int{"x": {0, 0, 3}}, want: []int{0, 0, 3},
		},
		"packed, and all lower ones are full": {
			policy: maxFillUp, capacity: 4, at: three, has: map[string][]int{"x": {4, 4, 3}}, want: []int{4, 4, 3},
		},
		// While the old one is there, the new one goes to the other zone, from where nothing is gained. This is what the
		// scheduler would do, so the free host in the same zone, which would be better, is not for the asking.
		"the scheduler would put it where it is no better": {
			policy: availability, capacity: 9, at: []string{"z1/h1", "z1/h1", "z1/h2", "z2/h3", "z2/h3"},
			has: map[string][]int{"x": {1, 1, 0, 1, 0}}, want: []int{1, 1, 0, 1, 0},
		},
		// Two on each adapter is what the rules allow: a third one in the zone with fewer would have to go back.
		"even over adapters comes before even over zones": {
			policy: availability, capacity: 9, at: []string{"z1/h1", "z1/h2", "z2/h3"}, has: map[string][]int{"x": {2, 2, 2}},
			want: []int{2, 2, 2},
		},
		"a vpod without vreplicas": {
			policy: availability, capacity: 9, at: three, has: map[string][]int{"y": {2, 0, 0}}, want: []int{0, 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := spread(tc.capacity, tc.at, tc.has)
			for _, ordinal := range tc.cordoned {
				p.adapters[ordinal].cordoned = true
			}
			moves, words := rebalance(t, p, request{vpod: "x", size: 1, limit: tc.limit}, tc.policy)
			got := make([]int, len(tc.at))
			copy(got, countsOf(p)["x"])
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("vreplicas (-want +got):\n%s", diff)
			}
			if moves != tc.wantMoves || words != tc.wantWords {
				t.Errorf("%d moves, the first %q, want %d, %q", moves, words, tc.wantMoves, tc.wantWords)
			}
		})
	}
}
