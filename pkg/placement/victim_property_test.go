package placement_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// randomCandidates are vreplicas of one vpod: on adapters that are ready or not, on adapters that are gone, and not bound.
// Some share an index.
func randomCandidates(rng *rand.Rand, p *pool) []placement.Candidate {
	names, ready := []string{"", "gone"}, map[string]bool{}
	for _, a := range p.adapters {
		names = append(names, a.name, a.name, a.name)
		ready[a.name] = !oneIn(rng, 5)
	}
	var candidates []placement.Candidate
	for i, index := range rng.Perm(rng.IntN(16)) {
		if oneIn(rng, 8) {
			index = 0
		}
		name := names[rng.IntN(len(names))]
		candidates = append(candidates, placement.Candidate{ID: fmt.Sprintf("x-%d", i), Index: index, Adapter: name, Ready: ready[name]})
	}
	return candidates
}

// randomRemoval is the default, one criterion alone, or any weights.
func randomRemoval(rng *rand.Rand) placement.Weights {
	switch rng.IntN(4) {
	case 0:
		return placement.MaxFillUp.Weights
	case 1:
		var w placement.Weights
		w[rng.IntN(len(w))] = 1
		return w
	case 2:
		return randomWeights(rng)
	}
	return placement.Availability.Weights
}

// everyRemoval checks a property on random candidates in random clusters.
func everyRemoval(t *testing.T, check func(rng *rand.Rand, p *pool, candidates []placement.Candidate, n int) error) {
	t.Helper()
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		candidates := randomCandidates(rng, p)
		n := rng.IntN(len(candidates) + 2)
		if err := check(rng, p, candidates, n); err != nil {
			return fmt.Errorf("%d of %+v: %w", n, candidates, err)
		}
		return nil
	})
}

func TestSameVictimsAsOracle(t *testing.T) {
	everyRemoval(t, func(rng *rand.Rand, p *pool, candidates []placement.Candidate, n int) error {
		w := randomRemoval(rng)
		left := slices.Clone(candidates)
		for k, got := range build(p).Victims(candidates, n, w) {
			want := victimOf(p, left, w)
			if got != want {
				return fmt.Errorf("by %v number %d is %v, want %v", w, k, got, want)
			}
			left = slices.DeleteFunc(left, func(c placement.Candidate) bool { return c == want.Candidate })
		}
		if want := max(0, len(candidates)-n); len(left) != want {
			return fmt.Errorf("%d left, want %d", len(left), want)
		}
		return nil
	})
}

// victimOf recounts everything, and scores each candidate against the others of its standing.
func victimOf(p *pool, left []placement.Candidate, w placement.Weights) placement.Victim {
	rivals := recount(p, left)
	least := slices.MinFunc(rivals, func(a, b placement.Victim) int { return cmp.Compare(a.Standing, b.Standing) }).Standing
	rivals = slices.DeleteFunc(rivals, func(v placement.Victim) bool { return v.Standing != least })
	totals := map[string]int64{}
	for _, v := range rivals {
		totals[v.ID] = scored(v, rivals).Total(w)
	}
	return slices.MaxFunc(rivals, func(a, b placement.Victim) int {
		return cmp.Or(cmp.Compare(totals[a.ID], totals[b.ID]), cmp.Compare(a.Index, b.Index), strings.Compare(a.ID, b.ID))
	})
}

// recount says of each candidate what would be said of it if it were the next victim.
func recount(p *pool, left []placement.Candidate) []placement.Victim {
	adapters := map[string]*adapter{}
	for _, a := range rightful(p) {
		adapters[a.name] = a
	}
	count := func(domain domainOf, name string) int {
		n := 0
		for _, c := range left {
			if a := adapters[c.Adapter]; a != nil && domain(a) == name {
				n++
			}
		}
		return n
	}
	var victims []placement.Victim
	for _, c := range left {
		v := placement.Victim{Candidate: c, Standing: placement.Serving}
		switch a := adapters[c.Adapter]; {
		case c.Adapter == "":
			v.Standing = placement.Unbound
		case a == nil:
			v.Standing = placement.Gone
		default:
			v.InZone, v.OnHost, v.OnAdapter = count(zoneOf, zoneOf(a)), count(hostOf, hostOf(a)), count(itself, a.name)
			v.Ordinal = a.ordinal
			if !c.Ready {
				v.Standing = placement.NotReady
			}
		}
		victims = append(victims, v)
	}
	return victims
}

