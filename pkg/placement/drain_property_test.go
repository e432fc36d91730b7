package placement_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// drain is a random drain of a pool: which ordinals are kept, and by what each vpod is placed.
type drain struct {
	pool     *pool
	kept     map[int]bool
	policies map[string]policy
	limits   map[string]int
}

// everyDrain checks a property on random drains of random clusters.
func everyDrain(t *testing.T, check func(rng *rand.Rand, d drain) error) {
	t.Helper()
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		d := randomDrain(rng, p)
		if err := check(rng, d); err != nil {
			return fmt.Errorf("keeping %v, policies %+v, limits %v: %w", d.kept, d.policies, d.limits, err)
		}
		return nil
	})
}

// randomDrain keeps the lower adapters mostly, and any others sometimes. In it all vreplicas need the same room.
func randomDrain(rng *rand.Rand, p *pool) drain {
	d := drain{pool: p, kept: map[int]bool{}, policies: map[string]policy{}, limits: map[string]int{}}
	var ordinals []int
	for _, a := range p.adapters {
		ordinals = append(ordinals, a.ordinal)
		for i := range a.vreplicas {
			a.vreplicas[i].size = 1
		}
	}
	slices.Sort(ordinals)
	end := rng.IntN(len(ordinals) + 1)
	for i, ordinal := range ordinals {
		d.kept[ordinal] = i < end
		if oneIn(rng, 12) {
			d.kept[ordinal] = !d.kept[ordinal]
		}
	}
	for _, vpod := range vpods {
		d.policies[vpod] = []policy{availability, maxFillUp}[rng.IntN(2)]
		if oneIn(rng, 2) {
			d.limits[vpod] = 1 + rng.IntN(4)
		}
	}
	return d
}

func (d drain) tenants() []placement.Tenant {
	var tenants []placement.Tenant
	for _, vpod := range vpods {
		tenants = append(tenants, placement.Tenant{VPod: vpodID(vpod), Rules: rules(d.policies[vpod]), Limit: d.limits[vpod]})
	}
	return tenants
}

func (d drain) keeps(built *placement.Pool) func(slot int) bool {
	return func(slot int) bool { return d.kept[built.At(slot).Ordinal] }
}

func (d drain) plan(built *placement.Pool) placement.Drain {
	return built.Drain(d.keeps(built), openOf(d.pool, built), d.tenants())
}

// The oracle takes the vreplicas off one after another, and places each anew by brute force in what is kept.
func TestSameDrainAsOracle(t *testing.T) {
	everyDrain(t, func(rng *rand.Rand, d drain) error {
		for _, vpod := range vpods {
			d.policies[vpod] = []policy{availability, maxFillUp, randomPolicy(rng)}[rng.IntN(3)]
		}
		wantMoves, wantStuck := d.byOracle()
		got := d.plan(build(d.pool))
		if !slices.Equal(got.Moves, wantMoves) {
			return fmt.Errorf("moves %v, want %v", got.Moves, wantMoves)
		}
		stuck := map[string]int{}
		for _, s := range got.Stuck {
			stuck[s.VPod.Name] = s.Vreplicas
		}
		if !reflect.DeepEqual(stuck, wantStuck) {
			return fmt.Errorf("stuck %v, want %v", stuck, wantStuck)
		}
		return nil
	})
}

