package controllers

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/labtest"
)

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
