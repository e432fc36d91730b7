package placement_test

import (
	"fmt"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// BenchmarkDrain is what it costs to plan how the upper half of a pool loses all its vreplicas to the lower half: 200
// adapters, of which the upper ones have 5000 vreplicas.
func BenchmarkDrain(b *testing.B) {
	profiles := map[string]placement.Rules{"availability": placement.Availability, "maxfillup": placement.MaxFillUp}
	for _, vpods := range []int{1, 50, 1000} {
		for name, rules := range profiles {
			built, tenants := benchDrain(vpods, rules)
			b.Run(fmt.Sprintf("%s/%d-vpods", name, vpods), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if d := built.Drain(func(slot int) bool { return slot < 100 }, nil, tenants); !d.OK() || len(d.Moves) != 5000 {
						b.Fatalf("%d moves, stuck %v", len(d.Moves), d.Stuck)
					}
				}
			})
		}
	}
}

func benchDrain(vpods int, rules placement.Rules) (*placement.Pool, []placement.Tenant) {
	built := placement.NewPool()
	for i := range 200 {
		counts := map[placement.VPod]int{}
		if i >= 100 {
			for n := range 50 {
				counts[vpodID(fmt.Sprint((i*50+n)%vpods))]++
			}
		}
		built.Put(placement.Adapter{
			Name: fmt.Sprint("a-", i), Ordinal: i, Zone: fmt.Sprint(i % 3), Host: fmt.Sprint(i / 4),
			Capacity: 55, Free: 55 - 50*int64(i/100),
		}, counts)
	}
	var tenants []placement.Tenant
	for n := range vpods {
		tenants = append(tenants, placement.Tenant{VPod: vpodID(fmt.Sprint(n)), Rules: rules})
	}
	return built, tenants
}

// BenchmarkShrinkInVain is what it costs to find that only the uppermost adapters can go: the 200 adapters above are wanted
// to be 100, and a vpod that may use one adapter finds none that has room for all that it has.
func BenchmarkShrinkInVain(b *testing.B) {
	built, tenants := benchDrain(50, placement.Availability)
	limited := placement.VPod{Namespace: "default", Kind: "VPod", Name: "limited"}
	tenants = append(tenants, placement.Tenant{VPod: limited, Rules: placement.Availability, Limit: 1})
	built.Put(placement.Adapter{Name: "a-200", Ordinal: 200, Capacity: 100, Free: 20}, map[placement.VPod]int{limited: 80})
	b.ReportAllocs()
	for b.Loop() {
		if end, _ := built.Shrink(110, nil, tenants); end != 201 {
			b.Fatalf("end %d, want 201", end)
		}
	}
}
