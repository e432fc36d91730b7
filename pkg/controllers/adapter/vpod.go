package adapter

import (
	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// DesiredReplicas is the number of vreplicas that a VPod asks for. A spec without a number leaves it as it was: so a manifest
// without it, put in place of one that a scaler has set, does not reset the scale.
func DesiredReplicas(vpod *v1alpha1.VPod) int {
	switch {
	case vpod.Spec.Replicas != nil:
		return int(*vpod.Spec.Replicas)
	case vpod.Status.DesiredReplicas != nil:
		return int(*vpod.Status.DesiredReplicas)
	}
	return 1
}

// profiles are the rules of those that ship with the scheduler.
var profiles = map[string]placement.Rules{
	"":                              placement.Availability, // stored before there was a default
	v1alpha1.SchedulerName:          placement.Availability,
	v1alpha1.SchedulerNameMaxFillUp: placement.MaxFillUp,
}

// RulesOf are those of the profile that places the vreplicas of a VPod. Of somebody's own profile nothing is known; it is
// taken for one that spreads.
func RulesOf(vpod *v1alpha1.VPod) (rules placement.Rules, known bool) {
	if rules, known = profiles[vpod.Spec.SchedulerName]; !known {
		rules = placement.Availability
	}
	return rules, known
}
