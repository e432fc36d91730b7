package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// newImpatientPool is newPool for adapters whose vreplicas move when they are lost for so long.
func (s *stage) newImpatientPool(t testing.TB, evictionTimeout time.Duration, zones ...string) *pool {
	t.Helper()
	p := s.newSet(t, zones...)
	object := p.set.Pool(10)
	object.Spec.EvictionTimeout = &metav1.Duration{Duration: evictionTimeout}
	p.create(object)
	p.adaptersReady(len(zones))
	return p
}

// stayedExactly fails the test if not exactly so many vreplicas of those before are still placed.
func (p *pool) stayedExactly(name string, before map[string]bool, want int) {
	p.t.Helper()
	stayed := 0
	for uid := range p.uids(name) {
		if before[string(uid)] {
			stayed++
		}
	}
	if stayed != want {
		p.t.Errorf("%d vreplicas of %s are the same as before, want %d", stayed, name, want)
	}
}

// alive are the vreplicas of a VPod that are placed.
func (p *pool) alive(name string) map[string]bool {
	p.t.Helper()
	alive := map[string]bool{}
	for uid := range p.uids(name) {
		alive[string(uid)] = true
	}
	return alive
}

// X: 2/2/2, and z3 falls silent: X 3/3 soon after the timeout, each vreplica moved once. z3 comes back: nothing moves, and
// the next two go there.
func TestC26_WholeZoneOutage(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newImpatientPool(t, 3*time.Second, "z1", "z2", "z3")
	p.run("x", 6, "2/2/2")
	before := p.alive("x")
	p.must(p.StopHost(t.Context(), p.host(2)))
	p.nodeIs(2, "out of use", cordoned(v1alpha1.CordonHostNotReady))
	p.settled("x", "3/3/0")
	p.stayedExactly("x", before, 4)
	series := fmt.Sprintf(`vpod_controller_moved_vreplicas_total{pool="%s",reason="AdapterNotReady"} 2`, p.name)
	if metrics := p.fetch(t, "/metrics"); !strings.Contains(metrics, series) {
		t.Errorf("no metric %s", series)
	}

	after := p.uids("x")
	p.must(p.StartHost(t.Context(), p.host(2)))
	p.adapterReady(2, true) // kube-controller-manager marked the pod, and no kubelet is there to see that it runs
	p.adaptersReady(3)
	p.settled("x", "3/3/0")
	p.stayed("x", after)
	p.scale("x", 8)
	p.settled("x", "3/3/2")
	p.stayed("x", after)
}

// Where every adapter is lost, nothing moves. When one is back, the vreplicas of the others go there.
func TestG5_OutageOfEverythingMovesNothing(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newImpatientPool(t, 2*time.Second, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	p.adapterReady(0, false)
	p.adapterReady(1, false)
	for ordinal := range 2 {
		p.nodeIs(ordinal, "lost", cordoned(v1alpha1.CordonLost))
	}
	p.stayed("x", before)
	p.adapterReady(1, true)
	p.settled("x", "0/4")
	p.adapterReady(0, true)
	p.adaptersReady(2)
	p.settled("x", "0/4")
}

// An adapter that restarts in time keeps its vreplicas, and a rolling restart of all moves nothing.
func TestG4_RestartsMoveNothing(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2", "z3")
	p.run("x", 6, "2/2/2")
	before := p.uids("x")
	_, err := p.Kubectl(t.Context(), "-n", p.name, "rollout", "restart", "statefulset", p.name)
	p.must(err)
	_, err = p.Kubectl(t.Context(), "-n", p.name, "rollout", "status", "statefulset", p.name, "--timeout=60s")
	p.must(err)
	p.adaptersReady(3)
	p.settled("x", "2/2/2")
	p.stayed("x", before)
}

// A StatefulSet that is replaced without its pods, to change what cannot be changed in place, keeps its vreplicas.
func TestG4_ReplacedStatefulSetKeepsVReplicas(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	_, err := p.Kubectl(t.Context(), "-n", p.name, "delete", "statefulset", p.name, "--cascade=orphan")
	p.must(err)
	p.nodeIs(0, "out of use", cordoned(v1alpha1.CordonRemoved))
	p.stayed("x", before)
	set := p.set
	set.Replicas = 2
	p.create(set.StatefulSet())
	p.adaptersReady(2)
	p.settled("x", "2/2")
	p.stayed("x", before)
}

// Two adapters are removed, and their nodes with them: the vreplicas move at once, and no placeholder and no status names
// what is gone.
func TestC48_RemovedAdaptersLoseTheirVReplicasAtOnce(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2", "z3", "z4")
	p.run("x", 8, "2/2/2/2")
	before := p.alive("x")
	p.patch("statefulset", p.name, `{"spec":{"replicas":2}}`)
	p.must(p.Client().CoreV1().Nodes().Delete(t.Context(), p.node(3), metav1.DeleteOptions{}))
	start := time.Now()
	p.settled("x", "4/4")
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	p.stayedExactly("x", before, 4)
	p.adaptersReady(2)
}

// A pool that is deleted keeps its nodes, out of use, until they are empty.
func TestG6_DeletedPoolStaysUntilItIsEmpty(t *testing.T) {
	t.Parallel()
	for _, cascade := range []string{"background", "foreground"} {
		t.Run(cascade, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newPool(t, 10, "z1", "z2")
			p.run("x", 4, "2/2")
			before := p.uids("x")
			_, err := p.Kubectl(t.Context(), "delete", "adapterpool", p.name, "--wait=false", "--cascade="+cascade)
			p.must(err)
			for ordinal := range 2 {
				p.nodeIs(ordinal, "out of use", cordoned(v1alpha1.CordonRemoved))
			}
			p.stayed("x", before)
			_, err = p.Kubectl(t.Context(), "-n", p.name, "delete", "vpod", "x")
			p.must(err)
			p.eventually("pool and nodes are gone", func(ctx context.Context) error {
				nodes, err := p.virtualNodes(ctx)
				if err != nil {
					return err
				}
				_, err = p.Kubectl(ctx, "get", "adapterpool", p.name)
				if len(nodes) > 0 || err == nil {
					return fmt.Errorf("%d nodes are there, pool: %v", len(nodes), err)
				}
				return nil
			})
		})
	}
}

