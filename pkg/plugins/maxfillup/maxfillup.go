// Package maxfillup packs: adapters that serve the vpod already come first, then the lowest ordinal.
package maxfillup

import (
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
)

// Name is the plugin's name in configurations.
const Name = "MaxFillUp"

// New makes the plugin for a profile.
var New = rule.Prefer(Name, placement.FillUp)
