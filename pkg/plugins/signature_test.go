package plugins_test

import (
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// The scheduler may reuse the results of a pod for the next one with the same signature. Whatever prefers or narrows
// refuses to sign, and with it the shipped profiles.
func TestPreferencesRefuseToSign(t *testing.T) {
	profiles := map[string]*config.KubeSchedulerProfile{}
	for _, name := range []string{v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp} {
		profiles[name] = shipped(t, name)
	}
	soft := map[string]any{"EvenPodSpread": map[string]any{"whenUnsatisfiable": "ScheduleAnyway"}}
	for _, name := range []string{"EvenPodSpread", "AvailabilityZonePriority", "AvailabilityNodePriority", "LowestOrdinalPriority", "MaxFillUp"} {
		profiles[name] = enable(t, soft, "PodFitsResources", name+"*1")
	}
	profiles["Contenders"] = enable(t, nil, "Contenders", "PodFitsResources")
	for name, profile := range profiles {
		c := newCluster(t, profile)
		if got := c.fw.SignPod(c.ctx, c.vreplica("x").Obj()); got != nil {
			t.Errorf("%s signs %s", name, got)
		}
	}
}

func TestSignaturesTellApartWhatTheRulesTellApart(t *testing.T) {
	c := newCluster(t, enable(t, nil, "PodFitsResources", "NoMaxResourceCount"))
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
}