// The controller is away for longer than kube-controller-manager waits for heartbeats: nothing is unplaced. Once it is
// back, nodes and placeholders are repaired, and nothing moved.
func TestC45_ControllerAwayMovesNothing(t *testing.T) {
	p := ownStage(t).newImpatientPool(t, 2*time.Second, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	p.controller.Stop()
	for ordinal := range 2 {
		p.must(p.WaitForHost(labtest.TimeLimit(t), p.node(ordinal), false))
	}
	p.eventually("placeholders are called not ready", func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, "x")
		if err != nil {
			return err
		}
		for _, pod := range pods {
			if podReady(&pod) {
				return fmt.Errorf("%s is ready", pod.Name)
			}
		}
		return nil
	})
	p.stayed("x", before)
	p.must(p.controller.Start(labtest.TimeLimit(t)))
	start := time.Now()
	p.adaptersReady(2)
	p.eventually("placeholders are ready", func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, "x")
		if err != nil {
			return err
		}
		for _, pod := range pods {
			if !podReady(&pod) {
				return fmt.Errorf("%s is not ready", pod.Name)
			}
		}
		return nil
	})
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("the repair took %s", took)
	}
	p.settled("x", "2/2")
	p.stayed("x", before)
	for ordinal := range 2 {
		p.nodeIs(ordinal, "clean", func(n *corev1.Node) error {
			for _, c := range n.Status.Conditions {
				if c.Status == corev1.ConditionUnknown {
					return fmt.Errorf("it has condition %+v", c)
				}
			}
			for _, taint := range n.Spec.Taints {
				if taint.Key != v1alpha1.TaintPool {
					return fmt.Errorf("it has taint %+v", taint)
				}
			}
			return nil
		})
	}
}

// An adapter that went while nobody watched is found on return.
func TestG5_WhatWentWhileTheControllerWasAwayIsMoved(t *testing.T) {
	p := ownStage(t).newPool(t, 10, "z1", "z2")
	p.run("x", 4, "2/2")
	p.controller.Kill()
	p.patch("statefulset", p.name, `{"spec":{"replicas":1}}`)
	p.eventually("the pod is gone", func(ctx context.Context) error {
		_, err := p.Client().CoreV1().Pods(p.name).Get(ctx, p.set.PodName(1), metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %v", err)
		}
		return nil
	})
	p.must(p.controller.Start(labtest.TimeLimit(t)))
	p.settled("x", "4")
}

// An adapter comes back while the controller does not see it. When the controller goes on, its time is up, as far as it
// knows; still nothing moves.
func TestG4_StaleViewMovesNothing(t *testing.T) {
	const timeout = 3 * time.Second
	p := ownStage(t).newImpatientPool(t, timeout, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	p.adapterReady(0, false)
	p.nodeIs(0, "not ready", func(n *corev1.Node) error {
		if nodeReady(n) {
			return fmt.Errorf("it is ready")
		}
		return nil
	})
	p.controller.Pause()
	since := time.Now()
	p.adapterReady(0, true)
	p.eventually("the time is up", func(context.Context) error {
		if left := time.Until(since.Add(timeout)); left > 0 {
			return fmt.Errorf("%s are left", left)
		}
		return nil
	})
	p.controller.Resume()
	p.adaptersReady(2)
	p.settled("x", "2/2")
	p.stayed("x", before)
}
