// Package availabilityzonepriority spreads the vreplicas of a vpod over zones, so that the loss of one takes few.
package availabilityzonepriority

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/plugins/spread"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Name is the plugin's name in configurations.
const Name = "AvailabilityZonePriority"

// Reason is why a node is refused.
const Reason = "adapter(s) in a zone too far ahead in vreplicas of the vpod"

// New makes the plugin for a profile.
func New(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := rule.Decode(Name, obj, spread.DomainArgs{
		Args: spread.Args{MaxSkew: 1, WhenUnsatisfiable: v1.ScheduleAnyway},
	}, spread.DomainArgs.Validate)
	if err != nil {
		return nil, err
	}
	return spread.New(Name, profile, spread.Level{
		Topology: placement.ByZone, Criterion: placement.FewestInZone, Domain: "zone", Reason: Reason,
	}, args), nil
}
