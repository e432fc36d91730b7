package integration

import (
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// X and Y fill two adapters exactly, whichever of them is first where; Z finds nothing left.
func TestC1_ParallelVPodsNeverOverfillAnAdapter(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "z1", "z2")...)
	p.scheduler = v1alpha1.SchedulerNameMaxFillUp
	audit := p.audit(10)
	for range 10 {
		p.grow(p.vpod("x"), 1)
		p.grow(p.vpod("y"), 1)
	}
	z := p.vpod("z")
	last := p.grow(z, 1)[0]
	p.refusedFor(z, "0/0", 1, full(2))
	p.placed(20)

	p.adapter(lab.Adapter{Ordinal: 2, Zone: "z3", Host: "host-2", Capacity: 10})
	p.settled(z, "0/0/1", 0)
	audit.hasSeen(t, last)
	audit.check(t)
}

func TestG2_NothingWaitsWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	for _, scheduler := range []string{v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp} {
		t.Run(scheduler, func(t *testing.T) {
			t.Parallel()
			p := sharedPool(t,
				lab.Adapter{Zone: "z1", Host: "h1", Capacity: 1}, lab.Adapter{Zone: "z1", Host: "h1", Capacity: 4},
				lab.Adapter{Zone: "z2", Host: "h2", Capacity: 2}, lab.Adapter{Capacity: 3})
			p.scheduler = scheduler
			for range 5 {
				p.grow(p.vpod("x"), 1)
				p.grow(p.vpod("y"), 1)
			}
			z := p.vpod("z")
			last := p.grow(z, 1)[0]
			p.refusedFor(z, "0/0/0/0", 1, full(4))
			p.placed(10)
			p.delete("x-vreplica-0")
			p.bound(labtest.TimeLimit(t), last)
		})
	}
}
