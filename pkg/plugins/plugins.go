// Package plugins lists the placement plugins.
package plugins

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/plugins/availabilitynodepriority"
	"vpod.dev/vpod-scheduler/pkg/plugins/availabilityzonepriority"
	"vpod.dev/vpod-scheduler/pkg/plugins/contenders"
	"vpod.dev/vpod-scheduler/pkg/plugins/evenpodspread"
	"vpod.dev/vpod-scheduler/pkg/plugins/lowestordinalpriority"
	"vpod.dev/vpod-scheduler/pkg/plugins/maxfillup"
	"vpod.dev/vpod-scheduler/pkg/plugins/nomaxresourcecount"
	"vpod.dev/vpod-scheduler/pkg/plugins/podfitsresources"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/plugins/surebinder"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Factory makes a plugin for a profile.
type Factory = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error)

// All returns the factory of each plugin by name, for one scheduler: the plugins that it makes share their view of the
// cluster.
func All() map[string]Factory {
	profiles := snapshot.NewProfiles()
	factories := map[string]Factory{}
	for name, build := range map[string]rule.Factory{
		contenders.Name:               contenders.New,
		podfitsresources.Name:         podfitsresources.New,
		nomaxresourcecount.Name:       nomaxresourcecount.New,
		evenpodspread.Name:            evenpodspread.New,
		availabilityzonepriority.Name: availabilityzonepriority.New,
		availabilitynodepriority.Name: availabilitynodepriority.New,
		lowestordinalpriority.Name:    lowestordinalpriority.New,
		maxfillup.Name:                maxfillup.New,
		surebinder.Name:               surebinder.New,
	} {
		factories[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			return build(ctx, args, profiles.Get(handle), handle)
		}
	}
	return factories
}
