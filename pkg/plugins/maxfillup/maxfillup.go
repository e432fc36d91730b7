// Package maxfillup packs: adapters that serve the vpod already come first, then the lowest ordinal.
package maxfillup

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Name is the plugin's name in configurations.
const Name = "MaxFillUp"

// New makes the plugin for a profile.
func New(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
	if _, err := rule.Decode(Name, obj, rule.NoArgs{}, nil); err != nil {
		return nil, err
	}
	return rule.Preference{Rule: rule.New(Name, profile), Criterion: placement.FillUp}, nil
}
