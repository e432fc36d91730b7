package placement

import (
	"cmp"
	"fmt"
	"slices"
)

// Candidate is a vreplica that may be removed when its vpod shrinks.
type Candidate struct {
	// ID is unique, such as the name of the pod.
	ID string
	// Index is the number of the vreplica within its vpod.
	Index int
	// Adapter is the name of the adapter that it is bound to, "" if it is not bound.
	Adapter string
	// Ready: the adapter is ready. It says nothing where the pool does not have the adapter.
	Ready bool
}

// Standing is how much a vreplica does for its vpod, from the least.
type Standing int

const (
	// Unbound ones wait for an adapter.
	Unbound Standing = iota
	// Gone ones are on an adapter that the pool does not have, or whose ordinal an older one holds.
	Gone
	// NotReady ones are on an adapter that is not ready.
	NotReady
	// Serving ones are on an adapter that is ready.
	Serving
)

// Victim is a vreplica that has to go, and why.
type Victim struct {
	Candidate
	Standing Standing
	// InZone, OnHost and OnAdapter are the vpod's vreplicas when this one was picked, itself included. They and the
	// adapter's Ordinal are 0 for those that are unbound or gone.
	InZone, OnHost, OnAdapter int
	Ordinal                   int
}

// String says why in the words of an event.
func (v Victim) String() string {
	adapter := ""
	switch v.Standing {
	case Unbound:
		return v.ID + ": not bound"
	case Gone:
		return fmt.Sprintf("%s on %s: adapter not in the pool", v.ID, v.Adapter)
	case NotReady:
		adapter = "adapter not ready, "
	}
	return fmt.Sprintf("%s on %s: %s%d in its zone, %d on its host, %d on it, ordinal %d",
		v.ID, v.Adapter, adapter, v.InZone, v.OnHost, v.OnAdapter, v.Ordinal)
}

// Victims picks n of a vpod's vreplicas to remove, or all if there are fewer, in the order in which they should go:
// whatever n is, the order is the same.
//
// The candidates are all of the vpod's vreplicas that are not terminating. They alone are counted, not what the pool
// knows of the vpod, and the counts follow each pick. The weights are those of adding with each criterion turned around:
// FewestInZone takes from the zone with the most, and LowestOrdinal and FillUp from the highest ordinal. With
// Availability.Weights, the default of a pool, that is exactly lexicographic.
func (p *Pool) Victims(candidates []Candidate, n int, w Weights) []Victim {
	t := p.emptyTally(Request{})
	queues := t.enqueue(candidates)
	victims := make([]Victim, 0, min(max(n, 0), len(candidates)))
	for len(victims) < cap(victims) {
		t.weigh(queues, w)
		victims = append(victims, t.dequeue(slices.MinFunc(queues, (*queue).compare)))
		queues = slices.DeleteFunc(queues, func(q *queue) bool { return len(q.waiting) == 0 })
	}
	return victims
}

// place is where candidates are that only their index and ID tell apart.
type place struct {
	standing Standing
	// slot is nowhere for those that are unbound or gone.
	slot int
}

const nowhere = -1

// queue holds the candidates of one place, the next to go first; it is never empty.
type queue struct {
	place
	waiting []Candidate
	// total is the adapter's weighted score for the next pick.
	total int64
}

// compare orders queues by whose first candidate goes first; the order is total:
//  1. the lesser standing: not bound, adapter gone, adapter not ready
//  2. the higher weighted score of its adapter, by the reverse of what is preferred in adding
//  3. the higher index
//  4. the greater ID
func (q *queue) compare(other *queue) int {
	return cmp.Or(
		cmp.Compare(q.standing, other.standing),
		cmp.Compare(other.total, q.total),
		q.waiting[0].compare(other.waiting[0]),
	)
}

// compare is 3. and 4. above, which decide within a queue.
func (c Candidate) compare(other Candidate) int {
	return cmp.Or(cmp.Compare(other.Index, c.Index), cmp.Compare(other.ID, c.ID))
}

// enqueue counts the candidates, and lines them up by place, the lesser standing first.
func (t *Tally) enqueue(candidates []Candidate) []*queue {
	var queues []*queue
	at := map[place]*queue{}
	for _, c := range slices.SortedFunc(slices.Values(candidates), Candidate.compare) {
		where := t.pool.placeOf(c)
		if at[where] == nil {
			at[where] = &queue{place: where}
			queues = append(queues, at[where])
		}
		at[where].waiting = append(at[where].waiting, c)
		if where.slot != nowhere {
			t.add(where.slot, 1)
		}
	}
	slices.SortFunc(queues, (*queue).compare)
	return queues
}

func (p *Pool) placeOf(c Candidate) place {
	if c.Adapter == "" {
		return place{Unbound, nowhere}
	}
	slot, known := p.Slot(c.Adapter)
	switch {
	case !known || p.Rival(slot):
		return place{Gone, nowhere}
	case !c.Ready:
		return place{NotReady, slot}
	}
	return place{Serving, slot}
}

// weigh scores the adapters of the least standing that is left: the others do not compete yet.
func (t *Tally) weigh(queues []*queue, w Weights) {
	var slots []int
	for _, q := range queues {
		if q.slot == nowhere || q.standing != queues[0].standing {
			break
		}
		slots = append(slots, q.slot)
	}
	for k, scores := range t.rank(slots, removing) {
		queues[k].total = scores.Total(w)
	}
}

// dequeue removes the first candidate of a queue, from the counts as well.
func (t *Tally) dequeue(q *queue) Victim {
	v := Victim{Candidate: q.waiting[0], Standing: q.standing}
	q.waiting = q.waiting[1:]
	if q.slot == nowhere {
		return v
	}
	v.InZone, v.OnHost, v.OnAdapter = t.Count(q.slot, ByZone), t.Count(q.slot, ByHost), t.Count(q.slot, ByAdapter)
	v.Ordinal = t.pool.At(q.slot).Ordinal
	t.add(q.slot, -1)
	return v
}
