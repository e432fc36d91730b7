package soak

import "k8s.io/apimachinery/pkg/types"

// expected is what is done by hand in the present step.
type expected struct {
	// pods are deleted or made to fail, and bound are put on an adapter.
	pods, bound map[types.UID]bool
	// nodes are deleted, cordoned and uncordoned.
	deleted, cordoned, uncordoned map[string]bool
	// twoLead: a controller that was paused goes on for a moment beside the one that took over. Each does what has to be done,
	// and so there may be more placeholders than asked for, until one of them sees that.
	twoLead bool
	// blind: the API server is restarted, and of what happens meanwhile the witness sees the outcome alone. How many
	// placeholders there were at a moment is not known then.
	blind bool
	// rest: nothing is done.
	rest bool
}

func newExpected() expected {
	return expected{
		pods: map[types.UID]bool{}, bound: map[types.UID]bool{},
		deleted: map[string]bool{}, cordoned: map[string]bool{}, uncordoned: map[string]bool{},
	}
}
