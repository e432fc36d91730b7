package controllers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// 18 placed and 5 that wait are 3 adapters, in one write. Then 19 would do with 2, and 3 stay for the delay; and so they do
// while demand swings across the edge.
func TestC16_GrowsInOneWriteAndStays(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 2, 4, 10, after(never))
	p.run("x", 18, "9/9")
	seen := p.witnessScale()
	p.scale("x", 23)
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "size 3: 23 vreplicas wanted, 10 per adapter")
	p.settledSum("x", 23)
	p.said(v1alpha1.EventScaled, "from 2 to 3 adapters: size 3: 23 vreplicas wanted, 10 per adapter")
	p.scale("x", 19)
	p.saysScaled(v1alpha1.ReasonScaleDownDelayed, "3 adapters stay until fewer have been enough for 1h0m0s; size 2: 19 vreplicas wanted")
	for range 5 {
		p.scale("x", 21)
		p.settledSum("x", 21)
		p.saysScaled(v1alpha1.ReasonWantedSize, "size 3: 21 vreplicas wanted")
		p.scale("x", 19)
		p.settledSum("x", 19)
		p.saysScaled(v1alpha1.ReasonScaleDownDelayed, "size 2: 19 vreplicas wanted")
	}
	p.wasAskedFor(seen, 2, 3)
}

// X=25 at once: from 1 to 3, never 4.
func TestC16_ALeapIsOneWrite(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 1, 4, 10, after(never))
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "")
	seen := p.witnessScale()
	p.create(p.vpod("x", 25))
	p.settledSum("x", 25)
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
	p.wasAskedFor(seen, 1, 3)
}

// From nothing, and back to it.
func TestC52_ToZeroAndBack(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 0, 2, 10, between(0, 10))
	p.scaledTo(0, v1alpha1.ReasonWantedSize, "size 0: 0 vreplicas wanted")
	p.saysReady(p.name, v1alpha1.ReasonAdaptersReady, "no adapters are wanted, and there are none")
	seen := p.witnessScale()
	p.create(p.vpod("x", 3))
	p.settledSum("x", 3)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "size 1: 3 vreplicas wanted")
	p.scale("x", 0)
	p.scaledTo(0, v1alpha1.ReasonWantedSize, "size 0")
	p.scale("x", 11)
	p.settledSum("x", 11)
	p.wasAskedFor(seen, 0, 1, 0, 2)
}

// The floor and the ceiling, and what somebody else sets is put back, and told.
func TestC20_BoundsAndScalingByHand(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 0, 6, 10, between(3, 4))
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "size 3: 0 vreplicas wanted, 10 per adapter; needed 0, minReplicas is 3")
	p.scaleByHand(4)
	p.said(v1alpha1.EventScaleReverted, "somebody asked the StatefulSet for 4 replicas; those that are not wanted go "+
		"once fewer have been enough for 1s, and they are empty: size 3: 0 vreplicas wanted, 10 per adapter; needed 0, minReplicas is 3")
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
	p.scaleByHand(1)
	p.said(v1alpha1.EventScaleReverted, "somebody asked the StatefulSet for 1 replica; it has 3 again: size 3")
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
	p.create(p.vpod("x", 60))
	p.scaledTo(4, v1alpha1.ReasonMaxReplicas, "size 4: 60 vreplicas wanted, 10 per adapter; needed 6, maxReplicas is 4")
	p.said(v1alpha1.ReasonMaxReplicas, "needed 6")
	p.eventually("as many as possible are placed", func(ctx context.Context) error {
		waiting, err := p.waiting(ctx)
		if err == nil && len(waiting) != 20 {
			err = fmt.Errorf("%d wait", len(waiting))
		}
		return err
	})
	p.setAutoscaling(`{"minReplicas":1,"maxReplicas":10}`)
	p.settledSum("x", 60)
	p.scaledTo(6, v1alpha1.ReasonWantedSize, "")
}

// The wanted size is reported in every case; nobody is scaled unless it is on.
func TestAutoscalingOffReports(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 1, 3, 10, func(a *v1alpha1.Autoscaling) { a.Mode = v1alpha1.AutoscalingOff })
	p.create(p.vpod("x", 25))
	pool := p.saysScaled(v1alpha1.ReasonAutoscalingOff, "autoscaling is off, and the StatefulSet has 1 replica; with mode Auto it would be size 3: 25 vreplicas wanted")
	if pool.Status.WantedAdapters == nil || *pool.Status.WantedAdapters != 3 || pool.Status.TargetAdapters != nil {
		t.Errorf("the status is %+v", pool.Status)
	}
	seen := p.witnessScale()
	p.setAutoscaling(`{"mode":"Auto"}`)
	p.settledSum("x", 25)
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
	p.wasAskedFor(seen, 1, 3)
	p.patch("adapterpool", p.name, `{"spec":{"autoscaling":null}}`)
	p.eventually("nothing is said of it any more", func(ctx context.Context) error {
		pool, err := p.poolNamed(ctx, p.name)
		if err == nil && (pool.Status.WantedAdapters != nil || pool.Status.TargetAdapters != nil ||
			meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionScaled) != nil) {
			err = fmt.Errorf("the status is %+v", pool.Status)
		}
		return err
	})
}

