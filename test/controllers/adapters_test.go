package controllers

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// An adapter that has no host is not there; the others do not notice, and once it has one it is in use.
func TestC9_AnAdapterWithoutHostHasNoNode(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	p.run("x", 20, "10/10")
	before := p.uids("x")
	p.patch("statefulset", p.name, `{"spec":{"replicas":3}}`)
	p.eventually("the third pod waits for a host", func(ctx context.Context) error {
		pod, err := p.Client().CoreV1().Pods(p.name).Get(ctx, p.set.PodName(2), metav1.GetOptions{})
		if err == nil && lab.Reason(pod) == "" {
			err = fmt.Errorf("its conditions are %+v", pod.Status.Conditions)
		}
		return err
	})
	p.create(p.vpod("y", 5))
	p.settled("y", "0/0+5")
	p.adaptersReady(2)
	p.addHost("z3")
	p.settled("y", "0/0/5")
	p.stayed("x", before)
}

// A DaemonSet that tolerates everything and selects nothing gets onto virtual nodes, where its pods never run. They take no
// room of vreplicas.
func TestC49_PodsOfTolerantDaemonSetsTakeNoRoom(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 3, "z1", "z2", "z3")
	labels := map[string]string{"app": "everywhere"}
	p.create(&appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "everywhere"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers:  []corev1.Container{{Name: "agent", Image: "none"}},
			}},
		},
	})
	p.eventually("the DaemonSet is on each virtual node", func(ctx context.Context) error {
		pods, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{LabelSelector: "app=everywhere"})
		if err != nil {
			return err
		}
		on := map[string]bool{}
		for _, pod := range pods.Items {
			on[pod.Spec.NodeName] = true
		}
		for ordinal := range 3 {
			if !on[p.node(ordinal)] {
				return fmt.Errorf("it is not on %s", p.node(ordinal))
			}
		}
		return nil
	})
	p.run("x", 9, "3/3/3")
}

// A node that has an adapter's name by chance is never written, and the other adapters work.
func TestG8_ForeignNodeWithAnAdaptersName(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	p := s.newSet(t, "z1", "z2")
	taken := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: p.node(1), Labels: map[string]string{"mine": "yes"}},
		Spec:       corev1.NodeSpec{Unschedulable: true},
	}
	p.must(p.CreateNode(t.Context(), taken))
	p.create(p.set.Pool(10))
	p.run("x", 2, "2")
	p.eventually("the pool says so", func(ctx context.Context) error {
		out, err := p.Kubectl(ctx, "get", "adapterpool", p.name, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}`)
		if err == nil && out != v1alpha1.ReasonNodeNameTaken {
			err = fmt.Errorf("it says %q", out)
		}
		return err
	})
	node, err := p.Client().CoreV1().Nodes().Get(t.Context(), p.node(1), metav1.GetOptions{})
	p.must(err)
	for _, writer := range node.ManagedFields {
		if writer.Manager == "vpod-controller" {
			t.Errorf("the controller wrote a node that is not its own: %+v", writer)
		}
	}
	if _, err := p.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), p.node(1), metav1.GetOptions{}); err == nil {
		t.Error("the node that is not ours has a heartbeat")
	}
	// Once it is gone, the adapter gets its node.
	p.must(p.Client().CoreV1().Nodes().Delete(t.Context(), p.node(1), metav1.DeleteOptions{}))
	p.adaptersReady(2)
}
