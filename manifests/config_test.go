package manifests

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func schedulerConfig(t *testing.T) configv1.KubeSchedulerConfiguration {
	t.Helper()
	var config configv1.KubeSchedulerConfiguration
	decodeStrictly(t, "config.yaml", SchedulerConfig, &config)
	return config
}

func TestSchedulerConfig(t *testing.T) {
	config := schedulerConfig(t)

	if got, want := config.GroupVersionKind(), configv1.SchemeGroupVersion.WithKind("KubeSchedulerConfiguration"); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	election := config.LeaderElection
	if election.LeaderElect == nil || !*election.LeaderElect {
		t.Error("two replicas need leader election")
	}
	if election.ResourceNamespace != v1alpha1.Namespace || election.ResourceName != v1alpha1.SchedulerLease {
		t.Errorf("got lease %s/%s, want %s/%s", election.ResourceNamespace, election.ResourceName, v1alpha1.Namespace, v1alpha1.SchedulerLease)
	}
	if config.PercentageOfNodesToScore == nil || *config.PercentageOfNodesToScore != 100 {
		t.Error("sampling nodes breaks the rules that compare adapters")
	}
	if config.Parallelism == nil || *config.Parallelism != 1 {
		t.Error("goroutines cost more than to judge the few contenders")
	}
	var names []string
	for _, profile := range config.Profiles {
		names = append(names, *profile.SchedulerName)
	}
	if diff := cmp.Diff([]string{v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp}, names); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
}

func TestProfiles(t *testing.T) {
	const ranks = 101 // the values of a score, 0 to 100
	before := []configv1.Plugin{
		{Name: "PrioritySort"}, {Name: "SchedulingGates"}, {Name: "Contenders"}, {Name: "NodeName"}, {Name: "NodeUnschedulable"},
		{Name: "TaintToleration"}, {Name: "NodeAffinity"}, {Name: "PodFitsResources"}, {Name: "NoMaxResourceCount"},
	}
	after := []configv1.Plugin{{Name: "DefaultPreemption"}, {Name: "SureBinder"}}
	noScore := []configv1.Plugin{{Name: "TaintToleration"}, {Name: "NodeAffinity"}}

	for name, tc := range map[string]struct {
		scoring []configv1.Plugin
	}{
		v1alpha1.SchedulerName: {scoring: []configv1.Plugin{
			{Name: "EvenPodSpread", Weight: ptr(ranks)},
			{Name: "AvailabilityZonePriority", Weight: ptr(ranks * ranks * ranks)},
			{Name: "AvailabilityNodePriority", Weight: ptr(ranks * ranks)},
			{Name: "LowestOrdinalPriority", Weight: ptr(1)},
		}},
		v1alpha1.SchedulerNameMaxFillUp: {scoring: []configv1.Plugin{{Name: "MaxFillUp", Weight: ptr(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			profiles := schedulerConfig(t).Profiles
			i := slices.IndexFunc(profiles, func(p configv1.KubeSchedulerProfile) bool { return *p.SchedulerName == name })
			if i < 0 {
				t.Fatal("no such profile")
			}
			want := &configv1.Plugins{
				MultiPoint: configv1.PluginSet{
					Disabled: []configv1.Plugin{{Name: "*"}},
					Enabled:  slices.Concat(before, tc.scoring, after),
				},
				PreScore: configv1.PluginSet{Disabled: noScore},
				Score:    configv1.PluginSet{Disabled: noScore},
			}
			if diff := cmp.Diff(want, profiles[i].Plugins); diff != "" {
				t.Errorf("plugins (-want +got):\n%s", diff)
			}
		})
	}
}

func ptr(weight int32) *int32 { return &weight }
