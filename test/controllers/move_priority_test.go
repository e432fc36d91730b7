package controllers

import "testing"

// Others give way to vreplicas whose PriorityClass became a higher one, also where all that is left of the pool is full and
// those of the former class are on an adapter that takes no more.
func TestC27_OthersGiveWayToAHigherClass(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 2, "", "")
	p.must(p.Cordon(t.Context(), p.node(1), true))
	p.run("x", 2, "2/0")
	p.must(p.Cordon(t.Context(), p.node(1), false))
	p.must(p.Cordon(t.Context(), p.node(0), true))
	p.run("y", 2, "0/2")
	v := p.vpod("x", 2, p.important())
	w := p.witnessAll()
	p.patch("vpod", "x", `{"spec":{"priorityClassName":"`+v.Spec.PriorityClassName+`"}}`)
	p.settled("x", "0/2")
	p.neverLess(w, "x", 2, 2, 1)
}
