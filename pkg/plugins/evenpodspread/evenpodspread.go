// Package evenpodspread spreads the vreplicas of a vpod over adapters.
package evenpodspread

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/plugins/spread"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Name is the plugin's name in configurations.
const Name = "EvenPodSpread"

// Reason is why a node is refused.
const Reason = "adapter(s) too far ahead in vreplicas of the vpod"

// New makes the plugin for a profile.
func New(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := rule.Decode(Name, obj, spread.Args{MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule}, validate)
	if err != nil {
		return nil, err
	}
	return spread.New(Name, profile, spread.Level{
		Topology: placement.ByAdapter, Criterion: placement.FewestOnAdapter, Domain: "adapter", Reason: Reason,
	}, spread.DomainArgs{Args: args}), nil
}

func validate(args spread.Args) field.ErrorList { return spread.DomainArgs{Args: args}.Validate() }
