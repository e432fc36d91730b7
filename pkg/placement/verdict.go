package placement

// Fit is whether an adapter has room.
type Fit struct {
	Capacity, Free, Requested int64
}

// OK says whether the vreplica fits now.
func (v Fit) OK() bool { return v.Free >= v.Requested }

// Possible says whether it would fit an adapter that serves nothing else.
func (v Fit) Possible() bool { return v.Capacity >= v.Requested }

// Fit judges the room of the adapter in a slot.
func (t *Tally) Fit(slot int) Fit {
	return Fit{Capacity: t.pool.cards[slot].Capacity, Free: t.free(slot), Requested: t.Size}
}

// Limit is whether a vpod stays within the number of adapters it may use.
type Limit struct {
	// Serves: the adapter serves the vpod already, so that one more vreplica there uses no further adapter.
	Serves bool
	// Used is the number of adapters that serve the vpod now, Limit the most it may use; 0 is no limit.
	Used, Limit int
}

// OK says whether the vpod may have a vreplica there. Where more adapters than the limit serve it, because the limit
// was lowered, those still take its vreplicas: that adds no adapter.
func (v Limit) OK() bool { return v.Serves || v.Limit == 0 || v.Used < v.Limit }

// WithinLimit judges the adapter limit for the adapter in a slot.
func (t *Tally) WithinLimit(slot int) Limit {
	return Limit{Serves: t.count[slot] > 0, Used: t.used, Limit: t.Limit}
}

// Skew is how far a domain is ahead of the one with the fewest vreplicas of the vpod.
type Skew struct {
	// Count is the domain's number of vreplicas before the placement.
	Count int
	// Min is the least number of any domain that holds an eligible adapter; Count where there is none.
	Min int
	// MaxSkew is how far ahead the domain may be after the placement, from 1.
	MaxSkew int
}

// OK says whether the placement keeps the skew. It is one-sided: a domain that is behind may always take more.
func (v Skew) OK() bool { return v.Count+1-v.Min <= v.MaxSkew }

// Skew judges the spread at one level for the adapter in a slot.
func (t *Tally) Skew(slot int, topology Topology, maxSkew int) Skew {
	v := Skew{Count: t.Count(slot, topology), MaxSkew: maxSkew}
	v.Min = v.Count
	if t.Eligible() > 0 {
		v.Min = int(t.least[topology])
	}
	return v
}

// Count is the number of the vpod's vreplicas in the domain of the adapter in a slot.
func (t *Tally) Count(slot int, topology Topology) int { return int(t.class(slot)[topology]) }

// Domains is whether enough zones, or hosts, hold an open adapter.
type Domains struct {
	Open, Min int
}

// OK says whether there are enough.
func (v Domains) OK() bool { return v.Open >= v.Min }

// Domains counts the domains that hold an open adapter, full ones included.
func (t *Tally) Domains(topology Topology, atLeast int) Domains {
	v := Domains{Min: atLeast}
	if atLeast <= 0 {
		return v
	}
	seen := map[int32]bool{}
	for i, s := range t.pool.slots {
		if !s.live || t.Open != nil && !t.Open(i) {
			continue
		}
		switch topology {
		case ByZone:
			seen[s.zone] = true
		case ByHost:
			seen[s.host] = true
		case ByAdapter:
			seen[int32(i)] = true
		}
	}
	v.Open = len(seen)
	return v
}
