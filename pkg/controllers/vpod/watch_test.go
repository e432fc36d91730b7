package vpod

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// C44: no change of a pool's counts has all of its VPods looked at.
func TestPoolChanged_C44(t *testing.T) {
	said := func(reason, message string) func(*v1alpha1.AdapterPool) {
		return func(p *v1alpha1.AdapterPool) {
			p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: reason, Message: message}}
		}
	}
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.AdapterPool)
		want bool
	}{
		"nothing":        {edit: said("Ready", "2 of 2")},
		"counts":         {edit: func(p *v1alpha1.AdapterPool) { said("Ready", "2 of 2")(p); p.Status.Used, p.Status.Waiting = 7, 3 }},
		"the spec":       {edit: func(p *v1alpha1.AdapterPool) { said("Ready", "2 of 2")(p); p.Generation++ }, want: true},
		"its reason":     {edit: said("NotReady", "2 of 2"), want: true},
		"which are lost": {edit: said("Ready", "1 of 2"), want: true},
		"its condition":  {edit: func(*v1alpha1.AdapterPool) {}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := poolA(said("Ready", "2 of 2")), poolA(tc.edit)
			if got := poolChanged().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != tc.want {
				t.Errorf("looks at its VPods %t, want %t", got, tc.want)
			}
		})
	}
}
