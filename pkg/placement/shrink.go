package placement

import (
	"cmp"
	"slices"
)

// patience is how many ends Shrink tries one after the other.
const patience = 64

// Shrink returns how far a pool can be drained from above: the lowest end, from lowest on, so that the vreplicas of all
// adapters with ordinals from end on find places below it. If that is not lowest, blocked is the drain to the next lower
// end, which cannot be done.
//
// Of the ends that have room enough in sum, the first ones are tried one after the other, and then the rest is bisected:
// only then there may be a lower end, below one that cannot be done.
func (p *Pool) Shrink(lowest int, open func(slot int) bool, tenants []Tenant) (end int, blocked Drain) {
	below := func(end int) func(slot int) bool {
		return func(slot int) bool { return p.cards[slot].Ordinal < end }
	}
	fails := func(end int) bool { return !p.drains(below(end), open, tenants) }
	end, top := p.enough(lowest, open)
	for tries := 0; end < top && fails(end); tries++ {
		end++
		if tries == patience {
			for high := top; end < high; {
				if middle := end + (high-end)/2; fails(middle) {
					end = middle + 1
				} else {
					high = middle
				}
			}
		}
	}
	if end > lowest {
		blocked = p.Drain(below(end-1), open, tenants)
	}
	return end, blocked
}

// enough returns the lowest end, from lowest on, below which there is room in sum for what leaves, and the one from which on
// nothing leaves.
func (p *Pool) enough(lowest int, open func(slot int) bool) (end, top int) {
	end, top = lowest, lowest
	// balance is the room that is kept, less what leaves. A higher end has more room for fewer vreplicas.
	balance := int64(0)
	var leaving []int
	for _, i := range p.byName {
		if p.cards[i].Ordinal < lowest {
			balance += p.roomOn(i, open)
			continue
		}
		leaving = append(leaving, i)
		balance -= p.served(i)
		top = max(top, p.cards[i].Ordinal+1)
	}
	slices.SortFunc(leaving, func(i, j int) int { return cmp.Compare(p.cards[i].Ordinal, p.cards[j].Ordinal) })
	for _, i := range leaving {
		if balance >= 0 {
			break
		}
		end = p.cards[i].Ordinal + 1
		balance += p.served(i) + p.roomOn(i, open)
	}
	return end, top
}

// served is how many vreplicas are on the adapter in a slot.
func (p *Pool) served(i int) int64 {
	var sum int64
	for _, n := range p.cards[i].counts {
		sum += int64(n)
	}
	return sum
}

// drains says whether all vreplicas of the adapters that leave find a place. It is Drain up to the first that finds none:
// those with the least choice come first, so that the many ends which Shrink tries in vain cost little.
func (p *Pool) drains(keep, open func(slot int) bool, tenants []Tenant) bool {
	rest := p.without(keep)
	for _, party := range p.parties(keep, tenants) {
		if !party.known {
			return false
		}
		if _, stuck := rest.place(party, open); stuck != nil {
			return false
		}
	}
	return true
}