// scored is 100 less the number of distinct values that are greater. By ordinal only the highest of those alike in all
// counts are scored.
func scored(v placement.Victim, rivals []placement.Victim) placement.Scores {
	counts := func(v placement.Victim) [3]int { return [3]int{v.InZone, v.OnHost, v.OnAdapter} }
	beaten := func(v placement.Victim) bool {
		return slices.ContainsFunc(rivals, func(r placement.Victim) bool { return counts(r) == counts(v) && r.Ordinal > v.Ordinal })
	}
	score := func(value func(placement.Victim) int, among func(placement.Victim) bool) int64 {
		greater := map[int]bool{}
		for _, r := range rivals {
			if among(r) && value(r) > value(v) {
				greater[value(r)] = true
			}
		}
		return placement.MaxScore - int64(len(greater))
	}
	all := func(placement.Victim) bool { return true }
	scores := placement.Scores{
		placement.FewestInZone:    score(func(v placement.Victim) int { return v.InZone }, all),
		placement.FewestOnHost:    score(func(v placement.Victim) int { return v.OnHost }, all),
		placement.FewestOnAdapter: score(func(v placement.Victim) int { return v.OnAdapter }, all),
	}
	if !beaten(v) {
		byOrdinal := score(func(v placement.Victim) int { return v.Ordinal }, func(r placement.Victim) bool { return !beaten(r) })
		scores[placement.LowestOrdinal], scores[placement.FillUp] = byOrdinal, byOrdinal
	}
	return scores
}

// With weights that are powers of Base the picks are exactly lexicographic.
func TestVictimsByDefaultAreLexicographic(t *testing.T) {
	everyRemoval(t, func(_ *rand.Rand, p *pool, candidates []placement.Candidate, n int) error {
		left := slices.Clone(candidates)
		for _, got := range build(p).Victims(candidates, n, placement.Availability.Weights) {
			want := slices.MinFunc(recount(p, left), func(a, b placement.Victim) int {
				key := func(v placement.Victim) []int {
					return []int{int(v.Standing), -v.InZone, -v.OnHost, -v.OnAdapter, -v.Ordinal, -v.Index}
				}
				return cmp.Or(slices.Compare(key(a), key(b)), strings.Compare(b.ID, a.ID))
			})
			if got != want {
				return fmt.Errorf("%v goes, want %v", got, want)
			}
			left = slices.DeleteFunc(left, func(c placement.Candidate) bool { return c == want.Candidate })
		}
		return nil
	})
}

func TestVictimsOfFewerAreAPrefix(t *testing.T) {
	everyRemoval(t, func(rng *rand.Rand, p *pool, candidates []placement.Candidate, n int) error {
		w, built := randomRemoval(rng), build(p)
		fewer, more := built.Victims(candidates, n, w), built.Victims(candidates, n+1, w)
		if len(fewer) != min(n, len(candidates)) || len(more) != min(n+1, len(candidates)) {
			return fmt.Errorf("%d victims, and %d with one more", len(fewer), len(more))
		}
		if !slices.Equal(fewer, more[:len(fewer)]) {
			return fmt.Errorf("by %v victims %v, and with one more %v", w, fewer, more)
		}
		return nil
	})
}

func TestOrderOfCandidatesDoesNotMatter(t *testing.T) {
	everyRemoval(t, func(rng *rand.Rand, p *pool, candidates []placement.Candidate, n int) error {
		w, mixed := randomRemoval(rng), slices.Clone(candidates)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		given := slices.Clone(mixed)
		first, again := build(p).Victims(candidates, n, w), build(shuffled(rng, p)).Victims(mixed, n, w)
		if !slices.Equal(first, again) {
			return fmt.Errorf("by %v victims %v, and in another order %v", w, first, again)
		}
		if !slices.Equal(given, mixed) {
			return fmt.Errorf("candidates were reordered")
		}
		return nil
	})
}
