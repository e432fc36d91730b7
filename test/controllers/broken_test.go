package controllers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// All at once: an adapter on a host that is cordoned, one that is not ready, one whose node's name is taken, two without a
// host, a pool without a StatefulSet, and VPods that can never be placed. A VPod beside them is placed and scaled as if
// nothing were.
func TestG7_WhatIsBrokenStopsNothingElse(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2", "z3")
	p.must(p.Cordon(t.Context(), p.host(1), true))
	p.adapterReady(2, false)
	foreign := lab.Host(p.node(3), "")
	p.must(p.CreateNode(t.Context(), foreign))
	p.patch("statefulset", p.name, `{"spec":{"replicas":6}}`)
	p.saysReady(p.name, v1alpha1.ReasonNodeNameTaken, p.node(3))
	ghost := p.otherPool(p.name + "-ghost")
	ghost.Spec.StatefulSetRef.Name = "nobody"
	p.create(ghost)
	t.Cleanup(func() { _ = p.Objects().Delete(context.Background(), ghost) })
	p.nodeIs(1, "out of use", cordoned(v1alpha1.CordonHostCordoned))
	for i, edit := range []func(*v1alpha1.VPod){
		func(v *v1alpha1.VPod) { v.Spec.PoolName = "no-such-pool" },
		func(v *v1alpha1.VPod) { v.Spec.PoolName = ghost.Name },
		func(v *v1alpha1.VPod) { v.Spec.PriorityClassName = "no-such-class" },
		func(v *v1alpha1.VPod) { v.Spec.SchedulerName = "no-such-scheduler" },
	} {
		p.create(p.vpod(fmt.Sprintf("broken-%d", i), 3, edit))
	}

	start := time.Now()
	p.run("x", 4, "2/0/2")
	p.scale("x", 6)
	p.settled("x", "3/0/3")
	p.scale("x", 2)
	p.settled("x", "2/0/0") // What is on an adapter that is not ready goes first.
	t.Logf("placed, scaled up and down in %s", time.Since(start).Round(time.Millisecond))
	p.condition("broken-0", v1alpha1.ConditionScheduled, v1alpha1.ReasonPoolNotFound)
	p.condition("broken-1", v1alpha1.ConditionScheduled, v1alpha1.ReasonPoolNotReady)
	p.condition("broken-2", v1alpha1.ConditionScheduled, v1alpha1.ReasonCreationRefused)
}
