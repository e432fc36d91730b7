package adapter

import (
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

func TestRulesOf(t *testing.T) {
	for name, tc := range map[string]struct {
		profile   string
		want      placement.Rules
		wantKnown bool
	}{
		"of before there was a default": {want: placement.Availability, wantKnown: true},
		"the default":                   {profile: v1alpha1.SchedulerName, want: placement.Availability, wantKnown: true},
		"filling up":                    {profile: v1alpha1.SchedulerNameMaxFillUp, want: placement.MaxFillUp, wantKnown: true},
		"somebody's own":                {profile: "my-scheduler", want: placement.Availability},
	} {
		t.Run(name, func(t *testing.T) {
			rules, known := RulesOf(&v1alpha1.VPod{Spec: v1alpha1.VPodSpec{SchedulerName: tc.profile}})
			if rules != tc.want || known != tc.wantKnown {
				t.Errorf("rules %v, known %t; want %v, known %t", rules, known, tc.want, tc.wantKnown)
			}
		})
	}
}
