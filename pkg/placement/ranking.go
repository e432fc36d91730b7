package placement

import (
	"cmp"
	"slices"
)

// Criterion is one way to prefer an adapter.
type Criterion int

// What an adapter can be preferred for.
const (
	// FewestInZone prefers the zone with the fewest vreplicas of the vpod.
	FewestInZone Criterion = iota
	// FewestOnHost prefers the host with the fewest.
	FewestOnHost
	// FewestOnAdapter prefers the adapter with the fewest.
	FewestOnAdapter
	// LowestOrdinal prefers the lowest ordinal.
	LowestOrdinal
	// FillUp prefers adapters that serve the vpod already, and among those and among the rest the lowest ordinal.
	FillUp
	criteria
)

// MaxScore is the best score by a criterion; the worst is 0.
const MaxScore = 100

// Base is how much heavier a criterion must weigh than the next one for the first to decide alone: one rank of it then
// outweighs the whole range of the next.
const Base = MaxScore + 1

// Scores are an adapter's scores by criterion, from 0 to MaxScore.
type Scores [criteria]int64

// Weights says how much each criterion counts.
type Weights [criteria]int64

// Total is the weighted sum.
func (s Scores) Total(w Weights) int64 {
	var sum int64
	for c := range s {
		sum += w[c] * s[c]
	}
	return sum
}

// sense is which end of every order comes first.
type sense int

const (
	// adding prefers the fewest and the lowest.
	adding sense = 1
	// removing prefers the most and the highest.
	removing sense = -1
)

// of turns the result of a comparison.
func (s sense) of(comparison int) int { return int(s) * comparison }

// Rank scores the adapters in the given slots against each other, for a vreplica to be added.
//
// Distinct values of a criterion are ranked: the best gets MaxScore, the next one less, and so on. With weights that
// are powers of Base the order of totals is exactly lexicographic, in pools of any size, because of two refinements:
//
//   - Ordinals can have many more values than there are scores. Among adapters alike in the counts of zone, host and
//     adapter only the lowest ordinal can win, so only those leaders are ranked by ordinal, never below 1, and the others
//     get 0. It also makes scores the same whether all adapters are ranked or only the contenders.
//   - Should counts have more distinct values than there are scores, ranking starts at the value of the lexicographic
//     winner, and what is below it is not told apart: no such adapter can win.
//
// The result is parallel to slots, and does not depend on their order.
func (t *Tally) Rank(slots []int) []Scores { return t.rank(slots, adding) }

// rank scores for adding or, all orders turned around, for removing.
func (t *Tally) rank(slots []int, s sense) []Scores {
	leaders := t.leaders(slots, s)
	scores := make([]Scores, len(slots))
	for criterion, topology := range map[Criterion]Topology{FewestInZone: ByZone, FewestOnHost: ByHost, FewestOnAdapter: ByAdapter} {
		ranks := t.rankCounts(leaders, topology, s)
		for k, i := range slots {
			scores[k][criterion] = ranks[int32(t.Count(i, topology))]
		}
	}
	byOrdinal := rankLeaders(leaders, func(i, j int) int { return s.of(t.compareOrdinals(i, j)) })
	byFillUp := rankLeaders(leaders, func(i, j int) int {
		return s.of(cmp.Or(cmp.Compare(t.unserved(i), t.unserved(j)), t.compareOrdinals(i, j)))
	})
	for k, i := range slots {
		scores[k][LowestOrdinal], scores[k][FillUp] = byOrdinal[i], byFillUp[i]
	}
	return scores
}

// leaders returns, in lexicographic order, the adapter of each class whose ordinal comes first.
func (t *Tally) leaders(slots []int, s sense) []int {
	best := map[class]int{}
	for _, i := range slots {
		if j, known := best[t.class(i)]; !known || s.of(t.compareOrdinals(i, j)) < 0 {
			best[t.class(i)] = i
		}
	}
	leaders := make([]int, 0, len(best))
	for _, i := range best {
		leaders = append(leaders, i)
	}
	slices.SortFunc(leaders, func(i, j int) int { return s.of(t.compare(i, j)) })
	return leaders
}

// compare orders adapters by preference for availability, when a vreplica is added; its reverse decides who loses one.
// The order is total:
//  1. fewer vreplicas of the vpod in the zone
//  2. fewer on the host
//  3. fewer on the adapter
//  4. the lower ordinal
//  5. the lesser name, where two adapters claim one ordinal
func (t *Tally) compare(i, j int) int {
	a, b := t.class(i), t.class(j)
	return cmp.Or(
		cmp.Compare(a[ByZone], b[ByZone]),
		cmp.Compare(a[ByHost], b[ByHost]),
		cmp.Compare(a[ByAdapter], b[ByAdapter]),
		t.compareOrdinals(i, j),
	)
}

func (t *Tally) compareOrdinals(i, j int) int {
	a, b := &t.pool.cards[i], &t.pool.cards[j]
	return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Name, b.Name))
}

// unserved is 0 for an adapter that serves the vpod, and 1 for one that does not.
func (t *Tally) unserved(i int) int {
	if t.count[i] > 0 {
		return 0
	}
	return 1
}

// rankCounts scores each distinct count of the leaders at one level; leaders[0] is the lexicographic winner.
func (t *Tally) rankCounts(leaders []int, topology Topology, s sense) map[int32]int64 {
	counts := make([]int32, len(leaders))
	for k, i := range leaders {
		counts[k] = t.class(i)[topology]
	}
	winner := int32(0)
	if len(counts) > 0 {
		winner = counts[0]
	}
	slices.SortFunc(counts, func(a, b int32) int { return s.of(cmp.Compare(a, b)) })
	counts = slices.Compact(counts)

	first := 0
	if len(counts) > Base {
		first = slices.Index(counts, winner)
	}
	ranks := make(map[int32]int64, len(counts))
	for k, n := range counts {
		ranks[n] = max(0, MaxScore-int64(max(0, k-first)))
	}
	return ranks
}

// rankLeaders scores the leaders in a total order of their own, from MaxScore down to 1.
func rankLeaders(leaders []int, compare func(i, j int) int) map[int]int64 {
	ordered := slices.SortedFunc(slices.Values(leaders), compare)
	ranks := make(map[int]int64, len(ordered))
	for k, i := range ordered {
		ranks[i] = max(1, MaxScore-int64(k))
	}
	return ranks
}
