package controllers

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// rebalance has the pool evened out, or not, at most so many moves a minute.
func (p *pool) rebalance(mode v1alpha1.RebalanceMode, perMinute int) {
	p.t.Helper()
	p.patch("adapterpool", p.name, fmt.Sprintf(
		`{"spec":{"descheduling":{"rebalance":{"mode":%q,"evictionsPerMinute":%d}}}}`, mode, perMinute))
}

// pileUp makes a pool with room for 10 on each adapter, and VPods that all began on the first of them, because the others
// were cordoned.
func (s *stage) pileUp(t testing.TB, adapters int, vpods map[string]int32) *pool {
	t.Helper()
	p := s.newPool(t, 10, make([]string, adapters)...)
	for ordinal := 1; ordinal < adapters; ordinal++ {
		p.must(p.Cordon(t.Context(), p.node(ordinal), true))
	}
	for name, replicas := range vpods {
		p.run(name, replicas, fmt.Sprint(replicas)+strings.Repeat("/0", adapters-1))
	}
	for ordinal := 1; ordinal < adapters; ordinal++ {
		p.must(p.Cordon(t.Context(), p.node(ordinal), false))
	}
	return p
}

// marks tells when placeholders of the pool were marked for a move, from now on.
func (p *pool) marks() (seen func() []time.Time) {
	p.t.Helper()
	var mu sync.Mutex
	var times []time.Time
	known := map[string]bool{}
	pods, err := p.Client().CoreV1().Pods(p.name).List(p.t.Context(), metav1.ListOptions{LabelSelector: v1alpha1.LabelVPod})
	p.must(err)
	changes := p.watching(pods.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.LabelSelector = v1alpha1.LabelVPod
		return p.Client().CoreV1().Pods(p.name).Watch(ctx, o)
	})
	p.t.Cleanup(changes.Stop)
	go func() {
		for e := range changes.ResultChan() {
			pod, ok := e.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			mu.Lock()
			isMarked := pod.Annotations[v1alpha1.AnnotationMove] == v1alpha1.MoveRebalance
			if isMarked && !known[string(pod.UID)] {
				times = append(times, time.Now())
			}
			known[string(pod.UID)] = isMarked
			mu.Unlock()
		}
	}()
	return func() []time.Time { mu.Lock(); defer mu.Unlock(); return append([]time.Time(nil), times...) }
}

// isEven waits until a VPod is placed as wanted and none of its placeholders is marked.
func (p *pool) isEven(name, want string) {
	p.t.Helper()
	p.settled(name, want)
	p.eventually("no placeholder of "+name+" is marked", func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, name)
		for _, pod := range pods {
			if pod.Annotations[v1alpha1.AnnotationMove] != "" {
				return fmt.Errorf("%s is", pod.Name)
			}
		}
		return err
	})
}

// What piled up while there were two adapters is evened out when there are four, without any of it being unserved at any
// time. Then nothing is moved any more.
func TestRebalance_WhatPiledUpIsEvenedOut(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z1")
	p.rebalance(v1alpha1.RebalanceOn, 60)
	p.run("x", 20, "10/10")
	w, marks := p.witnessAll(), p.marks()
	p.addHost("z1")
	p.addHost("z1")
	p.must(p.ScaleAdapters(t.Context(), p.set, 4))
	p.isEven("x", "5/5/5/5")
	p.neverLess(w, "x", 20, 20, 1)
	p.event("x", corev1.EventTypeNormal, v1alpha1.EventRebalanced)
	if n := len(marks()); n != 10 {
		t.Errorf("%d moves, want 10", n)
	}

	// It has looked again many times when these have come and gone.
	before := p.uids("x")
	for i := range 5 {
		name := fmt.Sprintf("y%d", i)
		p.run(name, 4, "1/1/1/1")
		p.scale(name, 0)
		p.settled(name, "0/0/0/0")
	}
	p.stayed("x", before)
	if n := len(marks()); n != 10 {
		t.Errorf("%d moves, want 10 as before", n)
	}
}

