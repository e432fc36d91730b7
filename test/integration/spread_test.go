package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

func TestC4_ADomainWithoutRoomHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// has is x before others fill a-2 but for room, and steps are the growth of x from there.
		has    int
		others int
		steps  []step
	}{
		"room for 1 in z3, 9 at once":          {others: 9, steps: []step{{9, "4/4/1"}}},
		"room for 1 in z3, 5 and then 9":       {others: 9, steps: []step{{5, "2/2/1"}, {4, "4/4/1"}}},
		"z3 fills up while it holds some of x": {has: 6, others: 8, steps: []step{{4, "4/4/2"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPool(t, zones(10, "z1", "z2", "z3")...)
			x := p.vpod("x")
			if tc.has > 0 {
				p.grow(x, tc.has)
				p.settled(x, "2/2/2", 0)
			}
			p.grow(p.vpod("other"), tc.others, p.on(2))
			p.steps(x, tc.steps)
		})
	}
}

// step is a growth by so many, and the spread after it.
type step struct {
	more int
	want string
}

// steps grows a vpod step by step.
func (p *pool) steps(v lab.VPod, steps []step) {
	p.t.Helper()
	for _, s := range steps {
		p.grow(v, s.more)
		p.settled(v, s.want, 0)
	}
}

func TestC5_SkewIsOneSided(t *testing.T) {
	t.Parallel()
	const skew2, hardZone = "c5-skew-2", "c5-hard-zone"
	startProfiles(t, sharedLab(t), map[string][]arguments{
		skew2:    {{"EvenPodSpread", `{"maxSkew": 2}`}},
		hardZone: {{"AvailabilityZonePriority", `{"whenUnsatisfiable": "DoNotSchedule"}`}},
	})
	unlike := []lab.Adapter{{Zone: "z1", Capacity: 10}, {Zone: "z2", Capacity: 10}, {Zone: "z2", Capacity: 10}}
	unequal := []lab.Adapter{{Zone: "z1", Capacity: 10}, {Zone: "z2", Capacity: 1}}
	tests := map[string]struct {
		scheduler string
		adapters  []lab.Adapter
		// has is x on a-0 before.
		has   int
		steps []step
	}{
		"5/0 is evened out":                  {"", zones(10, "z1", "z2"), 5, []step{{1, "5/1"}, {4, "5/5"}, {1, "6/5"}}},
		"5/0 is evened out, maxSkew 2":       {skew2, zones(10, "z1", "z2"), 5, []step{{1, "5/1"}, {4, "5/5"}, {1, "6/5"}}},
		"5/0 is evened out, zones hard":      {hardZone, zones(10, "z1", "z2"), 5, []step{{1, "5/1"}, {4, "5/5"}, {1, "6/5"}}},
		"the adapter rule is hard":           {"", unlike, 0, []step{{6, "2/2/2"}}},
		"maxSkew 2 lets the zones decide":    {skew2, unlike, 0, []step{{6, "3/2/1"}}},
		"zones hard, z2 without room":        {hardZone, unequal, 0, []step{{4, "3/1"}}},
		"zones hard, z1 has more than twice": {hardZone, unlike, 3, []step{{3, "3/2/1"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, sharedLab(t), tc.adapters...)
			p.scheduler = tc.scheduler
			p.seen()
			x := p.vpod("x")
			p.grow(x, tc.has, p.on(0))
			p.steps(x, tc.steps)
		})
	}
}

func TestC12_AvailabilitySpreadsWhatOneAdapterCouldHold(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "z1", "z2", "z3")...)
	x, y := p.vpod("x"), p.vpod("y")
	y.SchedulerName = v1alpha1.SchedulerNameMaxFillUp
	p.steps(x, []step{{4, "2/1/1"}})
	p.steps(y, []step{{4, "4/0/0"}})
}

// Two adapters are on one host, the third is on another, which gets a zone in the end.
func TestC31_WithoutZoneLabelsHostsDecide(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, lab.Adapter{Host: "h1", Capacity: 10}, lab.Adapter{Host: "h1", Capacity: 10}, lab.Adapter{Host: "h2", Capacity: 10})
	x := p.vpod("x")
	p.steps(x, []step{{4, "1/1/2"}})

	before := p.where()
	p.nodeLabel(2, corev1.LabelTopologyZone, "z1")
	p.seen()
	p.steps(x, []step{{1, "2/1/2"}, {1, "2/2/2"}, {1, "2/2/3"}})
	p.unmoved(before)
}

// Adapters without a zone share one, so that x of "1/1/1" is 3 in one zone, and then 2 and 1 in two.
func TestC31_ALabelChangesNewDecisionsOnly(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "", "", "")...)
	x, y := p.vpod("x"), p.vpod("y")
	p.steps(x, []step{{3, "1/1/1"}})
	p.steps(y, []step{{3, "1/1/1"}, {1, "2/1/1"}})

	before := p.where()
	p.nodeLabel(2, corev1.LabelTopologyZone, "z1")
	p.seen()
	p.steps(x, []step{{1, "1/1/2"}})
	p.unmoved(before)
}
