package main

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// G10, C39: what the scheduler lets pass in a configuration of the user's own, and would do harm beside kube-scheduler.
func TestOwnConfiguration(t *testing.T) {
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for name, tc := range map[string]struct {
		config    string
		want      string
		wantLease string
	}{
		"our lease is the default": {
			config: "profiles: [{schedulerName: mine}]", wantLease: "vpod-system/vpod-scheduler",
		},
		"a lease that is named stays": {
			config: "profiles: [{schedulerName: mine}]\nleaderElection: {resourceName: a, resourceNamespace: b}", wantLease: "kube-system/kube-scheduler",
		},
		"no profile": {
			config: "parallelism: 1", want: `profiles: Required value: without one the scheduler would act as default-scheduler`,
		},
		"a profile without a name": {
			config: "profiles: [{}]", want: `profiles[0].schedulerName: Required value: without it the profile would act as default-scheduler`,
		},
		"a profile of the cluster's scheduler": {
			config: "profiles: [{schedulerName: mine}, {schedulerName: default-scheduler}]",
			want:   `profiles[1].schedulerName: Invalid value: "default-scheduler": is the cluster's own scheduler, which this one runs beside`,
		},
		"arguments of a plugin that does not exist": {
			config: "profiles: [{schedulerName: mine, pluginConfig: [{name: NodeAffinity}, {name: EvenPodSpreading, args: {}}]}]",
			want:   `profiles[0].pluginConfig[1].name: Invalid value: "EvenPodSpreading": is no plugin of this scheduler`,
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
