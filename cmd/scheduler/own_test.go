package main

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"vpod.dev/vpod-scheduler/manifests"
)

// G10, C39: what the scheduler lets pass in a configuration of the user's own, and would do harm beside kube-scheduler.
func TestOwnConfiguration(t *testing.T) {
	const (
		head    = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
		plugins = `plugins: {multiPoint: {disabled: [{name: "*"}], enabled: [{name: PodFitsResources}]}}`
		mine    = "profiles: [{schedulerName: mine, " + plugins + "}]"
	)
	for name, tc := range map[string]struct {
		config    string
		want      string
		wantLease string
	}{
		"our lease is the default": {
			config: mine, wantLease: "vpod-system/vpod-scheduler",
		},
		"a lease that is named stays": {
			config: mine + "\nleaderElection: {resourceName: a, resourceNamespace: b}", wantLease: "kube-system/kube-scheduler",
		},
		"no profile": {
			config: "parallelism: 1", want: `profiles: Required value: without one the scheduler would act as default-scheduler`,
		},
		"a profile without a name": {
			config: "profiles: [{" + plugins + "}]", want: `profiles[0].schedulerName: Required value: without it the profile would act as default-scheduler`,
		},
		"a profile of the cluster's scheduler": {
			config: "profiles: [{schedulerName: mine, " + plugins + "}, {schedulerName: default-scheduler, " + plugins + "}]",
			want:   `profiles[1].schedulerName: Invalid value: "default-scheduler": is the cluster's own scheduler, which this one runs beside`,
		},
		"arguments of a plugin that does not exist": {
			config: "profiles: [{schedulerName: mine, " + plugins + ", pluginConfig: [{name: NodeAffinity}, {name: EvenPodSpreading, args: {}}]}]",
			want:   `profiles[0].pluginConfig[1].name: Invalid value: "EvenPodSpreading": is no plugin of this scheduler`,
		},
		"a plugin that does not exist": {
			config: `profiles: [{schedulerName: mine, plugins: {multiPoint: {disabled: [{name: "*"}], enabled: [{name: PodFitsResources}, {name: Contendrs}]}}}]`,
			want:   `profiles[0].plugins.multiPoint.enabled[1].name: Invalid value: "Contendrs": is no plugin of this scheduler`,
		},
		"arguments of a plugin that is not enabled": {
			config: "profiles: [{schedulerName: mine, " + plugins + ", pluginConfig: [{name: EvenPodSpread, args: {maxSkew: 0}}]}]",
			want:   `profiles[0].pluginConfig[0].args: reading the arguments of plugin EvenPodSpread: maxSkew: Invalid value: 0: must be at least 1`,
		},
		"a resource that no placeholder can request": {
			config: "profiles: [{schedulerName: mine, " + plugins + ", pluginConfig: [{name: PodFitsResources, args: {resourceName: cpu}}]}]",
			want: `profiles[0].pluginConfig[0].args: reading the arguments of plugin PodFitsResources: resourceName: Invalid value: "cpu": ` +
				`must be an extended resource, as vpod.dev/vreplicas is`,
		},
		"a plugin of ours in pieces": {
			config: `profiles: [{schedulerName: mine, plugins: {multiPoint: {disabled: [{name: "*"}], enabled: [{name: PodFitsResources}]}, ` +
				`score: {enabled: [{name: MaxFillUp}]}}}]`,
			want: `profiles[0].plugins.score.enabled[0].name: Invalid value: "MaxFillUp": must be enabled in multiPoint: its extension points need each other`,
		},
		"a weight below 0": {
			config: `profiles: [{schedulerName: mine, plugins: {multiPoint: {disabled: [{name: "*"}], enabled: [{name: PodFitsResources}, {name: MaxFillUp, weight: -5}]}}}]`,
			want:   `profiles[0].plugins.multiPoint.enabled[1].weight: Invalid value: -5: must be at least 0`,
		},
		"the plugins of kube-scheduler": {
			config: `profiles: [{schedulerName: mine, plugins: {multiPoint: {enabled: [{name: PodFitsResources}]}}}]`,
			want: `profiles[0].plugins.multiPoint.disabled: Required value: must hold the name "*": else the profile has all plugins of ` +
				`kube-scheduler; start from a copy of a profile that ships`,
		},
		"nothing that keeps adapters within their capacity": {
			config: `profiles: [{schedulerName: mine, plugins: {multiPoint: {disabled: [{name: "*"}], enabled: [{name: Contenders}]}}}]`,
			want: `profiles[0].plugins.multiPoint.enabled: Required value: must hold PodFitsResources, which keeps adapters within their ` +
				`capacity and other pods out`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(head+tc.config), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := app.NewSchedulerCommand().Flags()
			if err := flags.Set("config", path); err != nil {
				t.Fatal(err)
			}
			err := configure(flags)
			if tc.want != "" {
				if want := "checking the configuration " + path + ": " + tc.want; err == nil || err.Error() != want {
					t.Fatalf("error %v\nwant  %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			// The flags win over the file; where they are unset, the file does.
			lease := flags.Lookup("leader-elect-resource-namespace").Value.String() + "/" + flags.Lookup("leader-elect-resource-name").Value.String()
			if lease != tc.wantLease {
				t.Errorf("the flags name the lease %s, want %s", lease, tc.wantLease)
			}
		})
	}
}

// The scheduler ignores --kubeconfig beside --config; ours does not.
func TestOwnConfigurationKeepsConnectionFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, manifests.SchedulerConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	flags := app.NewSchedulerCommand().Flags()
	for name, value := range map[string]string{"config": path, "kubeconfig": "/somewhere/kubeconfig", "kube-api-qps": "7"} {
		if err := flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := configure(flags); err != nil {
		t.Fatal(err)
	}
	config, err := options.LoadConfigFromFile(klog.Background(), flags.Lookup("config").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if c := config.ClientConnection; c.Kubeconfig != "/somewhere/kubeconfig" || c.QPS != 7 || c.Burst != 2000 {
		t.Errorf("the connection is %+v, want the kubeconfig and qps of the flags and the burst of the file", c)
	}
	if len(config.Profiles) != 2 {
		t.Errorf("got %d profiles, want both of the file", len(config.Profiles))
	}
}

func TestMissingConfigurationIsToldAtOnce(t *testing.T) {
	flags := app.NewSchedulerCommand().Flags()
	if err := flags.Set("config", "/nowhere/config.yaml"); err != nil {
		t.Fatal(err)
	}
	const want = "reading the configuration: open /nowhere/config.yaml: no such file or directory"
	if err := configure(flags); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
