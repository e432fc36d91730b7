package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

func TestVictimsLeaveThePoolAsItIs(t *testing.T) {
	everyRemoval(t, func(rng *rand.Rand, p *pool, candidates []placement.Candidate, n int) error {
		built, r := build(p), randomRequest(rng)
		before := look(p, built, tally(p, built, r))
		built.Victims(candidates, n, randomRemoval(rng))
		return same(before, look(p, built, tally(p, built, r)))
	})
}

// No other choice among the serving ones leaves the zones more even.
func TestVictimsLeaveZonesAsEvenAsCanBe(t *testing.T) {
	everyRemoval(t, func(_ *rand.Rand, p *pool, candidates []placement.Candidate, n int) error {
		perZone := map[string]int{}
		for _, v := range recount(p, candidates) {
			if v.Standing == placement.Serving {
				perZone[p.find(v.Adapter).zone]++
			}
		}
		before, removed := sortedCounts(perZone), 0
		for _, v := range build(p).Victims(candidates, n, placement.Availability.Weights) {
			if v.Standing == placement.Serving {
				perZone[p.find(v.Adapter).zone]--
				removed++
			}
		}
		if got, want := sortedCounts(perZone), mostEven(before, removed); !slices.Equal(got, want) {
			return fmt.Errorf("%d of zones %v leave %v, want %v", removed, before, got, want)
		}
		return nil
	})
}

// sortedCounts lists the fullest first.
func sortedCounts(perDomain map[string]int) []int {
	var counts []int
	for _, n := range perDomain {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	return counts
}

// mostEven tries every way to take n from the counts, and returns the least result, the fullest compared first.
func mostEven(counts []int, n int) []int {
	if n == 0 {
		return counts
	}
	var best []int
	for i, c := range counts {
		if c == 0 || i > 0 && c == counts[i-1] { // the same as the one before
			continue
		}
		fewer := slices.Clone(counts)
		fewer[i]--
		slices.Sort(fewer)
		slices.Reverse(fewer)
		if tried := mostEven(fewer, n-1); best == nil || slices.Compare(tried, best) < 0 {
			best = tried
		}
	}
	return best
}

func TestVictimsByOrdinalEmptyTheTop(t *testing.T) {
	everyRemoval(t, func(rng *rand.Rand, p *pool, candidates []placement.Candidate, n int) error {
		w := placement.Weights{placement.LowestOrdinal: 1 + rng.Int64N(5)}
		if oneIn(rng, 2) {
			w = placement.MaxFillUp.Weights
		}
		left := slices.Clone(candidates)
		for _, v := range build(p).Victims(candidates, n, w) {
			left = slices.DeleteFunc(left, func(c placement.Candidate) bool { return c == v.Candidate })
			for _, other := range recount(p, left) {
				if other.Standing == v.Standing && other.Ordinal > v.Ordinal {
					return fmt.Errorf("by %v %v goes before %v", w, v, other)
				}
			}
		}
		return nil
	})
}

// Where all zones, and all hosts, are of one size, a vpod that was placed evenly stays even when it shrinks, and when it
// grows again.
func TestAddingAfterRemovingIsEvenAgain(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, _ *pool) error {
		p, r := evenPool(rng), request{vpod: "x", size: 1}
		n := rng.IntN(2*len(p.adapters) + 2)
		placed := place(p, r, availability, n)
		removed := rng.IntN(n + 1)
		for _, v := range build(p).Victims(candidatesOf(p), removed, placement.Availability.Weights) {
			a := p.find(v.Adapter)
			a.vreplicas = a.vreplicas[1:]
		}
		if err := isEven(p, "x", n-removed); placed != n || err != nil {
			return fmt.Errorf("%d of %d placed, %d removed: %w\n%v", placed, n, removed, err, p)
		}
		place(p, r, availability, removed)
		if err := isEven(p, "x", n); err != nil {
			return fmt.Errorf("%d placed, %d removed and added: %w\n%v", n, removed, err, p)
		}
		return nil
	})
}

// evenPool has as many hosts in each zone, and as many adapters on each host.
func evenPool(rng *rand.Rand) *pool {
	var at []string
	zones, hosts, adapters := 1+rng.IntN(3), 1+rng.IntN(3), 1+rng.IntN(2)
	for zone := range zones {
		for host := range hosts {
			for range adapters {
				at = append(at, fmt.Sprintf("z%d/z%d-h%d", zone, zone, host))
			}
		}
	}
	rng.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	return located(at...)
}

func candidatesOf(p *pool) []placement.Candidate {
	var candidates []placement.Candidate
	for _, a := range p.adapters {
		for range a.vreplicas {
			i := len(candidates)
			candidates = append(candidates, placement.Candidate{ID: fmt.Sprintf("x-%d", i), Index: i, Adapter: a.name, Ready: true})
		}
	}
	return candidates
}

func isEven(p *pool, vpod string, want int) error {
	for topology, domain := range domainsOf {
		perDomain := map[string]int{}
		for _, a := range p.adapters {
			perDomain[domain(a)] += countOn(a, vpod)
		}
		if counts := sortedCounts(perDomain); counts[0]-counts[len(counts)-1] > 1 || sum(counts) != want {
			return fmt.Errorf("at level %d there are %v, want %d evenly", topology, counts, want)
		}
	}
	return nil
}
