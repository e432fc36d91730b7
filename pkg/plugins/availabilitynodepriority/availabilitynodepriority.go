// Package availabilitynodepriority spreads the vreplicas of a vpod over the hosts that adapters run on.
package availabilitynodepriority

import (
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/spread"
)

// Name is the plugin's name in configurations.
const Name = "AvailabilityNodePriority"

// Reason is why a node is refused.
const Reason = "adapter(s) on a host too far ahead in vreplicas of the vpod"

// New makes the plugin for a profile.
var New = spread.OverDomains(Name, spread.Level{
	Topology: placement.ByHost, Criterion: placement.FewestOnHost, Domain: "host", Reason: Reason,
})
