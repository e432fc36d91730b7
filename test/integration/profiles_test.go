package integration

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/manifests"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// arguments are those of one plugin, as JSON.
type arguments struct{ plugin, args string }

// startProfiles runs one more scheduler in a lab, with profiles of these names: each is the one that spreads, with
// other arguments.
func startProfiles(t *testing.T, l *lab.Lab, profiles map[string][]arguments) *lab.Process {
	t.Helper()
	scheduler, err := l.StartScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{
		Config:    configFile(t, shippedConfig(t, profiles)),
		Verbosity: 5,
		Args:      []string{"--leader-elect=false"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scheduler.Kill)
	return scheduler
}

// shippedConfig is the shipped configuration with these profiles instead of its own.
func shippedConfig(t *testing.T, profiles map[string][]arguments) *configv1.KubeSchedulerConfiguration {
	t.Helper()
	var config configv1.KubeSchedulerConfiguration
	if err := yaml.UnmarshalStrict(manifests.SchedulerConfig, &config); err != nil {
		t.Fatal(err)
	}
	shipped := config.Profiles[0]
	config.Profiles = nil
	for name, list := range profiles {
		profile := *shipped.DeepCopy()
		profile.SchedulerName = &name
		for _, a := range list {
			profile.PluginConfig = append(profile.PluginConfig,
				configv1.PluginConfig{Name: a.plugin, Args: runtime.RawExtension{Raw: []byte(a.args)}})
		}
		config.Profiles = append(config.Profiles, profile)
	}
	return &config
}

// configFile writes a configuration to a file.
func configFile(t *testing.T, config *configv1.KubeSchedulerConfiguration) string {
	t.Helper()
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
