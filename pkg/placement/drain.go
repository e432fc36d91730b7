package placement

import (
	"cmp"
	"maps"
	"slices"
)

// Tenant is a vpod whose vreplicas may be moved, and by what they are placed.
type Tenant struct {
	VPod  VPod
	Rules Rules
	// Limit is the most adapters that the vpod may use; 0 is no limit.
	Limit int
}

// Move takes one vreplica of a vpod from an adapter to another; both are names.
type Move struct {
	VPod     VPod
	From, To string
}

// Drain is what becomes of the vreplicas on adapters that leave the pool.
type Drain struct {
	// Leaving is how many vreplicas are on those adapters, and Room what is free on the Kept ones that are open.
	Leaving int
	Kept    int
	Room    int64
	// Moves has one entry for each vreplica that finds a place.
	Moves []Move
	// Stuck has one entry for each vpod of which some find none.
	Stuck []Stuck
}

// OK says whether all find a place.
func (d Drain) OK() bool { return len(d.Stuck) == 0 }

// Drain plans how the adapters for which keep is false lose all their vreplicas to the others, as far as these are open;
// nil opens all. All of a vpod's vreplicas leave first, so that they count no longer, not for its limit either; then each
// is placed by the rules of the vpod, and seen by the next. The pool stays as it is.
//
// The plan says whether it can be done. Who is moved first in the end, others decide.
func (p *Pool) Drain(keep, open func(slot int) bool, tenants []Tenant) Drain {
	rest := p.without(keep)
	d := Drain{}
	d.Kept, d.Room = rest.room(open)
	for _, party := range p.parties(keep, tenants) {
		d.Leaving += party.size
		if !party.known {
			first := p.At(party.from[0]).Name
			d.Stuck = append(d.Stuck, Stuck{VPod: party.VPod, Adapter: first, Vreplicas: party.size, Reason: NoTenant})
			continue
		}
		moves, stuck := rest.place(party, open)
		d.Moves = append(d.Moves, moves...)
		if stuck != nil {
			d.Stuck = append(d.Stuck, *stuck)
		}
	}
	return d
}

// without returns a pool in which the adapters that are not kept take no vreplicas and do not count. It shares everything
// with p except the room and who is live.
func (p *Pool) without(keep func(slot int) bool) *Pool {
	rest := *p
	rest.slots = slices.Clone(p.slots)
	for i := range rest.slots {
		rest.slots[i].live = rest.slots[i].live && keep(i)
	}
	return &rest
}

// room counts the open adapters, and what is free on them.
func (p *Pool) room(open func(slot int) bool) (adapters int, free int64) {
	for i, s := range p.slots {
		if s.live && (open == nil || open(i)) {
			adapters++
			free += max(0, s.free)
		}
	}
	return adapters, free
}

// roomOn is what is free on the adapter in a slot, if it takes vreplicas.
func (p *Pool) roomOn(i int, open func(slot int) bool) int64 {
	if s := p.slots[i]; s.live && (open == nil || open(i)) {
		return max(0, s.free)
	}
	return 0
}

// party is the vreplicas of one vpod that leave.
type party struct {
	Tenant
	// known: it is one of the tenants.
	known bool
	// from has the slot of each vreplica, size is their number.
	from []int
	size int
}

// parties returns who leaves, in a total order:
//  1. vpods that nobody moves
//  2. those with an adapter limit, the lower one first: they have the least choice
//  3. the more vreplicas that leave
//  4. namespace, kind and name
func (p *Pool) parties(keep func(slot int) bool, tenants []Tenant) []*party {
	known := make(map[VPod]Tenant, len(tenants))
	for _, tenant := range tenants {
		known[tenant.VPod] = tenant
	}
	byVPod := map[VPod]*party{}
	for _, i := range p.leaving(keep) {
		for v, n := range p.cards[i].counts {
			if byVPod[v] == nil {
				tenant, isKnown := known[v]
				tenant.VPod = v
				byVPod[v] = &party{Tenant: tenant, known: isKnown}
			}
			byVPod[v].from = append(byVPod[v].from, slices.Repeat([]int{i}, n)...)
			byVPod[v].size += n
		}
	}
	return slices.SortedFunc(maps.Values(byVPod), func(a, b *party) int {
		return cmp.Or(
			trueFirst(!a.known, !b.known),
			trueFirst(a.Limit > 0, b.Limit > 0),
			cmp.Compare(a.Limit, b.Limit),
			cmp.Compare(b.size, a.size),
			a.VPod.compare(b.VPod),
		)
	})
}

// leaving returns the slots of the adapters that are not kept, the highest ordinal first.
func (p *Pool) leaving(keep func(slot int) bool) []int {
	var slots []int
	for _, i := range p.byName {
		if !keep(i) {
			slots = append(slots, i)
		}
	}
	slices.SortFunc(slots, func(i, j int) int {
		a, b := &p.cards[i], &p.cards[j]
		return cmp.Or(cmp.Compare(b.Ordinal, a.Ordinal), cmp.Compare(b.Name, a.Name))
	})
	return slots
}

// place puts the vreplicas of one vpod on adapters by its rules, and takes the room.
func (p *Pool) place(leaving *party, open func(slot int) bool) ([]Move, *Stuck) {
	t := p.Tally(Request{VPod: leaving.VPod, Size: 1, Limit: leaving.Limit, Open: open})
	var moves []Move
	for k, from := range leaving.from {
		to, found := t.Choose(leaving.Rules)
		if !found {
			stuck := t.stuck(open)
			stuck.Adapter, stuck.Vreplicas = p.At(from).Name, len(leaving.from)-k
			return moves, &stuck
		}
		moves = append(moves, Move{VPod: leaving.VPod, From: p.At(from).Name, To: p.At(to).Name})
		p.slots[to].free--
		t.add(to, 1)
		t.stale = true
	}
	return moves, nil
}

// compare orders vpods by namespace, kind and name.
func (v VPod) compare(other VPod) int {
	return cmp.Or(
		cmp.Compare(v.Namespace, other.Namespace),
		cmp.Compare(v.Kind, other.Kind),
		cmp.Compare(v.Name, other.Name),
	)
}
