package soak

import "fmt"

// tally counts what is no breach.
type tally struct {
	// placed are all bindings. beyondRoom found the adapter full, and beyondLimit were more adapters than the limit: those by
	// the scheduler, and those byHand.
	placed, beyondRoom, beyondLimit, byHand int
	// excess are placeholders that were made by two leaders at once.
	excess int
	// rejected are those that the guard failed before they were served; surplus those that served.
	rejected, surplus int
	// scaled are the writes of ours to StatefulSets, and marked the vreplicas that were to be moved to even out.
	scaled, marked int
	// moved counts vreplicas that ceased to be served, by the reason.
	moved map[string]int
	// notes tell of bindings that the rules do not allow.
	notes findings
}

func (t tally) String() string {
	return fmt.Sprintf("%d placements; beyond the room or the limit of adapters: %d by hand, and %d and %d by the scheduler; "+
		"the guard rejected %d and took back %d; %d too many while two led; scaled %d times; %d evened out; moved: %v",
		t.placed, t.byHand, t.beyondRoom, t.beyondLimit, t.rejected, t.surplus, t.excess, t.scaled, t.marked, t.moved)
}
