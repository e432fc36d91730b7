package vpod

import (
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestDecideFollowsThePrioritiesOfThePool(t *testing.T) {
	weighing := func(weights map[v1alpha1.RemovalPriority]int64) func(*v1alpha1.AdapterPool) {
		return func(p *v1alpha1.AdapterPool) {
			p.Spec.Descheduling = &v1alpha1.Descheduling{}
			for name, weight := range weights {
				p.Spec.Descheduling.Priorities = append(p.Spec.Descheduling.Priorities,
					v1alpha1.DeschedulingPriority{Name: name, Weight: weight})
			}
		}
	}
	// Zones have 3 and 2, hosts 1, 2 and 2, adapters 1, 2, 1 and 1.
	adapters := []string{"a-0 zone=z1 host=h1", "a-1 zone=z1 host=h2", "a-2 zone=z2 host=h3", "a-3 zone=z2 host=h3"}
	pods := []string{"0 @a-0", "1 @a-1", "2 @a-1", "3 @a-2", "4 @a-3"}
	for name, tc := range map[string]struct {
		weights map[v1alpha1.RemovalPriority]int64
		want    string
	}{
		"by default":  {want: "remove 2"},
		"zone":        {weights: map[v1alpha1.RemovalPriority]int64{v1alpha1.RemoveWithAvailabilityZonePriority: 1}, want: "remove 2"},
		"host":        {weights: map[v1alpha1.RemovalPriority]int64{v1alpha1.RemoveWithAvailabilityNodePriority: 1}, want: "remove 4"},
		"adapter":     {weights: map[v1alpha1.RemovalPriority]int64{v1alpha1.RemoveWithEvenPodSpreadPriority: 1}, want: "remove 2"},
		"the ordinal": {weights: map[v1alpha1.RemovalPriority]int64{v1alpha1.RemoveWithHighestOrdinalPriority: 1}, want: "remove 4"},
		"the ordinal more than the zone": {
			weights: map[v1alpha1.RemovalPriority]int64{
				v1alpha1.RemoveWithHighestOrdinalPriority: 101, v1alpha1.RemoveWithAvailabilityZonePriority: 1,
			},
			want: "remove 4",
		},
		"an empty list is the default": {weights: map[v1alpha1.RemovalPriority]int64{}, want: "remove 2"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(xVPod(4), adapterNodes(adapters...), pods...)
			o.pool = poolA(weighing(tc.weights))
			if got := decide(o).String(); got != tc.want {
				t.Errorf("plan %q, want %q", got, tc.want)
			}
		})
	}
}
