package plugins_test

import (
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// The scheduler may reuse the results of a pod for the next one with the same signature. Shipped profiles refuse to
// sign, since each placement changes what is judged.
func TestShippedProfilesRefuseToSign(t *testing.T) {
	for _, profile := range []string{v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp} {
		c := newCluster(t, shipped(t, profile))
		if got := c.fw.SignPod(c.ctx, c.vreplica("x").Obj()); got != nil {
			t.Errorf("%s signs %s", profile, got)
		}
	}
}

func TestSignaturesTellApartWhatTheRulesTellApart(t *testing.T) {
	soft := map[string]any{"whenUnsatisfiable": "ScheduleAnyway"}
	rules := []string{"PodFitsResources", "NoMaxResourceCount", "EvenPodSpread*101", "AvailabilityZonePriority*1", "AvailabilityNodePriority*1", "LowestOrdinalPriority*1", "MaxFillUp*1"}
	c := newCluster(t, enable(t, map[string]any{"EvenPodSpread": soft}, rules...))
	sign := func(vpod, pool, limit string) string {
		pod := c.vreplica(vpod).Label(v1alpha1.LabelPool, pool).Annotation(v1alpha1.AnnotationMaxAdapters, limit)
		return string(c.fw.SignPod(c.ctx, pod.Obj()))
	}
	one := sign("x", "p", "2")
	if one == "" || one != sign("x", "p", "2") {
		t.Errorf("two vreplicas of one vpod differ, or are not signed: %q", one)
	}
	for name, other := range map[string]string{
		"vpod": sign("y", "p", "2"), "pool": sign("x", "q", "2"), "limit": sign("x", "p", "3"), "refused": sign("x", "p", "0"),
	} {
		if other == one {
			t.Errorf("another %s has the same signature", name)
		}
	}
	if hard := newCluster(t, enable(t, nil, rules...)); hard.fw.SignPod(hard.ctx, hard.vreplica("x").Obj()) != nil {
		t.Error("a hard spread rule signs, though a placement lets adapters pass that were refused before")
	}
}
