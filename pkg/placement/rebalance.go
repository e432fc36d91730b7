package placement

import (
	"fmt"
	"slices"
)

// Seat is what the rules know of the place of one vreplica: how many others of its vpod are in the zone, on the host and on
// the adapter.
type Seat struct {
	InZone, OnHost, OnAdapter, Ordinal int
}

// String says it in the words of an event.
func (s Seat) String() string {
	return fmt.Sprintf("beside it %d in the zone, %d on the host, %d on the adapter; ordinal %d",
		s.InZone, s.OnHost, s.OnAdapter, s.Ordinal)
}

// Improvement is a move that makes the placement of a vpod strictly better in the order of its profile.
type Improvement struct {
	Move
	// Old is the seat that the vreplica leaves, and New the one that it takes. Neither counts the vreplica itself.
	Old, New Seat
}

// String says why in the words of an event.
func (m Improvement) String() string {
	return fmt.Sprintf("from %s (%s) to %s (%s)", m.From, m.Old, m.To, m.New)
}

// Rebalance finds a vreplica of a vpod that would be better placed elsewhere. ok is false if there is none.
//
// It supposes what will be done: that one more vreplica of the vpod is placed by the rules while all others are where they
// are, and that then one of these is removed. That is an improvement if the rules strictly prefer the new adapter to the
// old one for the vreplica that has moved, and allow it there when the old one is gone: what they have placed evenly, such
// as by two on each adapter, is not made uneven for the sake of what they merely prefer. Of several, the one that is taken
// is the one that would go first if the vpod shrank. Vreplicas on adapters that are not open stay where they are: a cordon
// keeps what is there.
//
// With Availability each improvement lessens the squares of the vreplicas of the vpod in each zone, summed up, or leaves
// them equal and lessens those of hosts, then of adapters, then the sum of the ordinals of all its vreplicas. With
// MaxFillUp it lessens the number of adapters of the vpod, or that sum of ordinals. So there is an end to them.
func (p *Pool) Rebalance(r Request, rules Rules) (m Improvement, ok bool) {
	t := p.Tally(r)
	to, found := t.Choose(rules)
	if !found {
		return m, false
	}
	var worse []int
	for i := range p.spread[r.VPod] {
		if p.slots[i].live && (r.Open == nil || r.Open(i)) && t.improves(i, to, rules.Weights) {
			worse = append(worse, i)
		}
	}
	for len(worse) > 0 {
		from := t.firstToGo(worse, rules.Weights)
		without := t.Clone()
		without.Add(from, -r.Size, -1)
		if without.passes(to, rules) {
			return Improvement{
				Move: Move{VPod: r.VPod, From: p.At(from).Name, To: p.At(to).Name},
				Old:  without.seat(from),
				New:  without.seat(to),
			}, true
		}
		worse = slices.DeleteFunc(worse, func(i int) bool { return i == from })
	}
	return m, false
}

// improves says whether a vreplica had better be in another slot than in the one where it is.
func (t *Tally) improves(from, to int, w Weights) bool {
	t.add(from, -1)
	defer t.add(from, 1)
	scores := t.Rank([]int{from, to})
	return scores[1].Total(w) > scores[0].Total(w)
}

// firstToGo returns the slot that a vreplica is removed from first, by the weights of adding turned around.
func (t *Tally) firstToGo(slots []int, w Weights) int {
	scores := t.rank(slots, removing)
	first := 0
	for k := range slots {
		a, b := scores[k].Total(w), scores[first].Total(w)
		if a > b || a == b && t.compareOrdinals(slots[k], slots[first]) > 0 {
			first = k
		}
	}
	return slots[first]
}

func (t *Tally) seat(slot int) Seat {
	return Seat{
		InZone:    t.Count(slot, ByZone),
		OnHost:    t.Count(slot, ByHost),
		OnAdapter: t.Count(slot, ByAdapter),
		Ordinal:   t.pool.At(slot).Ordinal,
	}
}
