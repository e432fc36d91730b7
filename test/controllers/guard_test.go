package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// byHand creates a placeholder that no scheduler looks at.
func (p *pool) byHand(index int, edits ...func(*corev1.Pod)) *corev1.Pod {
	p.t.Helper()
	pod := lab.VPod{Namespace: p.name, Name: "by-hand", Pool: p.name, SchedulerName: "nobody"}.Pod(index)
	for _, edit := range edits {
		edit(pod)
	}
	created, err := p.Client().CoreV1().Pods(p.name).Create(p.t.Context(), pod, metav1.CreateOptions{})
	p.must(err)
	return created
}

// bind places a pod as a scheduler does.
func (p *pool) bind(pod *corev1.Pod, ordinal int) {
	p.t.Helper()
	p.must(p.Client().CoreV1().Pods(pod.Namespace).Bind(p.t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: p.node(ordinal)},
	}, metav1.CreateOptions{}))
}

// podIs waits until a pod has the phase and the reason, and returns it.
func (p *pool) podIs(name string, phase corev1.PodPhase, reason string) *corev1.Pod {
	p.t.Helper()
	var pod *corev1.Pod
	p.eventually(fmt.Sprintf("%s is %s", name, phase), func(ctx context.Context) (err error) {
		pod, err = p.Client().CoreV1().Pods(p.name).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (pod.Status.Phase != phase || pod.Status.Reason != reason) {
			err = fmt.Errorf("it is %s %s: %s", pod.Status.Phase, pod.Status.Reason, pod.Status.Message)
		}
		return err
	})
	return pod
}

// What is bound beyond the capacity, through the API as by a scheduler with a stale view or by nodeName, is failed and
// counted; what was there stays.
func TestC3_WhatIsBoundBeyondTheCapacityIsFailed(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 3, "z1")
	p.run("x", 2, "2")
	before := p.uids("x")
	p.bind(p.byHand(0), 0)
	p.podIs("by-hand-vreplica-0", corev1.PodRunning, "")
	p.bind(p.byHand(1), 0)
	late := p.podIs("by-hand-vreplica-1", corev1.PodFailed, v1alpha1.PodOutOfVReplicas)
	p.byHand(2, func(pod *corev1.Pod) { pod.Spec.NodeName = p.node(0) })
	p.podIs("by-hand-vreplica-2", corev1.PodFailed, v1alpha1.PodOutOfVReplicas)
	p.podIs("by-hand-vreplica-0", corev1.PodRunning, "")
	p.settled("x", "2")
	p.stayed("x", before)

	if want := "adapter " + p.node(0) + " has no room: requested vreplicas: 1, free: 0, capacity: 3"; late.Status.Message != want {
		t.Errorf("message %q, want %q", late.Status.Message, want)
	}
	series := fmt.Sprintf(`vpod_controller_rejected_vreplicas_total{pool="%s",reason="OutOfVReplicas"} 2`, p.name)
	if metrics := p.fetch(t, "/metrics"); !strings.Contains(metrics, series) {
		t.Errorf("no metric %s", series)
	}
	p.eventually("there is an event", func(ctx context.Context) error {
		events, err := p.Client().EventsV1().Events(p.name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Reason == v1alpha1.PodOutOfVReplicas && e.Regarding.UID == late.UID && e.Note == late.Status.Message {
				return nil
			}
		}
		return fmt.Errorf("there are %d, and none of them", len(events.Items))
	})
}

// X: 8/2, C=8. C=6 -> X ends 6/4, and exactly the two newest on a-0 moved.
func TestC8_LoweredCapacityMovesTheSurplusAndNoMore(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 8, "z1", "z2")
	p.scheduler = v1alpha1.SchedulerNameMaxFillUp
	p.run("x", 10, "8/2")
	before := p.uids("x")
	p.patch("adapterpool", p.name, `{"spec":{"capacity":6}}`)
	p.settled("x", "6/4")
	left := 0
	for uid, node := range p.uids("x") {
		if before[uid] == node {
			left++
		}
	}
	if left != 8 {
		t.Errorf("%d of 10 vreplicas stayed, want 8", left)
	}
}

