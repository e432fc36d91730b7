package rebalance

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestWhichChangesWakeIt(t *testing.T) {
	s := poolOf("zone=z1").serves("x", "1")
	pod := func(edit func(*corev1.Pod)) bool {
		is := s.pods[0].DeepCopy()
		edit(is)
		return podMatters(s.pods[0], is)
	}
	node := func(edit func(*corev1.Node)) bool {
		is := s.nodes[0].DeepCopy()
		edit(is)
		return nodeMatters(s.nodes[0], is)
	}
	pool := func(edit func(*v1alpha1.AdapterPool)) bool {
		is := s.pool.DeepCopy()
		edit(is)
		return poolMatters(s.pool, is)
	}
	vpod := func(edit func(*v1alpha1.VPod)) bool {
		is := s.vpods[0].DeepCopy()
		edit(is)
		return vpodMatters(s.vpods[0], is)
	}
	for name, tc := range map[string]struct{ got, want bool }{
		"placeholder bound":        {pod(func(p *corev1.Pod) { p.Spec.NodeName = "a-1" }), true},
		"placeholder admitted":     {pod(pending), true},
		"placeholder is to go":     {pod(leaving), true},
		"placeholder marked":       {pod(marked), true},
		"placeholder's conditions": {pod(func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{}} }), false},
		"placeholder's version":    {pod(func(p *corev1.Pod) { p.ResourceVersion = "9" }), false},
		"node cordoned":            {node(func(n *corev1.Node) { n.Spec.Unschedulable = true }), true},
		"node tainted":             {node(func(n *corev1.Node) { n.Spec.Taints = nil }), true},
		"node not ready":           {node(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }), true},
		"node in another zone":     {node(func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = "z2" }), true},
		"node with other room":     {node(func(n *corev1.Node) { n.Status.Allocatable = nil }), true},
		"node's adapter drains": {node(func(n *corev1.Node) {
			n.Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonDraining}
		}), true},
		"node's heartbeat": {node(func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(noon) }), false},
		"pool's spec":      {pool(func(p *v1alpha1.AdapterPool) { p.Generation++ }), true},
		"pool is to go":    {pool(func(p *v1alpha1.AdapterPool) { p.DeletionTimestamp = &metav1.Time{Time: noon} }), true},
		"pool's target":    {pool(func(p *v1alpha1.AdapterPool) { p.Status.TargetAdapters = new(int32(1)) }), true},
		"pool's counts":    {pool(func(p *v1alpha1.AdapterPool) { p.Status.Used++ }), false},
		"VPod's spec":      {vpod(func(v *v1alpha1.VPod) { v.Generation++ }), true},
		"VPod's status":    {vpod(func(v *v1alpha1.VPod) { v.Status.Replicas++ }), false},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: wakes it %t, want %t", name, tc.got, tc.want)
		}
	}
}

func TestLargePoolsAreLookedAtLessOften(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: time.Second, 50 * time.Millisecond: time.Second, 300 * time.Millisecond: 3 * time.Second, time.Minute: 10 * time.Second,
	} {
		if got := pause(took); got != want {
			t.Errorf("after a look of %v the next one is in %v, want %v", took, got, want)
		}
	}
}
