package plugins_test

import (
	"fmt"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestC12_AvailabilitySpreadsAndFillPacks(t *testing.T) {
	for profile, want := range map[string]string{
		v1alpha1.SchedulerName:          "[a-0 a-1 a-2 a-0]",
		v1alpha1.SchedulerNameMaxFillUp: "[a-0 a-0 a-0 a-0]",
	} {
		c := newCluster(t, shipped(t, profile))
		for i := range 3 {
			c.addNode(adapter(fmt.Sprint("a-", i), i, fmt.Sprint("z", i), fmt.Sprint("h", i), 10))
		}
		var got []string
		for range 4 {
			got = append(got, c.place(c.vreplica("x").Obj()))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: placed on %v, want %s", profile, got, want)
		}
	}
}
