package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// drains runs kubectl drain as a person does, and returns when the node is empty.
func (p *pool) drain(node string) {
	p.t.Helper()
	_, err := p.Kubectl(p.t.Context(), "drain", node, "--ignore-daemonsets", "--timeout=60s")
	p.must(err)
}

// X: 2/2/2 with at least 5 to be there. kubectl drain of a-2 evicts one at a time through the Eviction API, and X ends
// 3/3/0. The cordon is a person's: it stays until kubectl uncordon, which moves nothing.
func TestG4_KubectlDrainHonoursDisruptionBudgets(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2", "z3")
	p.run("x", 6, "2/2/2")
	fewest := p.witnessReady("x")
	p.create(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "x"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(5)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: "x"}},
		},
	})
	p.eventually("the budget allows a disruption", func(ctx context.Context) error {
		pdb, err := p.Client().PolicyV1().PodDisruptionBudgets(p.name).Get(ctx, "x", metav1.GetOptions{})
		if err == nil && pdb.Status.DisruptionsAllowed != 1 {
			err = fmt.Errorf("it allows %d", pdb.Status.DisruptionsAllowed)
		}
		return err
	})
	p.drain(p.node(2))
	p.settled("x", "3/3/0")
	if n := fewest(); n < 5 {
		t.Errorf("only %d vreplicas were ready at some time, want never below 5", n)
	}
	node, err := p.Client().CoreV1().Nodes().Get(t.Context(), p.node(2), metav1.GetOptions{})
	p.must(err)
	if by, ours := node.Annotations[v1alpha1.AnnotationCordon]; !node.Spec.Unschedulable || ours {
		t.Errorf("cordoned %t, by the controller for %q; want a person's cordon", node.Spec.Unschedulable, by)
	}
	before := p.uids("x")
	p.must(p.Cordon(t.Context(), p.node(2), false))
	p.scale("x", 8)
	p.settled("x", "3/3/2")
	p.stayed("x", before)
}

// A DaemonSet that tolerates everything runs on every host, and on no virtual node, because it selects an operating system.
func TestC49_DaemonSetThatSelectsAnOSStaysOffVirtualNodes(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 2, "z1", "z2")
	labels := map[string]string{"app": "agent"}
	p.create(&appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "agent"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				NodeSelector: map[string]string{corev1.LabelOSStable: "linux"},
				Tolerations:  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers:   []corev1.Container{{Name: "agent", Image: "none"}},
			}},
		},
	})
	p.run("x", 4, "2/2")
	p.eventually("the agents run on the hosts", func(ctx context.Context) error {
		pods, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{LabelSelector: "app=agent"})
		if err != nil {
			return err
		}
		mine := 0
		for _, pod := range pods.Items {
			if strings.HasPrefix(pod.Spec.NodeName, p.name+"-host-") && pod.Status.Phase == corev1.PodRunning {
				mine++
			}
		}
		if mine != 2 {
			return fmt.Errorf("%d of 2 run", mine)
		}
		return nil
	})
	onAdapters, err := p.Client().CoreV1().Pods("").List(t.Context(), metav1.ListOptions{LabelSelector: "app=agent"})
	p.must(err)
	for _, pod := range onAdapters.Items {
		if pod.Spec.NodeName == p.node(0) || pod.Spec.NodeName == p.node(1) {
			t.Errorf("%s is on the virtual node %s", pod.Name, pod.Spec.NodeName)
		}
	}
}