func (d drain) byOracle() (moves []placement.Move, stuck map[string]int) {
	kept, left, stuck := &pool{}, map[string][]string{}, map[string]int{}
	highestFirst := slices.SortedFunc(slices.Values(d.pool.adapters), func(a, b *adapter) int {
		return cmp.Or(cmp.Compare(b.ordinal, a.ordinal), cmp.Compare(b.name, a.name))
	})
	for _, a := range highestFirst {
		if d.kept[a.ordinal] {
			copied := *a
			kept.adapters = append(kept.adapters, &copied)
			continue
		}
		for _, r := range a.vreplicas {
			if !r.terminating {
				left[r.vpod] = append(left[r.vpod], a.name)
			}
		}
	}
	inTurn := slices.SortedFunc(slices.Values(vpods), func(a, b string) int {
		noLimit := func(vpod string) int {
			if d.limits[vpod] == 0 {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(noLimit(a), noLimit(b)), cmp.Compare(d.limits[a], d.limits[b]),
			cmp.Compare(len(left[b]), len(left[a])), cmp.Compare(a, b))
	})
	for _, vpod := range inTurn {
		for k, from := range left[vpod] {
			r := request{vpod: vpod, size: 1, limit: d.limits[vpod]}
			to := oracle(kept, r, d.policies[vpod])
			if to == nil {
				stuck[vpod] = len(left[vpod]) - k
				break
			}
			moves = append(moves, placement.Move{VPod: vpodID(vpod), From: from, To: to.name})
			to.vreplicas = append(slices.Clone(to.vreplicas), vreplica{vpod: vpod, size: 1})
		}
	}
	return moves, stuck
}

// checkPlan says what no plan may do, whatever it is made from.
func (d drain) checkPlan(plan placement.Drain) error {
	after, accounted := d.pool.clone(), 0
	for _, m := range plan.Moves {
		from, to := d.pool.find(m.From), d.pool.find(m.To)
		if d.kept[from.ordinal] || !d.kept[to.ordinal] || !isOpen(to) {
			return fmt.Errorf("%+v is not from an adapter that leaves to one that is kept and open", m)
		}
		if err := after.move(m); err != nil {
			return err
		}
		if freeOn(after.find(m.To)) < 0 {
			return fmt.Errorf("%+v fills it beyond its capacity", m)
		}
		accounted++
	}
	for _, s := range plan.Stuck {
		accounted += s.Vreplicas
		if s.Reason == placement.NoRoom && int64(plan.Leaving) <= plan.Room {
			return fmt.Errorf("%s: %d leave, and there is room for %d", s, plan.Leaving, plan.Room)
		}
	}
	leaving := 0
	for _, a := range d.pool.adapters {
		for _, vpod := range vpods {
			if !d.kept[a.ordinal] {
				leaving += countOn(a, vpod)
			}
		}
	}
	if accounted != leaving || plan.Leaving != leaving {
		return fmt.Errorf("%d moves and stuck ones, said to be %d, want %d", accounted, plan.Leaving, leaving)
	}
	if plan.OK() && int64(leaving) > plan.Room {
		return fmt.Errorf("%d find places where there is room for %d", leaving, plan.Room)
	}
	return d.checkLimits(after)
}

// checkLimits: a vpod uses no more adapters than it may, or than it uses already.
func (d drain) checkLimits(after *pool) error {
	for vpod, limit := range d.limits {
		var before, kept []*adapter
		for _, a := range rightful(d.pool) {
			if d.kept[a.ordinal] {
				before = append(before, a)
				kept = append(kept, after.find(a.name))
			}
		}
		if used, most := usedBy(kept, vpod), max(limit, usedBy(before, vpod)); limit > 0 && used > most {
			return fmt.Errorf("%s uses %d adapters, want at most %d", vpod, used, most)
		}
	}
	return nil
}

func TestDrainMovesEachVreplicaOnceWithinCapacityAndLimit(t *testing.T) {
	everyDrain(t, func(_ *rand.Rand, d drain) error { return d.checkPlan(d.plan(build(d.pool))) })
}

// Without limits the shipped profiles find places for all if the sum fits, and only then.
func TestDrainWithoutLimitsIsAMatterOfRoom(t *testing.T) {
	everyDrain(t, func(_ *rand.Rand, d drain) error {
		clear(d.limits)
		if plan := d.plan(build(d.pool)); plan.OK() != (int64(plan.Leaving) <= plan.Room) {
			return fmt.Errorf("%d leave, there is room for %d, and stuck are %v", plan.Leaving, plan.Room, plan.Stuck)
		}
		return nil
	})
}

func TestDrainLeavesThePoolAsItIs(t *testing.T) {
	everyDrain(t, func(rng *rand.Rand, d drain) error {
		built, scratch, r := build(d.pool), build(d.pool), randomRequest(rng)
		d.plan(built)
		return same(look(d.pool, scratch, tally(d.pool, scratch, r)), look(d.pool, built, tally(d.pool, built, r)))
	})
}

func TestDrainDoesNotDependOnAnyOrder(t *testing.T) {
	everyDrain(t, func(rng *rand.Rand, d drain) error {
		built, first := build(shuffled(rng, d.pool)), d.plan(build(d.pool))
		tenants := d.tenants()
		slices.Reverse(tenants)
		if again := built.Drain(d.keeps(built), openOf(d.pool, built), tenants); !reflect.DeepEqual(first, again) {
			return fmt.Errorf("plan %+v, and in another order %+v", first, again)
		}
		return nil
	})
}
