package node

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestANewAdapterGetsItsNode(t *testing.T) {
	resources := corev1.ResourceList{
		v1alpha1.ResourceVReplicas: resource.MustParse("20"),
		corev1.ResourceCPU:         resource.MustParse("1m"),
		corev1.ResourceMemory:      resource.MustParse("1Ki"),
		corev1.ResourcePods:        resource.MustParse("130"),
	}
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "kafka-1",
			Labels: map[string]string{
				"vpod.dev/pool":                   "kafka",
				"vpod.dev/ordinal":                "1",
				"vpod.dev/host":                   "host",
				"topology.kubernetes.io/zone":     "z1",
				"topology.kubernetes.io/region":   "vpod.dev",
				"node-role.kubernetes.io/adapter": "",
				"node.kubernetes.io/exclude-from-external-load-balancers": "",
			},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "vpod.dev/v1alpha1", Kind: "AdapterPool", Name: "kafka", UID: "pool"},
			},
		},
		Spec: corev1.NodeSpec{
			ProviderID: "vpod://kafka/1",
			Taints:     []corev1.Taint{{Key: "vpod.dev/pool", Value: "kafka", Effect: corev1.TaintEffectNoSchedule}},
		},
		Status: corev1.NodeStatus{
			Capacity: resources, Allocatable: resources,
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "vpod-v1"},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: v1alpha1.NodeAdapterReady,
				Message:           "adapter pod eventing/dispatcher-1 is ready",
				LastHeartbeatTime: ago(0), LastTransitionTime: ago(0),
			}},
		},
	}
	got := decide(settled(noNode, empty), "v1", now)
	if diff := cmp.Diff(want, got.node); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
	if got.move != nil || got.after != 0 {
		t.Errorf("decided to do more: %+v", got)
	}
}

func TestASettledAdapterIsLeftAlone(t *testing.T) {
	s := settled()
	if diff := cmp.Diff(decision{node: s.node}, decide(s, "v1", now), cmp.AllowUnexported(decision{})); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

func TestDecideChangesNothingThatItIsGiven(t *testing.T) {
	edits := []func(*state){podNotReady(time.Minute), hostCordoned}
	s := settled(edits...)
	decide(s, "v2", now)
	if diff := cmp.Diff(settled(edits...), s, cmp.AllowUnexported(state{})); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
}

// C47: what is changed by hand is put back, and what others add besides stays.
func TestChangesByHandArePutBack(t *testing.T) {
	for name, edit := range map[string]func(*corev1.Node){
		"label changed":         func(n *corev1.Node) { n.Labels[v1alpha1.LabelOrdinal] = "2" },
		"zone changed":          func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = "z9" },
		"labels removed":        func(n *corev1.Node) { n.Labels = nil },
		"taint removed":         func(n *corev1.Node) { n.Spec.Taints = nil },
		"taint changed":         func(n *corev1.Node) { n.Spec.Taints[0].Effect = corev1.TaintEffectNoExecute },
		"owner removed":         func(n *corev1.Node) { n.OwnerReferences = nil },
		"owner is an old pool":  func(n *corev1.Node) { n.OwnerReferences[0].UID = "old" },
		"capacity changed":      func(n *corev1.Node) { n.Status.Allocatable[v1alpha1.ResourceVReplicas] = resource.MustParse("99") },
		"resource missing (C8)": func(n *corev1.Node) { delete(n.Status.Allocatable, v1alpha1.ResourceVReplicas) },
		"resource added":        func(n *corev1.Node) { n.Status.Capacity[corev1.ResourceEphemeralStorage] = resource.MustParse("1") },
		"version changed":       func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.37.2" },
		"conditions of a silent kubelet": func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions,
				corev1.NodeCondition{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionUnknown},
				corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionUnknown},
				corev1.NodeCondition{Type: corev1.NodePIDPressure, Status: corev1.ConditionUnknown})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled()
			want := s.node.DeepCopy()
			edit(s.node)
			if diff := cmp.Diff(want, decide(s, "v1", now).node); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatOthersAddStays(t *testing.T) {
	s := settled()
	s.node.Labels["team"] = "a"
	s.node.Annotations = map[string]string{"note": "b"}
	s.node.OwnerReferences = append(s.node.OwnerReferences, metav1.OwnerReference{Kind: "Other", Name: "c"})
	s.node.Spec.PodCIDR = "10.0.0.0/24"
	s.node.Spec.Taints = append(s.node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute})
	s.node.Status.Conditions = append(s.node.Status.Conditions, corev1.NodeCondition{Type: "Other", Status: corev1.ConditionTrue})
	got := decide(s, "v1", now).node
	sorted := cmp.Transformer("byType", func(all []corev1.NodeCondition) map[corev1.NodeConditionType]corev1.NodeCondition {
		m := map[corev1.NodeConditionType]corev1.NodeCondition{}
		for _, c := range all {
			m[c.Type] = c
		}
		return m
	})
	if diff := cmp.Diff(s.node, got, sorted); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
}

