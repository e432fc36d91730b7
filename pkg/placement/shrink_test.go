package placement_test

import (
	"fmt"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

func TestShrinkStopsWhereTheNextAdapterCannotBeEmptied(t *testing.T) {
	at := []string{"", "", "", "", ""}
	for name, tc := range map[string]struct {
		has    map[string][]int
		limit  int
		lowest int
		want   int
		// wantBlocked is what keeps it from going further.
		wantBlocked string
	}{
		"as far as it may":     {has: map[string][]int{"x": {1, 0, 1, 0, 1}}, lowest: 2, want: 2},
		"to nothing":           {has: map[string][]int{}, want: 0},
		"beyond what there is": {has: map[string][]int{"x": {1, 0, 1, 0, 1}}, lowest: 7, want: 7},
		"sum": {
			has: map[string][]int{"x": {3, 3, 3, 0, 1}}, lowest: 1, want: 3,
			wantBlocked: "2 vreplicas of VPod default/x, the first on a-2: no room on the 2 open adapters kept",
		},
		"limit": {
			has: map[string][]int{"x": {0, 0, 0, 4, 0}, "y": {1, 1, 1, 0, 0}}, limit: 1, lowest: 3, want: 4,
			wantBlocked: "1 vreplica of VPod default/x, the first on a-3: uses 1 adapter of at most 1, " +
				"and the room for 6 is on others",
		},
	} {
		t.Run(name, func(t *testing.T) {
			built := build(spread(4, at, tc.has))
			var tenants []placement.Tenant
			for vpod := range tc.has {
				tenants = append(tenants, placement.Tenant{VPod: vpodID(vpod), Rules: placement.MaxFillUp})
				if vpod == "x" {
					tenants[len(tenants)-1].Limit = tc.limit
				}
			}
			end, blocked := built.Shrink(tc.lowest, nil, tenants)
			got := ""
			for _, s := range blocked.Stuck {
				got += s.String()
			}
			if end != tc.want || got != tc.wantBlocked {
				t.Errorf("shrinks to %d, blocked by %q, want %d, %q", end, got, tc.want, tc.wantBlocked)
			}
		})
	}
}

// Each vreplica of x goes where the vpod is already, and the first one to the lowest adapter, which has room for one: so x
// stays where it is, however many adapters are kept.
func TestShrinkOfManyAdaptersThatAllFail(t *testing.T) {
	built := placement.NewPool()
	for i := range 1000 {
		counts := map[placement.VPod]int{vpodID("y"): 1}
		if i == 990 {
			counts = map[placement.VPod]int{vpodID("x"): 2}
		}
		built.Put(placement.Adapter{
			Name: fmt.Sprintf("a-%d", i), Ordinal: i, Capacity: 2, Free: 2 - int64(counts[vpodID("x")]+counts[vpodID("y")]),
		}, counts)
	}
	tenants := []placement.Tenant{
		{VPod: vpodID("x"), Rules: placement.MaxFillUp, Limit: 1}, {VPod: vpodID("y"), Rules: placement.MaxFillUp},
	}
	end, blocked := built.Shrink(10, nil, tenants)
	if end != 991 || len(blocked.Stuck) != 1 || blocked.Stuck[0].Adapter != "a-990" {
		t.Errorf("shrinks to %d, blocked by %v, want 991 because of a-990", end, blocked.Stuck)
	}
}
