package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// Contenders are, of the eligible adapters that pass the hard rules, the lowest ordinal of those alike in the counts of
// zone, host and adapter; and no other.
func TestContendersAreTheLowestOrdinalOfEachClass(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, hard, built, adapters := randomRequest(rng), randomPolicy(rng), build(p), rightful(p)
		eligible := eligibleOf(adapters, r)
		var want []string
		for _, a := range eligible {
			if !hard.allows(adapters, eligible, r.vpod, a) {
				continue
			}
			beaten := slices.ContainsFunc(eligible, func(b *adapter) bool {
				x, y := availability.preference(adapters, r.vpod, a), availability.preference(adapters, r.vpod, b)
				return slices.Equal(x[:3], y[:3]) && b.ordinal < a.ordinal
			})
			if !beaten {
				want = append(want, a.name)
			}
		}
		slices.Sort(want)
		if got := namesOf(built, tally(p, built, r).Contenders(rules(hard))); !slices.Equal(want, got) {
			return fmt.Errorf("%+v by %+v has contenders %v, want %v", r, hard, got, want)
		}
		return nil
	})
}

func namesOf(built *placement.Pool, slots []int) []string {
	var names []string
	for _, slot := range slots {
		names = append(names, built.At(slot).Name)
	}
	slices.Sort(names)
	return names
}

// The narrowing to contenders changes no outcome, whatever the rules and the weights, as long as the ordinal counts.
func TestContendersHoldEveryWinner(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, hard := randomRequest(rng), randomPolicy(rng)
		weights := randomWeights(rng)
		built := build(p)
		tallied := tally(p, built, r)

		adapters := rightful(p)
		eligible := eligibleOf(adapters, r)
		var passed []int
		for _, a := range eligible {
			if slot, _ := built.Slot(a.name); hard.allows(adapters, eligible, r.vpod, a) {
				passed = append(passed, slot)
			}
		}
		want, got := winners(built, tallied, passed, weights), winners(built, tallied, tallied.Contenders(rules(hard)), weights)
		if !slices.Equal(want, got) {
			return fmt.Errorf("%+v by %+v and weights %v: winners %v of all, %v of the contenders", r, hard, weights, want, got)
		}
		return nil
	})
}

func randomWeights(rng *rand.Rand) placement.Weights {
	var w placement.Weights
	for c := range w {
		switch rng.IntN(4) {
		case 0:
			w[c] = rng.Int64N(3)
		case 1:
			w[c] = rng.Int64N(placement.Base)
		case 2:
			w[c] = rng.Int64N(placement.Base * placement.Base * placement.Base)
		}
	}
	w[placement.LowestOrdinal] = max(1, w[placement.LowestOrdinal])
	return w
}

// winners names the adapters with the highest total, in the order of their names.
func winners(built *placement.Pool, tallied *placement.Tally, slots []int, w placement.Weights) []string {
	var names []string
	best := int64(-1)
	for k, scores := range tallied.Rank(slots) {
		switch total := scores.Total(w); {
		case total > best:
			best, names = total, []string{built.At(slots[k]).Name}
		case total == best:
			names = append(names, built.At(slots[k]).Name)
		}
	}
	slices.Sort(names)
	return names
}

// Choose takes a winner by any weights, and the lowest ordinal where they leave several equal.
func TestChooseTakesTheLowestWinner(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, built, weights := randomRequest(rng), build(p), randomWeights(rng)
		if oneIn(rng, 2) {
			weights[placement.LowestOrdinal] = 0
		}
		tallied := tally(p, built, r)
		want := ""
		for _, name := range winners(built, tallied, tallied.Contenders(placement.Rules{}), weights) {
			if want == "" || p.find(name).ordinal < p.find(want).ordinal {
				want = name
			}
		}
		got := ""
		if slot, ok := tallied.Choose(placement.Rules{Weights: weights}); ok {
			got = built.At(slot).Name
		}
		if got != want {
			return fmt.Errorf("%+v by weights %v goes to %q, want %q", r, weights, got, want)
		}
		return nil
	})
}
