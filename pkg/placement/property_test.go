package placement_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func nameOf(a *adapter) string {
	if a == nil {
		return ""
	}
	return a.name
}

func TestSameAdapterAsOracle(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		built := build(p)
		for range 2 {
			r := randomRequest(rng)
			for _, want := range []policy{availability, maxFillUp, randomPolicy(rng), randomPolicy(rng)} {
				if got, wantName := choose(p, built, r, want), nameOf(oracle(p, r, want)); got != wantName {
					return fmt.Errorf("%+v by %+v goes to %q, want %q", r, want, got, wantName)
				}
			}
		}
		return nil
	})
}

// G2: with one hard level at most, and no minimum of domains, an eligible adapter is enough.
func TestEligibleMeansPlaced(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, one := randomRequest(rng), level{maxSkew: 1 + rng.IntN(3)}
		built, eligible := build(p), len(eligibleOf(rightful(p), r)) > 0
		for _, want := range []policy{{zone: one}, {host: one}, {adapter: one}, availability, maxFillUp} {
			if got := choose(p, built, r, want) != ""; got != eligible {
				return fmt.Errorf("%+v by %+v: placed %t, an adapter is eligible %t", r, want, got, eligible)
			}
		}
		return nil
	})
}

func TestOrderOfPutDoesNotMatter(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, want := randomRequest(rng), []policy{availability, maxFillUp, randomPolicy(rng)}[rng.IntN(3)]
		first := choose(p, build(p), r, want)
		for range 3 {
			if again := choose(p, build(shuffled(rng, p)), r, want); again != first {
				return fmt.Errorf("%+v by %+v goes to %q, and to %q with adapters put in another order", r, want, first, again)
			}
		}
		return nil
	})
}

func TestSkewNeverGrowsBeyondMaxSkew(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, want := randomRequest(rng), randomPolicy(rng)
		for range 4 {
			before := p.clone()
			a := p.find(choose(p, build(p), r, want))
			if a == nil {
				return nil
			}
			a.bind(r)
			for k, rule := range want.levels() {
				if rule.maxSkew == 0 {
					continue
				}
				was, is := skews(before, r, rule.domain), skews(p, r, rule.domain)
				if was[rule.domain(a)]+1 > rule.maxSkew {
					return fmt.Errorf("%+v by %+v on %s: skew %d at level %d", r, want, a.name, was[rule.domain(a)]+1, k)
				}
				for domain := range is {
					if is[domain] > max(rule.maxSkew, was[domain]) {
						return fmt.Errorf("%+v by %+v on %s: skew of %s from %d to %d", r, want, a.name, domain, was[domain], is[domain])
					}
				}
			}
		}
		return nil
	})
}

// skews says how far each domain is ahead of the least one that holds an eligible adapter; it is empty where none is.
func skews(p *pool, r request, domain domainOf) map[string]int {
	ahead, adapters := map[string]int{}, rightful(p)
	eligible := eligibleOf(adapters, r)
	if len(eligible) == 0 {
		return ahead
	}
	for _, a := range adapters {
		ahead[domain(a)] = countIn(adapters, r.vpod, domain, domain(a)) - least(adapters, eligible, r.vpod, domain)
	}
	return ahead
}

func TestWholeVPodsEndAsOracleEnds(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		expected := p.clone()
		for range 2 {
			r, want, n := randomRequest(rng), []policy{availability, maxFillUp, randomPolicy(rng)}[rng.IntN(3)], 1+rng.IntN(6)
			placed, wantPlaced := place(p, r, want, n), 0
			for range n {
				if a := oracle(expected, r, want); a != nil {
					a.bind(r)
					wantPlaced++
				}
			}
			if placed != wantPlaced || !reflect.DeepEqual(expected, p) {
				return fmt.Errorf("%d of %+v by %+v: placed %d, want %d (-want +got):\n%s",
					n, r, want, placed, wantPlaced, cmp.Diff(expected.String(), p.String()))
			}
		}
		return nil
	})
}
