package soak

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func texts(seed uint64, n int) (all []string) {
	p := newPlan(seed)
	all = append(all, p.opening().text)
	for range n {
		a := p.next()
		all = append(all, a.kind+": "+a.text)
	}
	return all
}

func TestSeedReproducesARun(t *testing.T) {
	const n = 500
	if diff := cmp.Diff(texts(1, n), texts(1, n)); diff != "" {
		t.Errorf("the same seed has other things happen:\n%s", diff)
	}
	if cmp.Equal(texts(1, n), texts(2, n)) {
		t.Error("another seed has the same things happen")
	}
}

// Even a short run has everything happen, as soon as it makes sense.
func TestPlanLeavesNothingOut(t *testing.T) {
	for seed := range uint64(20) {
		p, left := newPlan(seed), map[string]bool{}
		p.opening()
		for _, k := range kinds() {
			left[k.name] = true
		}
		for range len(left) + 5 { // A few more, for what made no sense in its turn.
			delete(left, p.next().kind)
		}
		if len(left) > 0 {
			t.Errorf("seed %d leaves out %v", seed, left)
		}
	}
}

func TestPlanStaysWithinItsLimits(t *testing.T) {
	p := newPlan(1)
	p.opening()
	for range 2000 {
		a := p.next()
		stopped, cordoned := p.count(isStopped), p.count(isCordoned)
		if stopped > mostAway+p.count(p.isLost) || cordoned > mostAway {
			t.Fatalf("after %s %s, %d hosts are stopped and %d cordoned", a.kind, a.text, stopped, cordoned)
		}
		if n := len(p.vpods); n > mostVPods {
			t.Fatalf("there are %d VPods", n)
		}
	}
	for _, a := range p.recovery() {
		if a.do == nil || a.kind == "" {
			t.Errorf("recovery has an action without a name: %+v", a.text)
		}
	}
	if p.count(isStopped)+p.count(isCordoned) > 0 {
		t.Error("recovery leaves hosts away")
	}
}
