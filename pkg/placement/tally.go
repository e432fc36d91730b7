package placement

import "slices"

// Topology is a level at which the vreplicas of a vpod are spread.
type Topology int

// The levels, from the narrowest failure domain to the widest.
const (
	ByAdapter Topology = iota
	ByHost
	ByZone
	topologies
)

// Request is one vreplica that looks for an adapter.
type Request struct {
	VPod VPod
	// Size is the room it needs.
	Size int64
	// Limit is the most adapters that the vpod may use; 0 is no limit.
	Limit int
	// Open says whether the vreplica may go to the adapter in a slot: not cordoned, no taint in the way, no affinity
	// against it. Nil opens all.
	Open func(slot int) bool
}

// Tally is what one vreplica sees of a pool. It reads the pool, and is valid until the pool changes.
//
// An adapter is eligible if it is open, has room, and either serves the vpod already or the vpod is below its limit.
// Minima are taken over domains that hold an eligible adapter, so that a domain that cannot take more never holds the
// others back.
type Tally struct {
	Request
	pool *Pool
	// count, host and zone are the vpod's vreplicas by slot, host and zone.
	count, host, zone []int32
	// used is the number of adapters that serve the vpod.
	used int
	// shift is what Add and Remove changed of an adapter's free room.
	shift map[int]int64
	// held is the room of adapters that others are to have.
	held map[int]int64

	// What follows is found by scan.
	stale    bool
	eligible int
	least    [topologies]int32
	// best holds, for each distinct class, the eligible adapter with the lowest ordinal.
	best []leader
}

// class is all that the rules know of an adapter beside its ordinal: the vpod's vreplicas on it, its host and its zone.
type class [topologies]int32

// leader is the adapter of a class that can win.
type leader struct {
	class class
	slot  int
}

// Tally counts for one vreplica.
func (p *Pool) Tally(r Request) *Tally {
	t := p.emptyTally(r)
	for i, n := range p.spread[r.VPod] {
		t.add(i, int32(n))
	}
	t.scan()
	return t
}

// emptyTally has counted nothing yet.
func (p *Pool) emptyTally(r Request) *Tally {
	counts := make([]int32, len(p.slots)+len(p.hosts.list)+len(p.zones.list))
	t := &Tally{Request: r, pool: p, stale: true}
	t.count, counts = counts[:len(p.slots)], counts[len(p.slots):]
	t.host, t.zone = counts[:len(p.hosts.list)], counts[len(p.hosts.list):]
	return t
}

// Clone returns a tally that Add may change without changing t. Both read the same pool, and hold the same room.
func (t *Tally) Clone() *Tally {
	c := *t
	c.count, c.host, c.zone = slices.Clone(t.count), slices.Clone(t.host), slices.Clone(t.zone)
	c.shift = make(map[int]int64, len(t.shift))
	for i, d := range t.shift {
		c.shift[i] = d
	}
	return &c
}

// Add supposes that one more pod is on the adapter in a slot: it takes size of its room, and n vreplicas of it are the
// vpod's own. Negative numbers suppose that it is gone.
func (t *Tally) Add(slot int, size int64, n int) {
	if t.shift == nil {
		t.shift = map[int]int64{}
	}
	t.shift[slot] -= size
	t.add(slot, int32(n))
	t.stale = true
}

// Hold has an adapter keep room for others: it is eligible only for what is left beside that. Fit does not see it.
func (t *Tally) Hold(slot int, size int64) {
	if t.held == nil {
		t.held = map[int]int64{}
	}
	t.held[slot] += size
	t.stale = true
}

// add counts n more vreplicas of the vpod in a slot.
func (t *Tally) add(i int, n int32) {
	s := t.pool.slots[i]
	if !s.live || n == 0 {
		return
	}
	before := t.count[i] > 0
	t.count[i] += n
	t.host[s.host] += n
	t.zone[s.zone] += n
	if after := t.count[i] > 0; after != before {
		if after {
			t.used++
		} else {
			t.used--
		}
	}
}

// scan looks at every adapter once.
func (t *Tally) scan() {
	t.stale, t.eligible, t.best = false, 0, make([]leader, 0, len(t.best)+1)
	known := map[class]int{}
	// last is where in best the class of a zone's last adapter is: neighbours in a zone are mostly alike, which saves
	// nearly all look-ups.
	last := make([]int, len(t.pool.zones.list))
	for i := range t.pool.slots {
		if !t.isEligible(i) {
			continue
		}
		t.eligible++
		c, zone := t.class(i), t.pool.slots[i].zone
		k := last[zone]
		if k >= len(t.best) || t.best[k].class != c {
			var found bool
			if k, found = known[c]; !found {
				k = len(t.best)
				known[c] = k
				t.best = append(t.best, leader{class: c, slot: i})
			}
			last[zone] = k
		}
		if t.pool.slots[i].ordinal < t.pool.slots[t.best[k].slot].ordinal {
			t.best[k].slot = i
		}
	}
	for k, l := range t.best {
		if k == 0 {
			t.least = l.class
		}
		for topology, n := range l.class {
			t.least[topology] = min(t.least[topology], n)
		}
	}
}

func (t *Tally) isEligible(i int) bool {
	s := &t.pool.slots[i]
	return s.live && t.free(i) >= t.Size+t.heldOf(i) && (t.count[i] > 0 || t.belowLimit()) && (t.Open == nil || t.Open(i))
}

func (t *Tally) heldOf(i int) int64 {
	if len(t.held) == 0 { // in every scan but those while a preemptor waits
		return 0
	}
	return t.held[i]
}

func (t *Tally) belowLimit() bool { return t.Limit == 0 || t.used < t.Limit }

func (t *Tally) free(i int) int64 {
	if len(t.shift) == 0 { // in every scan but those of a preemption
		return t.pool.slots[i].free
	}
	return t.pool.slots[i].free + t.shift[i]
}

func (t *Tally) class(i int) class {
	s := &t.pool.slots[i]
	return class{ByAdapter: t.count[i], ByHost: t.host[s.host], ByZone: t.zone[s.zone]}
}

// Eligible is the number of eligible adapters.
func (t *Tally) Eligible() int {
	if t.stale {
		t.scan()
	}
	return t.eligible
}

// Contenders returns the slots of the eligible adapters that pass the hard rules and can win, in ascending order: among
// adapters alike in the counts of zone, host and adapter only the one with the lowest ordinal can, however the
// preferences are weighted.
func (t *Tally) Contenders(r Rules) []int {
	if t.stale {
		t.scan()
	}
	if !t.enoughDomains(r) {
		return nil
	}
	slots := make([]int, 0, len(t.best))
	for _, l := range t.best {
		if t.passes(l.slot, r) {
			slots = append(slots, l.slot)
		}
	}
	slices.Sort(slots)
	return slots
}
