// Package lowestordinalpriority prefers the lowest ordinal, so that the StatefulSet can shrink.
package lowestordinalpriority

import (
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
)

// Name is the plugin's name in configurations.
const Name = "LowestOrdinalPriority"

// New makes the plugin for a profile.
var New = rule.Prefer(Name, placement.LowestOrdinal)
