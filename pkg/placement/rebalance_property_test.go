package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// everyRebalance checks a property on random vpods in random clusters. The hard rules are any, the preferences those of the
// profiles that are shipped.
func everyRebalance(t *testing.T, check func(rng *rand.Rand, p *pool, r request, want policy) error) {
	t.Helper()
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		for _, a := range p.adapters {
			for i := range a.vreplicas {
				a.vreplicas[i].size = 1
			}
		}
		r, want := randomRequest(rng), []policy{availability, maxFillUp, randomPolicy(rng)}[rng.IntN(3)]
		r.size = 1
		if err := check(rng, p, r, want); err != nil {
			return fmt.Errorf("%+v by %+v: %w", r, want, err)
		}
		return nil
	})
}

// The oracle asks where one more would go, and takes the first of the vpod's adapters, the worst first, that is worse than
// that for the vreplica that is moved, and without which it may still go there.
func TestSameImprovementAsOracle(t *testing.T) {
	everyRebalance(t, func(_ *rand.Rand, p *pool, r request, want policy) error {
		wantMove, wantFound := improvementByOracle(p, r, want)
		got, found := improvement(p, r, want)
		if found != wantFound || got.Move != wantMove {
			return fmt.Errorf("%v (found %t), want %v (%t)", got, found, wantMove, wantFound)
		}
		return nil
	})
}

func improvementByOracle(p *pool, r request, want policy) (placement.Move, bool) {
	to := oracle(p, r, want)
	if to == nil {
		return placement.Move{}, false
	}
	serving := slices.DeleteFunc(rightful(p), func(a *adapter) bool { return countOn(a, r.vpod) == 0 || !isOpen(a) })
	slices.SortFunc(serving, func(a, b *adapter) int {
		return slices.Compare(want.preference(rightful(p), r.vpod, b), want.preference(rightful(p), r.vpod, a))
	})
	for _, a := range serving {
		without := p.clone()
		from := without.find(a.name)
		from.vreplicas = slices.DeleteFunc(from.vreplicas, func(v vreplica) bool { return v.vpod == r.vpod && !v.terminating })
		for range countOn(a, r.vpod) - 1 {
			from.bind(r)
		}
		adapters, there := rightful(without), without.find(to.name)
		better := slices.Compare(want.preference(adapters, r.vpod, there), want.preference(adapters, r.vpod, from)) < 0
		if better && want.allows(adapters, eligibleOf(adapters, r), r.vpod, there) {
			return placement.Move{VPod: vpodID(r.vpod), From: a.name, To: to.name}, true
		}
	}
	return placement.Move{}, false
}

// potential is what each move lessens, most important first.
func potential(p *pool, vpod string, want policy) []int {
	adapters := rightful(p)
	ordinals := 0
	for _, a := range adapters {
		ordinals += a.ordinal * countOn(a, vpod)
	}
	if want.fill {
		return []int{usedBy(adapters, vpod), ordinals}
	}
	squares := func(domain domainOf) int {
		counts, sum := map[string]int{}, 0
		for _, a := range adapters {
			counts[domain(a)] += countOn(a, vpod)
		}
		for _, n := range counts {
			sum += n * n
		}
		return sum
	}
	return []int{squares(zoneOf), squares(hostOf), squares(itself), ordinals}
}

// step carries out the next move, and says what no move may do.
func step(p *pool, r request, want policy) (moved bool, err error) {
	m, found := improvement(p, r, want)
	if !found {
		return false, nil
	}
	from, to, before := p.find(m.From), p.find(m.To), potential(p, r.vpod, want)
	used, serves := usedBy(rightful(p), r.vpod), countOn(to, r.vpod) > 0
	switch {
	case !isOpen(from) || !isOpen(to):
		return false, fmt.Errorf("%s, and one is not open", m)
	case freeOn(to) < 1:
		return false, fmt.Errorf("%s, which has no room", m)
	case r.limit > 0 && !serves && used >= r.limit:
		return false, fmt.Errorf("%s, with %d adapters in use", m, used)
	}
	if err := p.move(m.Move); err != nil {
		return false, err
	}
	if after := potential(p, r.vpod, want); slices.Compare(after, before) >= 0 {
		return false, fmt.Errorf("%s: potential %v, before %v", m, after, before)
	}
	return true, nil
}

