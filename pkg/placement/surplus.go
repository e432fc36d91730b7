package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Occupant is a vreplica on an adapter.
type Occupant struct {
	// ID is unique, such as the UID of the pod.
	ID string
	// Size is the room it takes, from 0.
	Size int64
	// Admitted: it runs there already. Others were bound and nothing more.
	Admitted bool
	// Since is when it was admitted, or bound, and Created when it was created, in nanoseconds.
	Since, Created int64
	// Leaving: it is terminating. It holds its room until it is gone, and there is nothing left to decide about it.
	Leaving bool
}

// Rejection is an occupant that has to go, because it does not fit beside those that stay before it.
type Rejection struct {
	Occupant
	Fit
}

// String says why in the words of a status message.
func (r Rejection) String() string {
	return fmt.Sprintf("%s: requested %d, free %d of %d", r.ID, r.Requested, r.Free, r.Capacity)
}

// Surplus returns the occupants that have to go from an adapter, so that it serves no more than its capacity. The first
// to go comes first.
//
// As a kubelet does, it goes through them in the order below, and each that fits beside those before it stays. Where one
// does not fit, a smaller one after it still may: the larger one has to go in any case, and nobody else goes for nothing.
// Hence one that comes last never displaces another. Those leaving hold their room, even above the capacity.
func Surplus(capacity int64, occupants []Occupant) []Rejection {
	var rejected []Rejection
	free := capacity
	for _, o := range slices.SortedFunc(slices.Values(occupants), Occupant.compare) {
		fit := Fit{Capacity: capacity, Free: free, Requested: o.Size}
		if o.Leaving || o.Size == 0 || fit.OK() {
			free = less(free, o.Size)
			continue
		}
		rejected = append(rejected, Rejection{Occupant: o, Fit: fit})
	}
	slices.Reverse(rejected)
	return rejected
}

// compare orders occupants by who keeps room first; the order is total:
//  1. those leaving, which cannot be picked
//  2. those admitted
//  3. the longer there: the lesser Since
//  4. the earlier created
//  5. the lesser ID
func (o Occupant) compare(other Occupant) int {
	return cmp.Or(
		trueFirst(o.Leaving, other.Leaving),
		trueFirst(o.Admitted, other.Admitted),
		cmp.Compare(o.Since, other.Since),
		cmp.Compare(o.Created, other.Created),
		cmp.Compare(o.ID, other.ID),
	)
}

// trueFirst orders those of which something is true before those of which it is not.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// less is free - size, or the least number where that is out of range: the last guard must not be led astray by sizes
// that cannot be added up.
func less(free, size int64) int64 {
	if free < math.MinInt64+size {
		return math.MinInt64
	}
	return free - size
}
