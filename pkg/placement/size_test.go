package placement_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// berths are named by their position. Each is what its text says: "o" open, "s" starting, "c4" cordoned holding 4, "l" lost,
// "o-3" open with 3 taken by pods of no VPod.
func berths(texts ...string) []placement.Berth {
	states := map[byte]placement.State{
		'o': placement.Open, 's': placement.Starting, 'c': placement.Cordoned, 'l': placement.Lost,
	}
	var all []placement.Berth
	for i, text := range texts {
		b := placement.Berth{Name: fmt.Sprint(i), State: states[text[0]]}
		var n int64
		if _, err := fmt.Sscanf(text[1:], "%d", &n); err == nil && n < 0 {
			b.Foreign = -n
		} else {
			b.Held = n
		}
		all = append(all, b)
	}
	return all
}

func replicas(numbers ...int64) []placement.Demand {
	var demands []placement.Demand
	for _, n := range numbers {
		demands = append(demands, placement.Demand{Replicas: n})
	}
	return demands
}

func TestSizeSaysHowManyAdaptersAndWhy(t *testing.T) {
	upTo9 := placement.Bounds{Min: 1, Max: 9}
	for name, tc := range map[string]struct {
		berths   []placement.Berth
		demands  []placement.Demand
		capacity int64
		bounds   placement.Bounds
		want     string
	}{
		"C20 min 3, no vpods": {
			capacity: 10, bounds: placement.Bounds{Min: 3, Max: 9},
			want: "3: 0 vreplicas wanted, 10 per adapter; needed 0, minReplicas is 3",
		},
		"C20 max 4, need 6": {
			demands: replicas(60), capacity: 10, bounds: placement.Bounds{Min: 1, Max: 4},
			want: "4: 60 vreplicas wanted, 10 per adapter; needed 6, maxReplicas is 4",
		},
		"C16 18 placed and 5 waiting on 2 adapters: 3": {
			berths: berths("o10", "o8"), demands: replicas(18, 5), capacity: 10, bounds: upTo9,
			want: "3: 23 vreplicas wanted, 10 per adapter",
		},
		"C16 25 at once, 1 adapter: 3": {
			berths: berths("o"), demands: replicas(25), capacity: 10, bounds: upTo9,
			want: "3: 25 vreplicas wanted, 10 per adapter",
		},
		"C9 one that does not start is not replaced": {
			berths: berths("o10", "o10", "s"), demands: replicas(20, 5), capacity: 10, bounds: upTo9,
			want: "3: 25 vreplicas wanted, 10 per adapter",
		},
		"C52 from 0": {
			demands: replicas(3), capacity: 10, bounds: placement.Bounds{Max: 9},
			want: "1: 3 vreplicas wanted, 10 per adapter",
		},
		"C52 to 0": {
			berths: berths("o1", "o"), demands: replicas(0), capacity: 10, bounds: placement.Bounds{Max: 9},
			want: "0: 0 vreplicas wanted, 10 per adapter",
		},
		"C18 2 adapters at most, 8 of capacity 3: 2 wait in any case": {
			berths: berths("o3", "o3", "o"), demands: []placement.Demand{{Replicas: 8, Limit: 2, AtLimit: true, Reach: 6}},
			capacity: 3, bounds: upTo9, want: "2: 6 vreplicas wanted, 3 per adapter; adapter limits hold back 2 more",
		},
		"C18 at the limit on a full adapter, where another vpod is": {
			berths: berths("o10"), demands: []placement.Demand{{Replicas: 8, Limit: 1, AtLimit: true, Reach: 5}, {Replicas: 5}},
			capacity: 10, bounds: upTo9, want: "1: 10 vreplicas wanted, 10 per adapter; adapter limits hold back 3 more",
		},
		"one is cordoned": {
			berths: berths("o10", "o10", "c4", "o10"), demands: replicas(43), capacity: 10, bounds: upTo9,
			want: "5: 43 vreplicas wanted, 10 per adapter, adapter 2 cordoned holding 4",
		},
		"one is lost, one has pods of no VPod": {
			berths: berths("l10", "o-3", "o"), demands: replicas(20), capacity: 10, bounds: upTo9,
			want: "4: 20 vreplicas wanted, 10 per adapter, adapter 0 lost, adapter 1 with 3 taken by pods of no VPod",
		},
		"no more than three are named": {
			berths: berths("l", "l", "c1", "l", "l", "o", "l"), demands: replicas(11), capacity: 10, bounds: upTo9,
			want: "6: 11 vreplicas wanted, 10 per adapter, adapter 0 lost, adapter 1 lost, adapter 2 cordoned holding 1, " +
				"2 more hold less as well",
		},
		"beyond the wanted ones none matters": {
			berths: berths("o", "l"), demands: replicas(1), capacity: 10, bounds: upTo9,
			want: "1: 1 vreplica wanted, 10 per adapter",
		},
		"a cordoned one that holds its capacity is as good as an open one": {
			berths: berths("c10"), demands: replicas(11), capacity: 10, bounds: upTo9, want: "2: 11 vreplicas wanted, 10 per adapter",
		},
		"a cordoned one above its capacity will lose the surplus": {
			berths: berths("c14"), demands: replicas(14), capacity: 10, bounds: upTo9, want: "2: 14 vreplicas wanted, 10 per adapter",
		},
		"rounded up": {
			demands: replicas(41), capacity: 10, bounds: placement.Bounds{Min: 1, Max: 9, Unit: 3, Of: "zones"},
			want: "6: 41 vreplicas wanted, 10 per adapter; needed 5, rounded up to a multiple of 3 zones",
		},
		"a multiple already": {
			demands: replicas(60), capacity: 10, bounds: placement.Bounds{Min: 1, Max: 9, Unit: 3, Of: "zones"},
			want: "6: 60 vreplicas wanted, 10 per adapter",
		},
		"none is a multiple of any number": {
			capacity: 10, bounds: placement.Bounds{Max: 9, Unit: 3}, want: "0: 0 vreplicas wanted, 10 per adapter",
		},
		"rounded up from the minimum": {
			demands: replicas(1), capacity: 10, bounds: placement.Bounds{Min: 4, Max: 9, Unit: 3, Of: "nodes"},
			want: "6: 1 vreplica wanted, 10 per adapter; needed 1, minReplicas is 4, rounded up to a multiple of 3 nodes",
		},
		"rounded up as far as the maximum": {
			demands: replicas(50), capacity: 10, bounds: placement.Bounds{Min: 1, Max: 7, Unit: 4, Of: "zones"},
			want: "7: 50 vreplicas wanted, 10 per adapter; needed 5, rounded up to a multiple of 4 zones, maxReplicas is 7",
		},
		"one beyond the maximum is lost, so more are needed": {
			berths: berths("o10", "o10", "l"), demands: replicas(25), capacity: 10, bounds: placement.Bounds{Min: 1, Max: 2},
			want: "2: 25 vreplicas wanted, 10 per adapter, adapter 2 lost; needed 4, maxReplicas is 2",
		},
		"above the maximum already": {
			demands: replicas(60), capacity: 10, bounds: placement.Bounds{Min: 1, Max: 4, Unit: 5, Of: "zones"},
			want: "4: 60 vreplicas wanted, 10 per adapter; needed 6, maxReplicas is 4",
		},
		"numbers beyond all bounds": {
			demands:  []placement.Demand{{Replicas: math.MaxInt64, Limit: math.MaxInt32}, {Replicas: math.MaxInt64}, {Replicas: -5}},
			capacity: math.MaxInt64, bounds: placement.Bounds{Max: 9},
			want: "1: 9223372036854775807 vreplicas wanted, 9223372036854775807 per adapter",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := placement.SizeOf(tc.berths, tc.demands, tc.capacity, tc.bounds).String()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDemandCountsWhatCanBeReached(t *testing.T) {
	x := func(n int) []vreplica {
		var all []vreplica
		for range n {
			all = append(all, vreplica{vpod: "x", size: 1})
		}
		return all
	}
	p := &pool{adapters: []*adapter{
		{name: "open", ordinal: 0, capacity: 5, vreplicas: x(2)},
		{name: "cordoned", ordinal: 1, capacity: 5, vreplicas: x(1)},
		{name: "lost", ordinal: 2, capacity: 5, vreplicas: x(3)},
		{name: "overcommitted", ordinal: 3, capacity: 1, vreplicas: x(2)},
		{name: "other", ordinal: 4, capacity: 5, vreplicas: []vreplica{{vpod: "y", size: 1}}},
		{name: "rival", ordinal: 0, born: 1, capacity: 5, vreplicas: x(1)},
	}}
	built := build(p)
	states := map[string]placement.State{"cordoned": placement.Cordoned, "lost": placement.Lost}
	state := func(slot int) placement.State { return states[built.At(slot).Name] }
	for limit, want := range map[int]placement.Demand{
		0: {Replicas: 9, Reach: 8},
		2: {Replicas: 9, Reach: 8, Limit: 2, AtLimit: true},
		3: {Replicas: 9, Reach: 8, Limit: 3, AtLimit: true},
		4: {Replicas: 9, Reach: 8, Limit: 4},
	} {
		if diff := cmp.Diff(want, built.Demand(vpodID("x"), 9, limit, state)); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
	if got, want := built.Demand(vpodID("new"), 9, 1, state), (placement.Demand{Replicas: 9, Limit: 1}); got != want {
		t.Errorf("of a vpod without vreplicas %+v, want %+v", got, want)
	}
}