// Each vpod moves by its own profile, and they take turns.
func TestEachMoveLessensThePotentialUntilAFixedPoint(t *testing.T) {
	everyRebalance(t, func(rng *rand.Rand, p *pool, r request, want policy) error {
		requests, policies := map[string]request{}, map[string]policy{}
		for _, vpod := range vpods {
			requests[vpod], policies[vpod] = randomRequest(rng), []policy{availability, maxFillUp, randomPolicy(rng)}[rng.IntN(3)]
		}
		requests[r.vpod], policies[r.vpod] = r, want
		for still, rounds := true, 0; still; rounds++ {
			if still = false; rounds > 200 {
				return fmt.Errorf("no fixed point after %d rounds", rounds)
			}
			for _, vpod := range vpods {
				moved, err := step(p, request{vpod: vpod, size: 1, limit: requests[vpod].limit}, policies[vpod])
				if err != nil {
					return err
				}
				still = still || moved
			}
		}
		for _, vpod := range vpods {
			r := request{vpod: vpod, size: 1, limit: requests[vpod].limit}
			if m, found := improvement(shuffled(rng, p), r, policies[vpod]); found {
				return fmt.Errorf("%s at the fixed point", m)
			}
		}
		return nil
	})
}

// A vpod whose vreplicas have been spread one by one, in a pool where nothing else happens, is where it belongs. Packing is
// another matter: an adapter that was the last resort is one to pack on from then on.
func TestWhatWasSpreadStays(t *testing.T) {
	everyRebalance(t, func(rng *rand.Rand, p *pool, r request, _ policy) error {
		for _, a := range p.adapters {
			a.vreplicas = slices.DeleteFunc(a.vreplicas, func(v vreplica) bool { return v.vpod == r.vpod && !v.terminating })
			if a.zone == "" {
				a.host = "" // A host is in one zone only.
			}
		}
		n := place(p, r, availability, rng.IntN(12))
		if m, found := improvement(p, r, availability); found {
			return fmt.Errorf("%d were spread, and then %s", n, m)
		}
		return nil
	})
}

func TestRebalanceDoesNotDependOnTheOrderOfPutAndLeavesThePool(t *testing.T) {
	everyRebalance(t, func(rng *rand.Rand, p *pool, r request, want policy) error {
		first, found := improvement(p, r, want)
		mixed := shuffled(rng, p)
		built := build(mixed)
		asked := placement.Request{VPod: vpodID(r.vpod), Size: 1, Limit: r.limit, Open: openOf(mixed, built)}
		for range 2 {
			if again, foundAgain := built.Rebalance(asked, rules(want)); again != first || foundAgain != found {
				return fmt.Errorf("%v (found %t), and in another order %v (%t)", first, found, again, foundAgain)
			}
		}
		return nil
	})
}

func FuzzRebalance(f *testing.F) {
	f.Add([]byte{0x31, 0x07, 0x52, 0x19}, uint8(2), true, uint8(0))
	f.Add([]byte{0xff, 0x00, 0x83, 0x7c, 0x7c, 0x7c}, uint8(0), false, uint8(2))
	f.Fuzz(func(t *testing.T, adapters []byte, limit uint8, fill bool, cordoned uint8) {
		if len(adapters) > 24 {
			t.Skip("more of the same")
		}
		p, want := &pool{}, availability
		if fill {
			want = maxFillUp
		}
		for i, b := range adapters {
			a := &adapter{name: fmt.Sprint("a-", i), ordinal: i, zone: fmt.Sprint(b & 3), capacity: int64(b >> 4)}
			a.host, a.cordoned = fmt.Sprint(a.zone, b&4), i == int(cordoned)
			for n := range int(b>>2) & 7 {
				a.vreplicas = append(a.vreplicas, vreplica{vpod: vpods[n%2], size: 1, terminating: n == 5})
			}
			p.adapters = append(p.adapters, a)
		}
		r := request{vpod: vpods[0], size: 1, limit: int(limit) % 8}
		for moved, moves := true, 0; moved; moves++ {
			var err error
			if moved, err = step(p, r, want); err != nil || moves > 24*7*24 {
				t.Fatalf("%v%+v: after %d moves: %v", p, r, moves, err)
			}
		}
	})
}
