package placement

import (
	"cmp"
	"slices"
)

// VPod identifies the owner of vreplicas. Kind tells apart owners that may share a name.
type VPod struct {
	Namespace, Kind, Name string
}

// Adapter is an adapter as every vreplica sees it.
type Adapter struct {
	// Name is unique among all adapters.
	Name string
	// Ordinal is the position in the StatefulSet, from 0. Lower ones are preferred, so that the set can shrink.
	Ordinal int
	// Zone and Host are the failure domains. Adapters without a zone share the zone "".
	Zone, Host string
	// Capacity is the room for vreplicas, and Free what is left of it: negative if the adapter is overcommitted.
	// A terminating vreplica holds its room until it is gone.
	Capacity, Free int64
	// Born orders adapters that claim the same ordinal: the least one holds it, then the one with the lesser name.
	Born int64
}

// Pool holds adapters, each in a slot of its own: a small number that stays the same until the adapter is removed.
// It is not safe for concurrent writes.
type Pool struct {
	slots  []slot
	cards  []card
	vacant []int
	byName map[string]int
	// claims lists the slots that claim an ordinal.
	claims map[int][]int
	zones  domains
	hosts  domains
	// spread is the number of vreplicas of a vpod by slot; entries are above zero.
	spread map[VPod]map[int]int
}

// slot is what a scan over thousands of adapters reads.
type slot struct {
	free                int64
	ordinal, zone, host int32
	// live: the slot holds an adapter, and no older one claims the same ordinal.
	live bool
}

// card is what else is known of the adapter in a slot.
type card struct {
	Adapter
	counts map[VPod]int
}

// NewPool returns a pool without adapters.
func NewPool() *Pool {
	return &Pool{byName: map[string]int{}, claims: map[int][]int{}, spread: map[VPod]map[int]int{}}
}

// Put adds an adapter, or replaces the one of the same name, with the vreplicas it serves by vpod, terminating ones
// left out. The pool keeps counts.
func (p *Pool) Put(a Adapter, counts map[VPod]int) {
	i, known := p.byName[a.Name]
	if known {
		p.clear(i)
	} else {
		i = p.vacate()
		p.byName[a.Name] = i
	}
	p.slots[i] = slot{free: a.Free, ordinal: int32(a.Ordinal), zone: p.zones.enter(a.Zone), host: p.hosts.enter(a.Host)}
	p.cards[i] = card{Adapter: a, counts: counts}
	for v, n := range counts {
		if p.spread[v] == nil {
			p.spread[v] = map[int]int{}
		}
		p.spread[v][i] = n
	}
	p.claims[a.Ordinal] = append(p.claims[a.Ordinal], i)
	p.settle(a.Ordinal)
}

// Remove takes an adapter out; a name that is not in the pool is ignored.
func (p *Pool) Remove(name string) {
	i, known := p.byName[name]
	if !known {
		return
	}
	p.clear(i)
	delete(p.byName, name)
	p.vacant = append(p.vacant, i)
}

// Len is the number of adapters, rivals included.
func (p *Pool) Len() int { return len(p.byName) }

// Slot returns the slot of an adapter.
func (p *Pool) Slot(name string) (int, bool) {
	i, ok := p.byName[name]
	return i, ok
}

// At returns the adapter in a slot.
func (p *Pool) At(slot int) Adapter { return p.cards[slot].Adapter }

// Rival says whether an older adapter holds the ordinal of the one in this slot. A rival takes no vreplicas, and those
// that it has do not count.
func (p *Pool) Rival(slot int) bool { return !p.slots[slot].live }

// vacate returns the number of an unused slot.
func (p *Pool) vacate() int {
	if last := len(p.vacant) - 1; last >= 0 {
		i := p.vacant[last]
		p.vacant = p.vacant[:last]
		return i
	}
	p.slots = append(p.slots, slot{})
	p.cards = append(p.cards, card{})
	return len(p.slots) - 1
}

// clear empties a slot and takes what it held out of the sums.
func (p *Pool) clear(i int) {
	ordinal := p.cards[i].Ordinal
	for v := range p.cards[i].counts {
		delete(p.spread[v], i)
		if len(p.spread[v]) == 0 {
			delete(p.spread, v)
		}
	}
	p.zones.leave(p.slots[i].zone)
	p.hosts.leave(p.slots[i].host)
	p.slots[i], p.cards[i] = slot{}, card{}

	p.claims[ordinal] = slices.DeleteFunc(p.claims[ordinal], func(j int) bool { return j == i })
	p.settle(ordinal)
}

// settle decides who holds an ordinal that several adapters claim.
func (p *Pool) settle(ordinal int) {
	claims := p.claims[ordinal]
	if len(claims) == 0 {
		delete(p.claims, ordinal)
		return
	}
	holder := slices.MinFunc(claims, func(i, j int) int {
		a, b := p.cards[i], p.cards[j]
		return cmp.Or(cmp.Compare(a.Born, b.Born), cmp.Compare(a.Name, b.Name))
	})
	for _, i := range claims {
		p.slots[i].live = i == holder
	}
}
