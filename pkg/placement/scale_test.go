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

// More than 101 hosts have fewer vreplicas than the best one, all in a worse zone, so that a plain ranking would give the
// best one's host and the next one's the same score.
func TestLexicographicWhereWinnerHasHighRank(t *testing.T) {
	const below = 150
	crowd := func() (spots []spot) {
		for n := range below {
			spots = append(spots, spot{ordinal: 1000 + n, zone: 2, host: 1000 + n, count: n})
		}
		return spots
	}
	tests := map[string]struct {
		rivals []spot
		want   string
	}{
		"host 150 < 151, ordinal 9 > 3": {
			rivals: []spot{{ordinal: 9, zone: 1, host: 1, count: below}, {ordinal: 3, zone: 1, host: 2, count: below + 1}},
			want:   "a-9",
		},
		"host 151 = 151, adapter 150 < 151, ordinal 9 > 3": {
			rivals: []spot{
				{ordinal: 9, zone: 1, host: 1, count: below}, {ordinal: 5, zone: 1, host: 1, count: below + 1},
				{ordinal: 3, zone: 1, host: 2, count: 2*below + 1},
			},
			want: "a-9",
		},
		"host 150 = 150, ordinal 3 < 9": {
			rivals: []spot{{ordinal: 9, zone: 1, host: 1, count: below}, {ordinal: 3, zone: 1, host: 2, count: below}},
			want:   "a-3",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spots := append(tc.rivals, crowd()...)
			built := buildSpots(spots)
			tallied := built.Tally(placement.Request{VPod: vpodID("x"), Size: 1})
			if got := soleWinner(t, built, tallied, spots, placement.Availability.Weights); got != tc.want {
				t.Errorf("%s wins, want %s", got, tc.want)
			}
		})
	}
}
