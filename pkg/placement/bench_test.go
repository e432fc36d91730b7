package placement_test

import (
	"fmt"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// BenchmarkDecision is what one vreplica of a vpod of 50 costs in a pool half full of vpods of 10: tally, contenders,
// ranks. The variants are how far the decision goes.
func BenchmarkDecision(b *testing.B) {
	for _, adapters := range []int{100, 1000, 5000, 10_000} {
		built := benchPool(adapters)
		r := placement.Request{VPod: vpodID("x"), Size: 1, Limit: 100, Open: func(slot int) bool { return slot%50 != 49 }}
		b.Run(fmt.Sprintf("tally+contenders+rank/%d", adapters), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tallied := built.Tally(r)
				tallied.Rank(tallied.Contenders(placement.Rules{}))
			}
		})
		b.Run(fmt.Sprintf("choose/%d", adapters), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := built.Tally(r).Choose(placement.Availability); !ok {
					b.Fatal("nothing chosen")
				}
			}
		})
		b.Run(fmt.Sprintf("clone+add+contenders/%d", adapters), func(b *testing.B) {
			b.ReportAllocs()
			tallied := built.Tally(r)
			for b.Loop() {
				supposed := tallied.Clone()
				supposed.Add(1, -1, 0)
				supposed.Contenders(placement.Rules{})
			}
		})
	}
}

// BenchmarkPut is what a changed node costs.
func BenchmarkPut(b *testing.B) {
	for _, adapters := range []int{100, 10_000} {
		built := benchPool(adapters)
		counts := map[placement.VPod]int{vpodID("x"): 1, vpodID("y-1"): 2, vpodID("y-2"): 2}
		a := built.At(adapters / 2)
		b.Run(fmt.Sprint(adapters), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				built.Put(a, counts)
			}
		})
	}
}

// benchPool has 3 zones and 2 adapters a host. Each adapter has half its room left, x is on every 50th part of them.
func benchPool(adapters int) *placement.Pool {
	built := placement.NewPool()
	for i := range adapters {
		counts := map[placement.VPod]int{}
		for n := range 10 {
			counts[vpodID(fmt.Sprintf("y-%d", i/10+n))] = 1
		}
		if i%max(1, adapters/50) == 0 {
			counts[vpodID("x")] = 1
		}
		built.Put(placement.Adapter{
			Name: fmt.Sprintf("a-%d", i), Ordinal: i, Zone: fmt.Sprintf("z%d", i/2%3), Host: fmt.Sprintf("h%d", i/2), Capacity: 20, Free: 10,
		}, counts)
	}
	return built
}

// BenchmarkVictims is what it costs to halve a vpod of one vreplica on each adapter.
func BenchmarkVictims(b *testing.B) {
	for _, adapters := range []int{10, 100, 1000} {
		built := benchPool(adapters)
		var candidates []placement.Candidate
		for i := range adapters {
			candidates = append(candidates, placement.Candidate{ID: fmt.Sprintf("x-%d", i), Index: i, Adapter: fmt.Sprintf("a-%d", i), Ready: true})
		}
		b.Run(fmt.Sprint(adapters), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				built.Victims(candidates, adapters/2, placement.Availability.Weights)
			}
		})
	}
}

// BenchmarkRebalance is what it costs to see that a vpod with a vreplica on each adapter is where it belongs.
func BenchmarkRebalance(b *testing.B) {
	for _, adapters := range []int{10, 200, 1000} {
		built := placement.NewPool()
		for i := range adapters {
			built.Put(placement.Adapter{
				Name: fmt.Sprint("a-", i), Ordinal: i, Zone: fmt.Sprint(i % 3), Host: fmt.Sprint(i / 2), Capacity: 2, Free: 1,
			}, map[placement.VPod]int{vpodID("x"): 1})
		}
		b.Run(fmt.Sprint(adapters), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				built.Rebalance(placement.Request{VPod: vpodID("x"), Size: 1}, placement.Availability)
			}
		})
	}
}
