package placement

// Shrink returns how far a pool can be drained from above: the lowest end, from lowest on, so that the vreplicas of all
// adapters with ordinals from end on find places below it. If that is not lowest, blocked is the drain to the next lower
// end, which cannot be done.
func (p *Pool) Shrink(lowest int, open func(slot int) bool, tenants []Tenant) (end int, blocked Drain) {
	top := lowest
	for ordinal := range p.claims {
		top = max(top, ordinal+1)
	}
	below := func(end int) func(slot int) bool {
		return func(slot int) bool { return p.cards[slot].Ordinal < end }
	}
	end = lowest
	// A higher end has more room for fewer vreplicas, so the sums have to be looked at no more once they fit.
	for end < top && !p.suffice(below(end), open) {
		end++
	}
	for end < top && !p.drains(below(end), open, tenants) {
		end++
	}
	if end > lowest {
		blocked = p.Drain(below(end-1), open, tenants)
	}
	return end, blocked
}

// suffice says whether the room of the adapters kept is enough in sum.
func (p *Pool) suffice(keep, open func(slot int) bool) bool {
	_, room := p.without(keep).room(open)
	for _, i := range p.leaving(keep) {
		for _, n := range p.cards[i].counts {
			room -= int64(n)
		}
	}
	return room >= 0
}

// drains says whether all vreplicas of the adapters that leave find a place. It is Drain up to the first that does not: those
// with the least choice come first, so that the many ends which Shrink tries in vain cost little.
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
