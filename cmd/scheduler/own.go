package main

import (
	"fmt"
	"os"

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
)

// useOwn checks a configuration that the user wrote for what the scheduler lets pass although it would do harm here,
// and has it use our lease unless it names another.
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
	// The default is the lease of kube-scheduler, beside which this one would stand by for ever.
	for name, lease := range map[string]struct{ configured, ours string }{
		"leader-elect-resource-name":      {c.LeaderElection.ResourceName, v1alpha1.SchedulerLease},
		"leader-elect-resource-namespace": {c.LeaderElection.ResourceNamespace, v1alpha1.Namespace},
	} {
		if lease.configured != "" || flags.Changed(name) {
			continue
		}
		if err := flags.Set(name, lease.ours); err != nil {
			return fmt.Errorf("naming the lease: %w", err)
		}
	}
	return nil
}

// checkProfiles refuses profiles that would act as default-scheduler, named so or for want of a name, and arguments of
// plugins that do not exist, which the scheduler ignores.
func checkProfiles(profiles []configv1.KubeSchedulerProfile) field.ErrorList {
	path := field.NewPath("profiles")
	if len(profiles) == 0 {
		return field.ErrorList{field.Required(path, "without one the scheduler would act as "+v1.DefaultSchedulerName)}
	}
	known := intree.NewInTreeRegistry()
	ours := plugins.All()
	var errs field.ErrorList
	for i, profile := range profiles {
		if name := profile.SchedulerName; name == nil {
			errs = append(errs, field.Required(path.Index(i).Child("schedulerName"), "without it the profile would act as "+v1.DefaultSchedulerName))
		} else if *name == v1.DefaultSchedulerName {
			errs = append(errs, field.Invalid(path.Index(i).Child("schedulerName"), *name, "is the cluster's own scheduler, which this one runs beside"))
		}
		for j, config := range profile.PluginConfig {
			if known[config.Name] == nil && ours[config.Name] == nil {
				errs = append(errs, field.Invalid(path.Index(i).Child("pluginConfig").Index(j).Child("name"), config.Name, "is no plugin of this scheduler"))
			}
		}
	}
	return errs
}