// A StatefulSet that is created again gets the number that the pool is held at.
func TestStatefulSetCreatedAgain(t *testing.T) {
	t.Parallel()
	for name, replicas := range map[string]int32{"with less": 1, "with more": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newScaled(t, 1, 6, 10, after(never))
			p.create(p.vpod("x", 25))
			p.settledSum("x", 25)
			p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
			p.dropSet()
			pool := p.saysScaled(v1alpha1.ReasonStatefulSetNotFound, "there is no StatefulSet")
			if pool.Status.TargetAdapters == nil || *pool.Status.TargetAdapters != 3 {
				t.Errorf("the target is not kept: %+v", pool.Status)
			}
			p.scale("x", 21)
			p.set.Replicas = replicas
			p.create(p.set.StatefulSet())
			p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
			if replicas < 3 {
				p.said(v1alpha1.EventScaled, "from 1 to 3 adapters, as many as the StatefulSet before this one had")
			} else {
				p.said(v1alpha1.EventScaleReverted, "the new StatefulSet has 5 replicas")
			}
			p.settledSum("x", 21)
		})
	}
}

// Waiting that the adapter limit causes is nothing that more adapters could cure.
func TestC18_TheAdapterLimitNeverGrowsThePool(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 3, 4, 3, between(3, 10))
	seen := p.witnessScale()
	p.run("x", 5, "3/2/0", func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = new(int32(2)) })
	p.scale("x", 8)
	p.settled("x", "3/3/0+2")
	p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonAdapterLimit)
	p.saysScaled(v1alpha1.ReasonWantedSize, "adapter limits hold back 2 more")
	p.setAutoscaling(`{"minReplicas":1}`)
	p.scaledTo(2, v1alpha1.ReasonWantedSize, "size 2: 6 vreplicas wanted, 3 per adapter; adapter limits hold back 2 more")
	p.patch("vpod", "x", `{"spec":{"maxAdapters":3}}`)
	p.settled("x", "3/3/2")
	p.wasAskedFor(seen, 3, 2, 3)
}

// Adapters that find no host are waited for, not asked for again, and others are served meanwhile.
func TestC9_AdaptersWithoutAHostDoNotMakeItGrow(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 2, 2, 10)
	p.run("x", 18, "9/9")
	seen := p.witnessScale()
	p.create(p.vpod("y", 7))
	p.saysScaled(v1alpha1.ReasonScalingUp, "1 of 3 adapters are not there yet: "+p.set.PodName(2)+" (no host")
	p.create(p.vpod("z", 0))
	for _, n := range []int32{1, 0, 3, 0} {
		p.scale("z", n) // It is looked at again and again.
		p.saysScaled(v1alpha1.ReasonScalingUp, fmt.Sprintf("size 3: %d vreplicas wanted", 25+n))
	}
	p.addHost("")
	p.settledSum("y", 7)
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
	p.wasAskedFor(seen, 2, 3)
}

// A jump of demand by 180, with hosts for all.
func TestDemandThatJumpsIsServedSoon(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 1, 10, 20, after(never))
	p.run("x", 20, "20")
	seen := p.witnessScale()
	start := time.Now()
	p.scale("x", 200)
	p.settledSum("x", 200)
	t.Logf("from 20 to 200 vreplicas, and 1 to 10 adapters: %s", time.Since(start).Round(10*time.Millisecond))
	p.wasAskedFor(seen, 1, 10)
}

// With autoscaling switched off, vreplicas go where there is room.
func TestC8_PlacementDoesNotWaitForTheAutoscaler(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 2, 2, 25, func(a *v1alpha1.Autoscaling) { a.Mode = v1alpha1.AutoscalingOff })
	p.run("x", 50, "25/25")
}

// Zones and nodes that adapters may run on are what the number is rounded up to.
func TestScaleUpUnit(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newSet(t, "z1")
	p.addHost("z2")
	p.addHost("z2")
	p.autoscale(10, func(a *v1alpha1.Autoscaling) { a.ScaleUpUnit = v1alpha1.ScaleUpUnitZones })
	p.scaledTo(2, v1alpha1.ReasonWantedSize, "needed 0, minReplicas is 1, rounded up to a multiple of 2 zones")
	p.setAutoscaling(`{"scaleUpUnit":"Nodes"}`)
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "rounded up to a multiple of 3 nodes")
	p.addHost("z3")
	p.scaledTo(4, v1alpha1.ReasonWantedSize, "rounded up to a multiple of 4 nodes")
	p.setAutoscaling(`{"scaleUpUnit":"None"}`)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "")
}
