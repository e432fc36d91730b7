package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	intree "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
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
	if err := checkProfiles(c.Profiles).ToAggregate(); err != nil {
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
// not have. And it refuses plugins that do not exist, whose arguments would be ignored.
func checkProfiles(profiles []configv1.KubeSchedulerProfile) field.ErrorList {
	path := field.NewPath("profiles")
	if len(profiles) == 0 {
		return field.ErrorList{field.Required(path, "without one the scheduler would act as "+v1.DefaultSchedulerName)}
	}
	var errs field.ErrorList
	for i, profile := range profiles {
		errs = append(errs, checkName(path.Index(i).Child("schedulerName"), profile.SchedulerName)...)
		errs = append(errs, checkPlugins(path.Index(i), profile)...)
	}
	return errs
}

func checkName(path *field.Path, name *string) field.ErrorList {
	switch {
	case name == nil:
		return field.ErrorList{field.Required(path, "without it the profile would act as "+v1.DefaultSchedulerName)}
	case *name == v1.DefaultSchedulerName:
		return field.ErrorList{field.Invalid(path, *name, "is the cluster's own scheduler, which this one runs beside")}
	default:
		return nil
	}
}

func checkPlugins(path *field.Path, profile configv1.KubeSchedulerProfile) field.ErrorList {
	known := intree.NewInTreeRegistry()
	for name, factory := range plugins.All() {
		known[name] = factory
	}
	var errs field.ErrorList
	for i, config := range profile.PluginConfig {
		if known[config.Name] == nil {
			errs = append(errs, field.Invalid(path.Child("pluginConfig").Index(i).Child("name"), config.Name, "is no plugin of this scheduler"))
		}
	}
	var enabled configv1.Plugins
	if profile.Plugins != nil {
		enabled = *profile.Plugins
	}
	multiPoint := path.Child("plugins", "multiPoint")
	for i, plugin := range enabled.MultiPoint.Enabled {
		if known[plugin.Name] == nil {
			errs = append(errs, field.Invalid(multiPoint.Child("enabled").Index(i).Child("name"), plugin.Name, "is no plugin of this scheduler"))
		}
	}
	if !names(enabled.MultiPoint.Disabled, "*") {
		errs = append(errs, field.Required(multiPoint.Child("disabled"),
			`must hold the name "*": else the profile has all plugins of kube-scheduler; start from a copy of a profile that ships`))
	}
	if !names(enabled.MultiPoint.Enabled, podfitsresources.Name) && !names(enabled.Filter.Enabled, podfitsresources.Name) {
		errs = append(errs, field.Required(multiPoint.Child("enabled"),
			"must hold "+podfitsresources.Name+", which keeps adapters within their capacity and other pods out"))
	}
	return errs
}

func names(plugins []configv1.Plugin, name string) bool {
	return slices.ContainsFunc(plugins, func(p configv1.Plugin) bool { return p.Name == name })
}
