package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	intree "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/plugins"
	"vpod.dev/vpod-scheduler/pkg/plugins/podfitsresources"
)

// useOwn checks a configuration that the user wrote for what the scheduler lets pass although it would do harm here,
// has it use our lease unless it names another, and lets the flags count that
// the scheduler ignores beside it.
func useOwn(flags *pflag.FlagSet, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	if _, err := options.LoadConfigFromFile(klog.Background(), path); err != nil {
		return nil // The scheduler will read it so, too, and say what is wrong.
	}
	// Read once more, without the scheduler's defaults: they hide what is left out.
	var c configv1.KubeSchedulerConfiguration
	if err := yaml.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	if err := utilerrors.NewAggregate(checkProfiles(c.Profiles)); err != nil {
		return fmt.Errorf("checking the configuration %s: %w", path, err)
	}
	if err := nameLease(flags, c.LeaderElection.ResourceNamespace, c.LeaderElection.ResourceName); err != nil {
		return err
	}
	if !slices.ContainsFunc(connectionFlags, flags.Changed) {
		return nil
	}
	config, err := withConnectionFlags(data, flags)
	if err != nil {
		return fmt.Errorf("adding how to reach the API server to the configuration: %w", err)
	}
	return serveAs(flags, config)
}

// nameLease names our lease where neither the configuration nor a flag names one. The default is the lease of
// kube-scheduler, beside which this scheduler would stand by for ever.
func nameLease(flags *pflag.FlagSet, namespace, name string) error {
	for flag, lease := range map[string]struct{ configured, ours string }{
		"leader-elect-resource-name":      {name, v1alpha1.SchedulerLease},
		"leader-elect-resource-namespace": {namespace, v1alpha1.Namespace},
	} {
		if lease.configured != "" || flags.Changed(flag) {
			continue
		}
		if err := flags.Set(flag, lease.ours); err != nil {
			return fmt.Errorf("naming the lease: %w", err)
		}
	}
	return nil
}

// checkProfiles refuses what would make a profile of a user's own act as another scheduler: as default-scheduler, by
// name or for want of one; or with the default plugins, which place any pod and need rights that this scheduler does
// not have. And it refuses what the scheduler would ignore, or find out in its first cycle.
func checkProfiles(profiles []configv1.KubeSchedulerProfile) []error {
	path := field.NewPath("profiles")
	if len(profiles) == 0 {
		return []error{field.Required(path, "without one the scheduler would act as "+v1.DefaultSchedulerName)}
	}
	ours, known := plugins.All(), intree.NewInTreeRegistry()
	for name, factory := range ours {
		known[name] = factory
	}
	var errs []error
	for i, profile := range profiles {
		path := path.Index(i)
		switch name := profile.SchedulerName; {
		case name == nil:
			errs = append(errs, field.Required(path.Child("schedulerName"), "without it the profile would act as "+v1.DefaultSchedulerName))
		case *name == v1.DefaultSchedulerName:
			errs = append(errs, field.Invalid(path.Child("schedulerName"), *name, "is the cluster's own scheduler, which this one runs beside"))
		}
		var enabled configv1.Plugins
		if profile.Plugins != nil {
			enabled = *profile.Plugins
		}
		errs = append(errs, checkPlugins(path.Child("plugins"), enabled, known, ours)...)
		for j, config := range profile.PluginConfig {
			if err := checkArgs(path.Child("pluginConfig").Index(j), config, known, ours); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// checkPlugins: multiPoint starts from nothing and holds what keeps the promises; and of ours, all extension points are
// enabled or none, since they need each other.
func checkPlugins(path *field.Path, enabled configv1.Plugins, known frameworkruntime.Registry, ours map[string]plugins.Factory) []error {
	var errs []error
	multiPoint := path.Child("multiPoint")
	for i, plugin := range enabled.MultiPoint.Enabled {
		path := multiPoint.Child("enabled").Index(i)
		if known[plugin.Name] == nil {
			errs = append(errs, field.Invalid(path.Child("name"), plugin.Name, "is no plugin of this scheduler"))
		}
		if plugin.Weight != nil && *plugin.Weight < 0 {
			errs = append(errs, field.Invalid(path.Child("weight"), *plugin.Weight, "must be at least 0"))
		}
	}
	if !names(enabled.MultiPoint.Disabled, "*") {
		errs = append(errs, field.Required(multiPoint.Child("disabled"),
			`must hold the name "*": else the profile has all plugins of kube-scheduler; start from a copy of a profile that ships`))
	}
	if !names(enabled.MultiPoint.Enabled, podfitsresources.Name) {
		errs = append(errs, field.Required(multiPoint.Child("enabled"),
			"must hold "+podfitsresources.Name+", which keeps adapters within their capacity and other pods out"))
	}
	for point, set := range map[string]configv1.PluginSet{
		"preFilter": enabled.PreFilter, "filter": enabled.Filter, "postFilter": enabled.PostFilter,
		"preScore": enabled.PreScore, "score": enabled.Score, "bind": enabled.Bind,
	} {
		for i, plugin := range set.Enabled {
			if ours[plugin.Name] != nil && !names(enabled.MultiPoint.Enabled, plugin.Name) {
				errs = append(errs, field.Invalid(path.Child(point, "enabled").Index(i).Child("name"), plugin.Name,
					"must be enabled in multiPoint: its extension points need each other"))
			}
		}
	}
	return errs
}

// checkArgs reads the arguments of a plugin of ours, whether it is enabled or not.
func checkArgs(path *field.Path, config configv1.PluginConfig, known frameworkruntime.Registry, ours map[string]plugins.Factory) error {
	if known[config.Name] == nil {
		return field.Invalid(path.Child("name"), config.Name, "is no plugin of this scheduler")
	}
	factory := ours[config.Name]
	if factory == nil || len(config.Args.Raw) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := factory(ctx, &runtime.Unknown{Raw: config.Args.Raw}, unplugged{}); err != nil {
		return fmt.Errorf("%s: %w", path.Child("args"), err)
	}
	return nil
}

// unplugged stands for the framework of a plugin that is made only to read its arguments.
type unplugged struct{ fwk.Handle }

func (unplugged) ProfileName() string             { return "" }
func (unplugged) ClientSet() kubernetes.Interface { return nil }

func names(plugins []configv1.Plugin, name string) bool {
	return slices.ContainsFunc(plugins, func(p configv1.Plugin) bool { return p.Name == name })
}