// While a-0 restarts, its node never lacks the resource, and X does not move.
func TestC8_ResourceIsNeverMissing(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	nodes, err := p.Client().CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + p.node(0)})
	p.must(err)
	missing := make(chan string, 1)
	go func() {
		defer close(missing)
		for e := range nodes.ResultChan() {
			node, ok := e.Object.(*corev1.Node)
			if !ok || e.Type == watch.Deleted {
				continue
			}
			if vreplicas := node.Status.Allocatable[v1alpha1.ResourceVReplicas]; vreplicas.Value() != 10 {
				missing <- fmt.Sprintf("%s: allocatable %v", e.Type, node.Status.Allocatable)
				return
			}
		}
	}()
	restart := func() {
		t.Helper()
		old, err := p.Client().CoreV1().Pods(p.name).Get(t.Context(), p.set.PodName(0), metav1.GetOptions{})
		p.must(err)
		p.must(p.Client().CoreV1().Pods(p.name).Delete(t.Context(), old.Name, metav1.DeleteOptions{}))
		p.eventually("the adapter is back", func(ctx context.Context) error {
			pod, err := p.Client().CoreV1().Pods(p.name).Get(ctx, old.Name, metav1.GetOptions{})
			if err == nil && (pod.UID == old.UID || !podReady(pod)) {
				err = fmt.Errorf("it is not")
			}
			return err
		})
		p.adaptersReady(2)
	}
	restart()
	p.must(p.Client().CoreV1().Nodes().Delete(t.Context(), p.node(0), metav1.DeleteOptions{}))
	p.adaptersReady(2)
	restart()
	nodes.Stop()
	if what := <-missing; what != "" {
		t.Error(what)
	}
	p.settled("x", "2/2")
	p.stayed("x", before)
}

// A placeholder for another pool's adapters is refused by the adapter that it is put on.
func TestG1_PlaceholderOfAnotherPoolIsFailed(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 3, "z1")
	p.bind(p.byHand(0, func(pod *corev1.Pod) { pod.Labels[v1alpha1.LabelPool] = "another" }), 0)
	p.podIs("by-hand-vreplica-0", corev1.PodFailed, v1alpha1.PodOtherPool)
}

// A pod that is labelled as a placeholder and requests no vreplicas is not one; the controller leaves it alone.
func TestG8_LabelledPodsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 1, "z1")
	p.bind(p.byHand(0, func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{} }), 0)
	p.run("x", 1, "1")
	p.podIs("by-hand-vreplica-0", corev1.PodPending, "")
}

// A placeholder that is deleted with time to spare is gone at once all the same, ready or not.
func TestDeletionIsImmediate(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 3, "z1")
	for index, ready := range []bool{true, false} {
		p.adapterReady(0, ready)
		pod := p.byHand(index)
		p.bind(pod, 0)
		p.podIs(pod.Name, corev1.PodRunning, "")
		p.must(p.Client().CoreV1().Pods(p.name).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(600))}))
		p.eventually(pod.Name+" is gone", func(ctx context.Context) error {
			is, err := p.Client().CoreV1().Pods(p.name).Get(ctx, pod.Name, metav1.GetOptions{})
			if err == nil {
				return fmt.Errorf("it is still there, deleted since %v", is.DeletionTimestamp)
			}
			return nil
		})
	}
}

// kubectl shows a placeholder as 1/1 Running on a ready adapter, 0/1 on one that is not, and why it failed.
func TestKubectlShowsPlaceholdersAsPods(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 1, "z1")
	p.bind(p.byHand(0), 0)
	shows := func(name string, want ...string) {
		t.Helper()
		p.eventually("kubectl shows "+strings.Join(want, " "), func(ctx context.Context) error {
			out, err := p.Kubectl(ctx, "-n", p.name, "get", "pod", name, "--no-headers")
			if err == nil && !strings.HasPrefix(strings.Join(strings.Fields(out)[1:], " "), strings.Join(want, " ")) {
				err = fmt.Errorf("it shows %s", out)
			}
			return err
		})
	}
	shows("by-hand-vreplica-0", "1/1", "Running", "0")
	p.adapterReady(0, false)
	shows("by-hand-vreplica-0", "0/1", "Running", "0")
	p.bind(p.byHand(1), 0)
	shows("by-hand-vreplica-1", "0/1", "OutOfVReplicas", "0")
}
