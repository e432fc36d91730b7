// Package availabilityzonepriority spreads the vreplicas of a vpod over zones, so that the loss of one takes few.
package availabilityzonepriority

import (
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/spread"
)

// Name is the plugin's name in configurations.
const Name = "AvailabilityZonePriority"

// Reason is why a node is refused.
const Reason = "adapter(s) in a zone too far ahead in vreplicas of the vpod"

// New makes the plugin for a profile.
var New = spread.OverDomains(Name, spread.Level{
	Topology: placement.ByZone, Criterion: placement.FewestInZone, Domain: "zone", Reason: Reason,
})
