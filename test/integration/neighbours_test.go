package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

const realNode = "host-0"

// Both schedulers run with leader election on, in a cluster of one real node and an adapter of each pool.
func TestC38_C39_BesideTheStockScheduler(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{})
	if err := l.CreateNode(labtest.TimeLimit(t), lab.Host(realNode, "z1")); err != nil {
		t.Fatal(err)
	}
	stock, err := l.StartKubeScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{Verbosity: 2})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := l.StartScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{Verbosity: 3})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T, *pool){
		"each has its lease, and both place pods": testTwoLeases,
		"no plain pod lands on an adapter":        testPlainPods,
		"a pod on an adapter that is no vreplica": testIntruder,
		"no vreplica lands on a real node":        testNoRealNode,
		"a vreplica of the wrong scheduler":       testWrongScheduler,
		"each leaves alone what is the other's":   testUntouched,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, l, lab.Adapter{Capacity: 2})
			p.seen()
			test(t, p)
		})
	}
	noneForbidden(t, ours)
	noneForbidden(t, stock)
}

// plain makes a vreplica an ordinary pod, which the stock scheduler places.
func plain(pod *corev1.Pod) {
	pod.Labels = nil
	pod.Spec.SchedulerName = corev1.DefaultSchedulerName
	pod.Spec.NodeSelector, pod.Spec.Tolerations = nil, nil
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
}

// asksFor has a pod request a lot of CPU or little.
func asksFor(cpu string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}
	}
}

func testTwoLeases(t *testing.T, p *pool) {
	for namespace, name := range map[string]string{v1alpha1.Namespace: v1alpha1.SchedulerLease, metav1.NamespaceSystem: "kube-scheduler"} {
		err := lab.Wait(labtest.TimeLimit(t), "the lease "+name+" is held", func(ctx context.Context) error {
			lease, err := p.Client().CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
			if err == nil && (lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "") {
				err = errors.New("nobody holds it")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if node := p.bound(labtest.TimeLimit(t), p.grow(p.vpod("x"), 1)[0]); node != p.node(0) {
		t.Errorf("the vreplica is on %s", node)
	}
	if node := p.bound(labtest.TimeLimit(t), p.grow(p.vpod("plain"), 1, plain)[0]); node != realNode {
		t.Errorf("the plain pod is on %s", node)
	}
}

func testPlainPods(t *testing.T, p *pool) {
	if node := p.bound(labtest.TimeLimit(t), p.grow(p.vpod("plain"), 1, plain, asksFor("1m"))[0]); node != realNode {
		t.Errorf("the plain pod is on %s", node)
	}
	p.refused(labtest.TimeLimit(t), p.grow(p.vpod("plain"), 1, plain, asksFor("1k"))[0])
}

// Pods that tolerate everything, as those of many DaemonSets, take no room of vreplicas.
func testIntruder(t *testing.T, p *pool) {
	tolerant := func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		pod.Spec.NodeSelector = map[string]string{v1alpha1.LabelPool: p.name}
	}
	for range 3 {
		if node := p.bound(labtest.TimeLimit(t), p.grow(p.vpod("daemon"), 1, plain, tolerant)[0]); node != p.node(0) {
			t.Errorf("the tolerant pod is on %s", node)
		}
	}
	x := p.vpod("x")
	p.grow(x, 3)
	p.settled(x, "2", 1)
}

// The real node has room for all of it.
func testNoRealNode(t *testing.T, p *pool) {
	anywhere := func(pod *corev1.Pod) { pod.Spec.NodeSelector = nil }
	tolerant := func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	x := p.vpod("x")
	p.grow(x, 2, anywhere, tolerant)
	p.settled(x, "2", 0)
	for name, edits := range map[string][]func(*corev1.Pod){
		"full":                     nil,
		"full, without a selector": {anywhere, tolerant},
		"without a pool":           {anywhere, tolerant, requestingNothing, func(pod *corev1.Pod) { delete(pod.Labels, v1alpha1.LabelPool) }},
		"of no vreplica":           {anywhere, tolerant, requestingNothing},
	} {
		t.Logf("%s: %s", name, p.refused(labtest.TimeLimit(t), p.grow(x, 1, edits...)[0]))
	}
}

// The stock scheduler takes a vreplica that names no scheduler, and places it by its own rules: on an adapter of the
// pool, within the capacity, and never elsewhere. Ours counts it.
// A placeholder that forgets its scheduler is refused when it is created; an ordinary pod and one of ours are not. A new
// policy is in force a little after it was applied.
func testWrongScheduler(t *testing.T, p *pool) {
	const want = "a pod that requests vpod.dev/vreplicas needs spec.schedulerName: vpod-scheduler"
	v := p.vpod("wrong")
	v.SchedulerName = corev1.DefaultSchedulerName
	err := lab.Wait(labtest.TimeLimit(t), "the policy is in force", func(ctx context.Context) error {
		_, err := p.Client().CoreV1().Pods(p.name).Create(ctx, v.Pod(0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("creation ends with %v, want %s", err, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p.grow(v, 1, plain)
	p.grow(p.vpod("x"), 1)
	p.settled(p.vpod("x"), "1", 0)
}

// Whoever wrote of a pod is its scheduler.
func testUntouched(t *testing.T, p *pool) {
	p.grow(p.vpod("x"), 2)
	p.refused(labtest.TimeLimit(t), p.grow(p.vpod("x"), 1)[0])
	p.grow(p.vpod("plain"), 1, plain)
	p.refused(labtest.TimeLimit(t), p.grow(p.vpod("plain"), 1, plain, asksFor("1k"))[0])
	events, err := p.Client().CoreV1().Events(p.name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Items {
		want := v1alpha1.SchedulerName
		if strings.HasPrefix(e.InvolvedObject.Name, "plain") {
			want = corev1.DefaultSchedulerName
		}
		if e.ReportingController != want {
			t.Errorf("pod %s has an event %s of %s, want only some of %s", e.InvolvedObject.Name, e.Reason, e.ReportingController, want)
		}
	}
}
