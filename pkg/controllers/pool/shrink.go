package pool

import (
	"fmt"
	"strings"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// shrink says how far the pool can be drained from above: to the number of adapters that is returned, not below lowest. If
// that is more than lowest, why tells the reason.
func (s state) shrink(c census, lowest int32) (end int32, why string) {
	first, _ := adapter.Ordinals(s.set)
	floor := s.foreignFloor(c, int(lowest))
	ordinal, blocked := c.pool.Shrink(first+floor, c.serves, s.tenants())
	switch end = int32(ordinal - first); {
	case end > int32(floor):
		return end, s.cannotLose(end-1) + ": " + words(blocked)
	case floor > int(lowest):
		return end, s.cannotLose(end-1) + ": it has pods that no VPod controls, and nothing moves those: " +
			wording.List(s.foreignOn(int(end-1)), maxNamed)
	}
	return end, ""
}

// cannotLose names the adapter with the highest ordinal that has to stay.
func (s state) cannotLose(i int32) string {
	return s.members[i].id.PodName(s.pool) + " is not removed"
}

// words are what blocks a drain.
func words(blocked placement.Drain) string {
	var all []string
	for _, stuck := range blocked.Stuck {
		all = append(all, stuck.String())
	}
	if more := len(all) - maxNamed; more > 0 {
		all = append(all[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

// foreignFloor is the fewest adapters, but not below lowest, that leave every pod where it is that nothing moves.
func (s state) foreignFloor(c census, lowest int) int {
	for i := len(s.members) - 1; i >= lowest; i-- {
		if c.fixed[s.members[i].id.NodeName()] {
			return i + 1
		}
	}
	return lowest
}

// foreignOn names the pods on an adapter that no VPod controls, and that do not go by themselves.
func (s state) foreignOn(i int) []string {
	vpods := s.byName()
	var names []string
	for _, pod := range s.placeholders {
		if pod.Spec.NodeName != s.members[i].id.NodeName() || adapter.IsFinished(pod) {
			continue
		}
		if vpod := controllerOf(pod, vpods); vpod == nil && !goes(pod, vpod) {
			names = append(names, pod.Namespace+"/"+pod.Name)
		}
	}
	return names
}

// tenants are the VPods. Of one that is being deleted nothing is left to be moved: see goes.
func (s state) tenants() []placement.Tenant {
	tenants := make([]placement.Tenant, 0, len(s.vpods))
	for _, vpod := range s.vpods {
		tenants = append(tenants, placement.Tenant{VPod: idOf(vpod), Rules: rulesOf(vpod), Limit: limitOf(vpod)})
	}
	return tenants
}

// rulesOf are those that place the vreplicas of a VPod.
func rulesOf(vpod *v1alpha1.VPod) placement.Rules {
	rules, _ := adapter.RulesOf(vpod)
	return rules
}
