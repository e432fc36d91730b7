package controllers

import (
	"strings"
	"testing"
)

// X=4: HA -> 2/1/1; Fill -> 4/0/0.
func TestC12_SpreadsByDefaultAndPacksOnRequest(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2", "z3")
	p.run("x", 4, "2/1/1")
	p.scheduler = "vpod-scheduler-maxfillup"
	p.run("y", 4, "4/0/0")
	if v := p.settled("x", "2/1/1"); !strings.Contains(v.Status.Selector, "x") {
		t.Errorf("selector %q", v.Status.Selector)
	}
}
