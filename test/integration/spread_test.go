package integration

import (
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestC12_AvailabilitySpreadsWhatOneAdapterCouldHold(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "z1", "z2", "z3")...)
	x, y := p.vpod("x"), p.vpod("y")
	y.SchedulerName = v1alpha1.SchedulerNameMaxFillUp
	p.grow(x, 4)
	p.settled(x, "2/1/1", 0)
	p.grow(y, 4)
	p.settled(y, "4/0/0", 0)
}

func TestC4_ADomainWithoutRoomHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "z1", "z2", "z3")...)
	p.grow(p.vpod("other"), 9, p.on(2))
	x := p.vpod("x")
	p.grow(x, 9)
	p.settled(x, "4/4/1", 0)
}
