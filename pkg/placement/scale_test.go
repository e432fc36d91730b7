package placement_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// spot is an adapter with count vreplicas of x. At this scale the model with its single vreplicas is too large.
type spot struct {
	ordinal, zone, host, count int
}

func (s spot) name() string { return fmt.Sprintf("a-%d", s.ordinal) }

func buildSpots(spots []spot) *placement.Pool {
	built := placement.NewPool()
	for _, s := range spots {
		built.Put(placement.Adapter{
			Name: s.name(), Ordinal: s.ordinal, Zone: fmt.Sprint(s.zone), Host: fmt.Sprint(s.host), Capacity: 1000, Free: 10,
		}, map[placement.VPod]int{vpodID("x"): s.count})
	}
	return built
}

// byPreference sorts by zone count, host count, count and ordinal.
func byPreference(spots []spot) []spot {
	inZone, onHost := map[int]int{}, map[int]int{}
	for _, s := range spots {
		inZone[s.zone] += s.count
		onHost[s.host] += s.count
	}
	return slices.SortedFunc(slices.Values(spots), func(a, b spot) int {
		return cmp.Or(
			cmp.Compare(inZone[a.zone], inZone[b.zone]),
			cmp.Compare(onHost[a.host], onHost[b.host]),
			cmp.Compare(a.count, b.count),
			cmp.Compare(a.ordinal, b.ordinal),
		)
	})
}

// soleWinner ranks the spots, and fails unless one alone has the highest total and all scores are in range.
func soleWinner(t *testing.T, built *placement.Pool, tallied *placement.Tally, spots []spot, w placement.Weights) string {
	t.Helper()
	slots := make([]int, len(spots))
	for k, s := range spots {
		slots[k], _ = built.Slot(s.name())
	}
	for k, scores := range tallied.Rank(slots) {
		for criterion, score := range scores {
			if score < 0 || score > placement.MaxScore {
				t.Fatalf("%s scores %d by criterion %d, want 0 to %d", spots[k].name(), score, criterion, placement.MaxScore)
			}
		}
	}
	names := winners(built, tallied, slots, w)
	if len(names) != 1 {
		t.Fatalf("%d winners, want one: %v", len(names), names)
	}
	return names[0]
}

func TestLexicographicAt10000Adapters(t *testing.T) {
	const adapters, counts, runs = 10_000, 400, 20
	tests := map[string]struct{ zones, hosts int }{
		"3 zones, a host for each": {zones: 3, hosts: adapters},
		"3 zones, 21 hosts":        {zones: 3, hosts: 21},
		"500 zones, 2000 hosts":    {zones: 500, hosts: 2000},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(*firstSeed, 0))
			var spots []spot
			for ordinal := range adapters {
				host := rng.IntN(tc.hosts)
				spots = append(spots, spot{ordinal: ordinal, zone: host % tc.zones, host: host, count: rng.IntN(counts)})
			}
			ordered := byPreference(spots)
			fewest := slices.IndexFunc(ordered, func(s spot) bool { return s.count == 0 })
			for run := range runs {
				rng.Shuffle(len(spots), func(i, j int) { spots[i], spots[j] = spots[j], spots[i] })
				built := buildSpots(spots)
				tallied := built.Tally(placement.Request{VPod: vpodID("x"), Size: 1})
				if better := []int{0, 1, 50, 5000, 9000}; run < len(better) {
					// The rest of the order shows as the winner of what remains.
					rest := ordered[better[run]:]
					if got, want := soleWinner(t, built, tallied, rest, placement.Availability.Weights), rest[0].name(); got != want {
						t.Fatalf("run %d, without the best %d: %s wins, want %s", run, better[run], got, want)
					}
				}
				for want, rules := range map[spot]placement.Rules{
					ordered[0]:      {Weights: placement.Availability.Weights},
					ordered[fewest]: placement.Availability,
				} {
					if slot, ok := tallied.Choose(rules); !ok || built.At(slot).Name != want.name() {
						t.Fatalf("run %d: %s chosen with max skew %v, want %s", run, built.At(slot).Name, rules.MaxSkew, want.name())
					}
				}
			}
		})
	}
}

// A hundred hosts and more have fewer vreplicas than the best one, all in a worse zone, so that a plain ranking would run
// out of scores and give the best one's host and the next one's the same.
func TestLexicographicWhereWinnerHasHighRank(t *testing.T) {
	tests := map[string]struct {
		// below is the number of hosts with 0, 1, 2, ... vreplicas in the worse zone.
		below  int
		rivals []spot
		want   string
	}{
		"101 values, host 99 < 100, ordinal 9 > 3": {
			below: 99, rivals: []spot{{ordinal: 9, zone: 1, host: 1, count: 99}, {ordinal: 3, zone: 1, host: 2, count: 100}}, want: "a-9",
		},
		"102 values, host 100 < 101, ordinal 9 > 3": {
			below: 100, rivals: []spot{{ordinal: 9, zone: 1, host: 1, count: 100}, {ordinal: 3, zone: 1, host: 2, count: 101}}, want: "a-9",
		},
		"152 values, host 150 < 151, ordinal 9 > 3": {
			below: 150, rivals: []spot{{ordinal: 9, zone: 1, host: 1, count: 150}, {ordinal: 3, zone: 1, host: 2, count: 151}}, want: "a-9",
		},
		"host 301 = 301, adapter 150 < 151 < 301, ordinal 9 > 5 > 3": {
			below: 150, rivals: []spot{
				{ordinal: 9, zone: 1, host: 1, count: 150}, {ordinal: 5, zone: 1, host: 1, count: 151}, {ordinal: 3, zone: 1, host: 2, count: 301},
			}, want: "a-9",
		},
		"host 150 = 150, ordinal 3 < 9": {
			below: 150, rivals: []spot{{ordinal: 9, zone: 1, host: 1, count: 150}, {ordinal: 3, zone: 1, host: 2, count: 150}}, want: "a-3",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spots := tc.rivals
			for n := range tc.below {
				spots = append(spots, spot{ordinal: 1000 + n, zone: 2, host: 1000 + n, count: n})
			}
			built := buildSpots(spots)
			tallied := built.Tally(placement.Request{VPod: vpodID("x"), Size: 1})
			if got := soleWinner(t, built, tallied, spots, placement.Availability.Weights); got != tc.want {
				t.Errorf("%s wins, want %s", got, tc.want)
			}
		})
	}
}
