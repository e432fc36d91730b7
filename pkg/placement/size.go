package placement

import (
	"fmt"
	"strings"
)

// State is what an adapter can be counted on for.
type State int

const (
	// Open ones take vreplicas up to their capacity. One that is cordoned only because its pool drains it is open: it
	// would be again as soon as it is wanted.
	Open State = iota
	// Starting ones have no host yet, or are not there yet, and will take vreplicas up to their capacity.
	Starting
	// Cordoned ones keep what they have and take nothing more.
	Cordoned
	// Lost ones are gone or dead for long: what is there moves.
	Lost
)

// Berth is an adapter as sizing sees it.
type Berth struct {
	// Name is what messages call the adapter.
	Name  string
	State State
	// Held is how many vreplicas it has now, without the foreign ones.
	Held int64
	// Foreign is the room on it that is taken by placeholders which no VPod controls.
	Foreign int64
}

// Holds is how many vreplicas of vpods the adapter can be counted on for.
func (b Berth) Holds(capacity int64) int64 {
	room := max(0, less(capacity, max(0, b.Foreign)))
	switch b.State {
	case Lost:
		return 0
	case Cordoned:
		return min(max(0, b.Held), room)
	}
	return room
}

// String says what is unusual about the adapter.
func (b Berth) String() string {
	words := "adapter " + b.Name
	switch b.State {
	case Lost:
		return words + " lost"
	case Cordoned:
		return fmt.Sprintf("%s cordoned holding %d", words, max(0, b.Held))
	}
	if b.Foreign > 0 {
		words += fmt.Sprintf(" with %d taken by pods of no VPod", b.Foreign)
	}
	return words
}

// Bounds restrict the number of adapters.
type Bounds struct {
	// Min and Max are the fewest and the most. Max decides if Min is above it.
	Min, Max int
	// Unit is what the number is rounded up to a multiple of, as far as Max allows; 0 and 1 do not round. Of says what the
	// unit counts, such as zones.
	Unit int
	Of   string
}

// of is the number that the bounds make of the one that is needed, and in words which of them changed it.
func (b Bounds) of(needed int) (wanted int, why []string) {
	wanted = needed
	if wanted < b.Min {
		wanted = b.Min
		why = append(why, fmt.Sprintf("minReplicas is %d", b.Min))
	}
	if excess := wanted % max(1, b.Unit); excess > 0 && wanted < b.Max {
		wanted = int(plus(int64(wanted), int64(b.Unit-excess)))
		why = append(why, strings.TrimSpace(fmt.Sprintf("rounded up to a multiple of %d %s", b.Unit, b.Of)))
	}
	if wanted > b.Max {
		wanted = max(0, b.Max)
		why = append(why, fmt.Sprintf("maxReplicas is %d", b.Max))
	}
	return wanted, why
}

// Size is how many adapters a pool should have, and why.
type Size struct {
	// Wanted is the number within the bounds, and Needed the one without them: the fewest adapters, from the first on,
	// that hold all vreplicas.
	Wanted, Needed int
	// Vreplicas is how many have to be held. HeldBack is how many more are asked for that no number of adapters could
	// hold, because of the adapter limits of their vpods.
	Vreplicas, HeldBack int64
	// Capacity is what an adapter holds, unless it is one of Short: those of the first adapters that hold less.
	Capacity int64
	Short    []Berth
	Bounds   Bounds
}

// SizeOf returns the size for the demands of all vpods. The adapters are those that there are, or are about to be, in the
// order of their ordinals; further ones would hold the capacity, which is at least 1.
//
// Each adapter counts for what it can be counted on for, whether it holds that now or not. So a pool that has its wanted
// size keeps it as long as demand and adapters stay the same, and adapters that take long to start do not make it grow.
func SizeOf(adapters []Berth, demands []Demand, capacity int64, bounds Bounds) Size {
	s := Size{Capacity: max(1, capacity), Bounds: bounds}
	for _, d := range demands {
		n := d.placeable(s.Capacity)
		s.Vreplicas, s.HeldBack = plus(s.Vreplicas, n), plus(s.HeldBack, max(0, d.Replicas)-n)
	}
	s.Needed = needed(adapters, s.Vreplicas, s.Capacity)
	s.Wanted, _ = bounds.of(s.Needed)
	for _, b := range adapters[:min(len(adapters), max(s.Wanted, s.Needed))] {
		if b.Holds(s.Capacity) < s.Capacity {
			s.Short = append(s.Short, b)
		}
	}
	return s
}

// needed is the fewest adapters, from the first on, that hold a number of vreplicas.
func needed(adapters []Berth, vreplicas, capacity int64) int {
	for n, b := range adapters {
		if vreplicas <= 0 {
			return n
		}
		vreplicas -= b.Holds(capacity)
	}
	if vreplicas <= 0 {
		return len(adapters)
	}
	return int(plus(int64(len(adapters)), (vreplicas-1)/capacity+1))
}

// mostNamed is how many adapters a message names one by one.
const mostNamed = 3

// String says why in the words of a condition.
func (s Size) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d: %s wanted, %d per adapter", s.Wanted, inVreplicas(s.Vreplicas), s.Capacity)
	for _, short := range s.Short[:min(len(s.Short), mostNamed)] {
		fmt.Fprintf(&b, ", %s", short)
	}
	if more := len(s.Short) - mostNamed; more > 0 {
		fmt.Fprintf(&b, ", %d more hold less as well", more)
	}
	if _, why := s.Bounds.of(s.Needed); len(why) > 0 {
		fmt.Fprintf(&b, "; needed %d, %s", s.Needed, strings.Join(why, ", "))
	}
	if s.HeldBack > 0 {
		fmt.Fprintf(&b, "; adapter limits hold back %d more", s.HeldBack)
	}
	return b.String()
}

// inVreplicas is a number with its unit.
func inVreplicas(n int64) string {
	if n == 1 {
		return "1 vreplica"
	}
	return fmt.Sprintf("%d vreplicas", n)
}
