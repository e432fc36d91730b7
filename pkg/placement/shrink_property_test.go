package placement_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// The lowest end is found by trying one after the other. Where ordinals are far apart, at least the next lower one fails.
func TestShrinkFindsTheLowestEndThatDrains(t *testing.T) {
	everyDrain(t, func(rng *rand.Rand, d drain) error {
		built := build(d.pool)
		open, tenants, lowest := openOf(d.pool, built), d.tenants(), rng.IntN(4)
		if oneIn(rng, 3) {
			tenants = tenants[1:]
		}
		plan := func(end int) placement.Drain { return built.Drain(below(built, end), open, tenants) }
		end, blocked := built.Shrink(lowest, open, tenants)
		switch {
		case end < lowest || !plan(end).OK():
			return fmt.Errorf("from %d on: %d, where %v are stuck", lowest, end, plan(end).Stuck)
		case end == lowest && !blocked.OK():
			return fmt.Errorf("nothing is in the way of %d, but blocked by %v", end, blocked.Stuck)
		case end > lowest && (blocked.OK() || !reflect.DeepEqual(blocked, plan(end-1))):
			return fmt.Errorf("from %d on: %d, blocked by %+v, want what blocks the next drain", lowest, end, blocked)
		}
		for lower := lowest; lower < end-1 && end < 64; lower++ {
			if plan(lower).OK() {
				return fmt.Errorf("from %d on: %d, but %d drains", lowest, end, lower)
			}
		}
		return nil
	})
}

func FuzzDrain(f *testing.F) {
	f.Add([]byte{0x31, 0x07, 0x52, 0x19}, uint8(2), uint8(1), uint8(0))
	f.Add([]byte{0xff, 0x00, 0x83, 0x7c, 0x7c, 0x7c}, uint8(3), uint8(0x35), uint8(2))
	f.Add([]byte{}, uint8(0), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, adapters []byte, end, limits, cordoned uint8) {
		if len(adapters) > 24 {
			t.Skip("more of the same")
		}
		d := drain{pool: &pool{}, kept: map[int]bool{}, policies: map[string]policy{}, limits: map[string]int{}}
		for i, b := range adapters {
			a := &adapter{name: fmt.Sprint("a-", i), ordinal: i, zone: fmt.Sprint(b & 1), capacity: int64(b >> 4)}
			a.cordoned = i == int(cordoned)
			for n := range int(b>>1) & 7 {
				a.vreplicas = append(a.vreplicas, vreplica{vpod: vpods[(n+i)%len(vpods)], size: 1, terminating: n == 5})
			}
			d.pool.adapters = append(d.pool.adapters, a)
			d.kept[i] = i < int(end)
		}
		for i, vpod := range vpods {
			d.limits[vpod] = int(limits>>(2*i)) & 3
			d.policies[vpod] = []policy{availability, maxFillUp}[(i+len(adapters))%2]
		}
		if err := d.checkPlan(d.plan(build(d.pool))); err != nil {
			t.Errorf("%v%+v: %v", d.pool, d, err)
		}
	})
}