func TestCapacityFollowsThePool(t *testing.T) {
	node := decide(settled(func(s *state) { s.pool.Spec.Capacity = 6 }), "v1", now).node
	for _, list := range []corev1.ResourceList{node.Status.Capacity, node.Status.Allocatable} {
		vreplicas, pods := list[v1alpha1.ResourceVReplicas], list[corev1.ResourcePods]
		if vreplicas.Value() != 6 || pods.Value() != 116 {
			t.Errorf("%d vreplicas and %d pods, want 6 and 116", vreplicas.Value(), pods.Value())
		}
	}
}

func TestLabelsFollowTheHost(t *testing.T) {
	moved := func(s *state) {
		s.pod.Spec.NodeName = "host-2"
		s.host.Name, s.host.Labels[corev1.LabelTopologyZone] = "host-2", "z2"
	}
	for name, tc := range map[string]struct {
		edits              []func(*state)
		wantHost, wantZone string
	}{
		"settled":                             {wantHost: "host", wantZone: "z1"},
		"on another host":                     {edits: []func(*state){moved}, wantHost: "host-2", wantZone: "z2"},
		"the host loses its zone":             {edits: []func(*state){func(s *state) { s.host.Labels = nil }}, wantHost: "host"},
		"the pod restarts":                    {edits: []func(*state){noPod}, wantHost: "host", wantZone: "z1"},
		"the pod waits":                       {edits: []func(*state){podWaits}, wantHost: "host", wantZone: "z1"},
		"the host is gone":                    {edits: []func(*state){noHost}, wantHost: "host", wantZone: "z1"},
		"the next host is not yet there":      {edits: []func(*state){moved, noHost}, wantHost: "host", wantZone: "z1"},
		"recreated while there is no host":    {edits: []func(*state){noNode, noPod}},
		"recreated (C47)":                     {edits: []func(*state){noNode}, wantHost: "host", wantZone: "z1"},
		"the adapter is removed meanwhile":    {edits: []func(*state){scaledDown}, wantHost: "host", wantZone: "z1"},
		"the pool is deleted meanwhile":       {edits: []func(*state){poolLeaving}, wantHost: "host", wantZone: "z1"},
		"the pool is gone, vreplicas are not": {edits: []func(*state){noPool}, wantHost: "host", wantZone: "z1"},
	} {
		t.Run(name, func(t *testing.T) {
			labels := decide(settled(tc.edits...), "v1", now).node.Labels
			if host, zone := labels[v1alpha1.LabelHost], labels[corev1.LabelTopologyZone]; host != tc.wantHost || zone != tc.wantZone {
				t.Errorf("host %q in zone %q, want %q in %q", host, zone, tc.wantHost, tc.wantZone)
			}
		})
	}
}

// A node that has an adapter's name by chance is never written.
func TestForeignNodeIsLeftAlone(t *testing.T) {
	for name, providerID := range map[string]string{
		"real node":                "kind://host",
		"without provider":         "",
		"node of another ordinal":  "vpod://kafka/2",
		"virtual node of no other": "vpod://other/1",
	} {
		t.Run(name, func(t *testing.T) {
			for _, edits := range [][]func(*state){nil, {scaledDown}, {noPool}, {podNotReady(time.Hour)}} {
				s := settled(edits...)
				s.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "kafka-1"}, Spec: corev1.NodeSpec{ProviderID: providerID}}
				want := decision{node: s.node.DeepCopy()}
				if diff := cmp.Diff(want, decide(s, "v1", now), cmp.AllowUnexported(decision{})); diff != "" {
					t.Errorf("decision (-want +got):\n%s", diff)
				}
			}
		})
	}
}
