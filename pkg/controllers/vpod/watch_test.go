package vpod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		"why so many": {edit: func(p *v1alpha1.AdapterPool) {
			said("Ready", "2 of 2")(p)
			p.Spec.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 6}
			p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionScaled, Reason: v1alpha1.ReasonMaxReplicas})
		}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := poolA(said("Ready", "2 of 2")), poolA(tc.edit)
			if got := poolMatters(was, is); got != tc.want {
				t.Errorf("looks at its VPods %t, want %t", got, tc.want)
			}
		})
	}
}

// A status that is the same as the one in the cache was not published if the cache was late: the write before it has to have
// the VPod looked at again.
func TestVPodChanged(t *testing.T) {
	placed := func(v *v1alpha1.VPod) {
		v.Status.Placements = []v1alpha1.Placement{{PodName: "s-0", VReplicas: 2}}
	}
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.VPod)
		want bool
	}{
		"nothing":    {edit: placed},
		"a label":    {edit: func(v *v1alpha1.VPod) { placed(v); v.Labels = map[string]string{"team": "a"} }},
		"the spec":   {edit: func(v *v1alpha1.VPod) { placed(v); v.Generation++ }, want: true},
		"the status": {edit: func(v *v1alpha1.VPod) {}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := xVPod(2, placed), xVPod(2, tc.edit)
			if got := vpodMatters(was, is); got != tc.want {
				t.Errorf("looks at the VPod %t, want %t", got, tc.want)
			}
		})
	}
}

// Adapters begin and cease to drain with the target; a count that changes moves nothing.
func TestTargetChanged(t *testing.T) {
	held := func(p *v1alpha1.AdapterPool) { p.Status.TargetAdapters = new(int32(3)) }
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.AdapterPool)
		want bool
	}{
		"nothing":         {edit: held},
		"counts":          {edit: func(p *v1alpha1.AdapterPool) { held(p); p.Status.Used, p.Status.WantedAdapters = 7, new(int32(2)) }},
		"a lower target":  {edit: func(p *v1alpha1.AdapterPool) { p.Status.TargetAdapters = new(int32(2)) }, want: true},
		"none any more":   {edit: func(*v1alpha1.AdapterPool) {}, want: true},
		"autoscaling off": {edit: func(p *v1alpha1.AdapterPool) { held(p); p.Generation++ }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := targetMatters(poolA(held), poolA(tc.edit)); got != tc.want {
				t.Errorf("looks at the VPods of adapters out of use %t, want %t", got, tc.want)
			}
		})
	}
}

// C45: while its label is gone, a node is no adapter, and no status names it.
func TestNodeMatters_C45(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*corev1.Node)
		want bool
	}{
		"nothing":                {edit: func(*corev1.Node) {}},
		"how it is":              {edit: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }},
		"its host":               {edit: func(n *corev1.Node) { n.Labels[v1alpha1.LabelHost] = "h2" }},
		"its pool is taken away": {edit: func(n *corev1.Node) { delete(n.Labels, v1alpha1.LabelPool) }, want: true},
		"its cordon":             {edit: func(n *corev1.Node) { n.Spec.Unschedulable = true }, want: true},
		"why it is cordoned": {edit: func(n *corev1.Node) {
			n.Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonDraining}
		}, want: true},
		"another ordinal": {edit: func(n *corev1.Node) { n.Labels[v1alpha1.LabelOrdinal] = "x" }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := adapterNode("a-0 host=h1"), adapterNode("a-0 host=h1")
			tc.edit(is)
			if got := nodeMatters(was, is); got != tc.want {
				t.Errorf("looks at the VPods on it %t, want %t", got, tc.want)
			}
		})
	}
}
