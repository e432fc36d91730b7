package placement

// Rules are the hard rules of a profile and the weights of its preferences.
type Rules struct {
	// MaxSkew is how far ahead a domain may be at each level; 0 does not restrict it.
	MaxSkew [topologies]int
	// MinDomains is how many domains of a level must hold an open adapter.
	MinDomains [topologies]int
	Weights    Weights
}

// The profiles that ship with the scheduler.
var (
	// Availability spreads over zones, then hosts, then adapters, and takes the lowest ordinal of what is left.
	Availability = Rules{
		MaxSkew: [topologies]int{ByAdapter: 1},
		Weights: Weights{FewestInZone: Base * Base * Base, FewestOnHost: Base * Base, FewestOnAdapter: Base, LowestOrdinal: 1},
	}
	// MaxFillUp packs.
	MaxFillUp = Rules{Weights: Weights{FillUp: 1}}
)

// Choose returns the slot of the adapter that the rules pick for the vreplica, or false if it has to wait. Where
// weights leave several adapters equal, the lowest ordinal is picked.
func (t *Tally) Choose(r Rules) (int, bool) { return t.bestOf(t.Contenders(r), r.Weights) }

// enoughDomains says whether at each level as many domains hold an open adapter as the rules ask for.
func (t *Tally) enoughDomains(r Rules) bool {
	for topology, least := range r.MinDomains {
		if !t.Domains(Topology(topology), least).OK() {
			return false
		}
	}
	return true
}

func (t *Tally) passes(i int, r Rules) bool {
	for topology, maxSkew := range r.MaxSkew {
		if maxSkew > 0 && !t.Skew(i, Topology(topology), maxSkew).OK() {
			return false
		}
	}
	return true
}

func (t *Tally) bestOf(slots []int, w Weights) (int, bool) {
	switch len(slots) {
	case 0:
		return 0, false
	case 1:
		return slots[0], true
	}
	scores := t.Rank(slots)
	best := 0
	for k := range slots {
		a, b := scores[k].Total(w), scores[best].Total(w)
		if a > b || a == b && t.compareOrdinals(slots[k], slots[best]) < 0 {
			best = k
		}
	}
	return slots[best], true
}
