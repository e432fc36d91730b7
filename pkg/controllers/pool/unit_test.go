package pool

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestUnit(t *testing.T) {
	hosts := func(zones ...string) []corev1.Node {
		var nodes []corev1.Node
		for i, zone := range zones {
			node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("host-", i), Labels: map[string]string{"disk": "ssd"}}}
			if zone != "" {
				node.Labels[corev1.LabelTopologyZone] = zone
			}
			nodes = append(nodes, node)
		}
		return nodes
	}
	tainted := func(nodes []corev1.Node, taints ...corev1.Taint) []corev1.Node {
		nodes[len(nodes)-1].Spec.Taints = taints
		return nodes
	}
	virtual := func(nodes []corev1.Node) []corev1.Node {
		nodes[len(nodes)-1].Spec.ProviderID = v1alpha1.ProviderID("kafka", 0)
		return nodes
	}
	labelled := func(nodes []corev1.Node, disk string) []corev1.Node {
		nodes[len(nodes)-1].Labels["disk"] = disk
		return nodes
	}
	taint := func(key string, effect corev1.TaintEffect) corev1.Taint {
		return corev1.Taint{Key: key, Effect: effect}
	}
	ssd := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}},
		}}},
	}}
	for name, tc := range map[string]struct {
		nodes                []corev1.Node
		template             corev1.PodSpec
		wantZones, wantNodes int
	}{
		"none":                       {},
		"each in a zone":             {nodes: hosts("a", "b", "b"), wantZones: 2, wantNodes: 3},
		"C31: no labels are a zone":  {nodes: hosts("", "", "a"), wantZones: 2, wantNodes: 3},
		"virtual ones are not real":  {nodes: virtual(hosts("a", "b")), wantZones: 1, wantNodes: 1},
		"C31: tainted for good":      {nodes: tainted(hosts("a", "b"), taint("control-plane", corev1.TaintEffectNoSchedule)), wantZones: 1, wantNodes: 1},
		"tainted, and evicting":      {nodes: tainted(hosts("a", "b"), taint("x", corev1.TaintEffectNoExecute)), wantZones: 1, wantNodes: 1},
		"tainted, but only put off":  {nodes: tainted(hosts("a", "b"), taint("x", corev1.TaintEffectPreferNoSchedule)), wantZones: 2, wantNodes: 2},
		"cordoned":                   {nodes: tainted(hosts("a", "b"), taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)), wantZones: 2, wantNodes: 2},
		"unreachable":                {nodes: tainted(hosts("a", "b"), taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)), wantZones: 2, wantNodes: 2},
		"tolerated":                  {nodes: tainted(hosts("a", "b"), taint("x", corev1.TaintEffectNoSchedule)), template: corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists}}}, wantZones: 2, wantNodes: 2},
		"node selector":              {nodes: labelled(hosts("a", "b"), "hdd"), template: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}, wantZones: 1, wantNodes: 1},
		"node affinity":              {nodes: labelled(hosts("a", "b"), "hdd"), template: corev1.PodSpec{Affinity: ssd}, wantZones: 1, wantNodes: 1},
		"nothing that it may run on": {nodes: hosts("a"), template: corev1.PodSpec{NodeSelector: map[string]string{"disk": "tape"}}},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: tc.template}}}
			for of, want := range map[v1alpha1.ScaleUpUnit]int{
				v1alpha1.ScaleUpUnitZones: tc.wantZones, v1alpha1.ScaleUpUnitNodes: tc.wantNodes, v1alpha1.ScaleUpUnitNone: 0, "": 0,
			} {
				pool := &v1alpha1.AdapterPool{Spec: v1alpha1.AdapterPoolSpec{Autoscaling: &v1alpha1.Autoscaling{ScaleUpUnit: of}}}
				if got := unit(pool, set, tc.nodes); got != want {
					t.Errorf("unit %q is %d, want %d", of, got, want)
				}
				if got := unit(pool, nil, tc.nodes); got != 0 {
					t.Errorf("without a StatefulSet, unit %q is %d", of, got)
				}
			}
		})
	}
}