// Zones come first: what is in one zone goes to the other, as far as that makes it more even.
func TestRebalance_OverZones(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z1")
	p.run("x", 4, "2/2")
	p.addHost("z2")
	p.must(p.ScaleAdapters(t.Context(), p.set, 3))
	w := p.witnessAll()
	p.rebalance(v1alpha1.RebalanceOn, 60)
	p.isEven("x", "1/1/2")
	p.neverLess(w, "x", 4, 4, 1)
}

// A VPod that packs gives up the adapters that it does not need.
func TestRebalance_PacksWhatPacks(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "", "")
	p.scheduler = v1alpha1.SchedulerNameMaxFillUp
	p.run("y", 8, "8/0")
	p.run("x", 4, "2/2")
	p.scale("y", 0)
	p.settled("y", "0/0")
	w := p.witnessAll()
	p.rebalance(v1alpha1.RebalanceOn, 60)
	p.isEven("x", "4/0")
	p.neverLess(w, "x", 4, 4, 1)
}

// VPods take turns at the rate of the pool: 30 a minute is one in 2 s.
func TestRebalance_RateAndTurns(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).pileUp(t, 2, map[string]int32{"x": 4, "y": 4})
	w, marks := p.witnessAll(), p.marks()
	p.rebalance(v1alpha1.RebalanceOn, 30)
	p.isEven("x", "2/2")
	p.isEven("y", "2/2")
	p.neverLess(w, "x", 4, 4, 1)
	p.neverLess(w, "y", 4, 4, 1)
	times := marks()
	if len(times) != 4 {
		t.Fatalf("%d moves, want 4", len(times))
	}
	// That a watch is late may make two look closer to each other than they were, but not all of them.
	if took := times[3].Sub(times[0]); took < 3*2*time.Second-500*time.Millisecond {
		t.Errorf("4 moves began within %v, want 6s", took)
	}
}

// Off moves nothing, and calls off what carries the mark.
func TestRebalance_OffMovesNothing(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).pileUp(t, 2, map[string]int32{"x": 4})
	p.run("y", 6, "3/3")
	before := p.uids("x")
	p.rebalance(v1alpha1.RebalanceOff, 60)
	p.must(p.Cordon(t.Context(), p.node(1), true)) // Its replacement finds no room, and it stays until it is called off.
	p.scale("y", 10)
	p.settled("y", "6/3+1")
	mark := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationMove, v1alpha1.MoveRebalance)
	p.patch("pod", "x-vreplica-2", mark)
	p.isEven("x", "4/0")
	p.must(p.Cordon(t.Context(), p.node(1), false))
	p.settled("y", "6/4")
	p.stayed("x", before)
}

// A PodDisruptionBudget that lets nothing go holds its VPod where it is, and no other one.
func TestRebalance_BudgetsHold(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).pileUp(t, 2, map[string]int32{"x": 4, "y": 4})
	p.budget("x", nothing())
	before := p.uids("x")
	w := p.witnessAll()
	p.rebalance(v1alpha1.RebalanceOn, 60)
	p.event("x", corev1.EventTypeWarning, v1alpha1.EventNotRebalanced)
	p.isEven("y", "2/2")
	p.isEven("x", "4/0")
	p.stayed("x", before)
	p.neverLess(w, "x", 4, 4, 1)
}

// A controller that is killed while it moves something, twice, leaves nothing half-done: the next one goes on.
func TestRebalance_GoesOnAfterAKill(t *testing.T) {
	s := ownStage(t)
	p := s.pileUp(t, 2, map[string]int32{"x": 10})
	w, marks := p.witnessAll(), p.marks()
	p.rebalance(v1alpha1.RebalanceOn, 60)
	for range 2 {
		seen := len(marks())
		p.eventually("another move has begun", func(context.Context) error {
			if n := len(marks()); n == seen {
				return fmt.Errorf("%d have", n)
			}
			return nil
		})
		s.controller.Kill()
		p.must(s.controller.Start(labtest.TimeLimit(t)))
	}
	p.isEven("x", "5/5")
	p.neverLess(w, "x", 10, 10, 1)
	if n := len(marks()); n != 5 {
		t.Errorf("%d moves, want 5", n)
	}
}
