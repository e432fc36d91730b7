// Package availabilitynodepriority spreads the vreplicas of a vpod over the hosts that adapters run on.
package availabilitynodepriority

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
const Name = "AvailabilityNodePriority"

// Reason is why a node is refused.
const Reason = "adapter(s) on a host too far ahead in vreplicas of the vpod"

// New makes the plugin for a profile.
func New(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := rule.Decode(Name, obj, spread.DomainArgs{
		Args: spread.Args{MaxSkew: 1, WhenUnsatisfiable: v1.ScheduleAnyway},
	}, spread.DomainArgs.Validate)
	if err != nil {
		return nil, err
	}
	return spread.New(Name, profile, spread.Level{
		Topology: placement.ByHost, Criterion: placement.FewestOnHost, Domain: "host", Reason: Reason,
	}, args), nil
}
