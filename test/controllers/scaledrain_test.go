package controllers

import (
	"context"
	"fmt"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// X=13 is 10/3, and Y=1 is on the second adapter. With X=1, Y moves to the first one, once, and the second one goes.
func TestC13_ALeftoverMovesDownAndThePoolShrinks(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 2, 2, 10, after(never))
	p.scheduler = v1alpha1.SchedulerNameMaxFillUp
	p.run("x", 13, "10/3")
	p.run("y", 1, "0/1")
	p.setAutoscaling(quick)
	seen, w := p.witnessScale(), p.witnessAll()
	p.scale("x", 1)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "size 1: 2 vreplicas wanted")
	p.settled("x", "1")
	p.settled("y", "1")
	p.wasAskedFor(seen, 2, 1)
	p.hear(w, func(w *witness) {
		if w.deleted["y"] != 1 || w.bound["y"] != 1 || w.deleted["x"] != 12 {
			t.Errorf("of y %d were bound and %d went, of x %d went; want 1, 1, 12", w.bound["y"], w.deleted["y"], w.deleted["x"])
		}
		if w.wrong != "" {
			t.Error(w.wrong)
		}
	})
}

// After the delay the pool shrinks, and every vreplica of the adapters that go has moved before.
func TestC16_ShrinksAfterTheDelay(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 3, 3, 10, after(never))
	p.run("x", 23, "8/8/7")
	p.setAutoscaling(quick)
	seen, w := p.witnessScale(), p.witnessAll()
	p.scale("x", 19)
	p.scaledTo(2, v1alpha1.ReasonWantedSize, "size 2: 19 vreplicas wanted")
	p.settledSum("x", 19)
	p.said(v1alpha1.EventScaled, "from 3 to 2 adapters, the others are empty")
	p.wasAskedFor(seen, 3, 2)
	p.hear(w, func(w *witness) {
		if w.deleted["x"] > 4+7 || w.wrong != "" {
			t.Errorf("%d went, want at most 11; %s", w.deleted["x"], w.wrong)
		}
	})
}

// held has a budget let nobody evict vreplicas of a VPod.
func (p *pool) held(vpod string) *policyv1.PodDisruptionBudget {
	p.t.Helper()
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: vpod},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1000)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: vpod}},
		},
	}
	p.create(budget)
	p.eventually("the budget is in force", func(ctx context.Context) error {
		b, err := p.Client().PolicyV1().PodDisruptionBudgets(p.name).Get(ctx, vpod, metav1.GetOptions{})
		if err == nil && b.Status.ObservedGeneration != b.Generation {
			err = fmt.Errorf("its status is %+v", b.Status)
		}
		return err
	})
	return budget
}

// A budget that lets nobody move blocks the drain: the adapters are used again, and it is told why. Once the budget is gone, it
// is tried again.
func TestG9_ADrainThatABudgetBlocksIsGivenUpForAWhile(t *testing.T) {
	s := ownStage(t, "--drain-patience=4s")
	p := s.newScaled(t, 3, 3, 10, after(never))
	p.run("x", 15, "5/5/5")
	p.run("y", 9, "3/3/3")
	p.setAutoscaling(quick)
	budget := p.held("x")
	p.scale("y", 0)
	p.nodeIs(2, "draining", cordoned(v1alpha1.CordonDraining))
	p.scaledTo(3, v1alpha1.ReasonDrainBlocked, "3 adapters stay: 5 vreplicas have stayed on "+p.set.PodName(2)+" for 4s, of "+p.name+"/x; "+
		"evicting "+p.name+"/x-vreplica-")
	p.saysScaled(v1alpha1.ReasonDrainBlocked, "is refused: Cannot evict pod as it would violate the pod's disruption budget")
	p.said(v1alpha1.ReasonDrainBlocked, "disruption budget")
	p.nodeIs(2, "in use", cordoned(""))
	p.settled("x", "5/5/5")
	p.must(p.Objects().Delete(t.Context(), budget))
	p.scaledTo(2, v1alpha1.ReasonWantedSize, "")
	p.settledSum("x", 15)
}

// Load that returns, and autoscaling that is switched off, put the adapters back in use that were to go.
func TestADrainIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*pool){
		"load returns": func(p *pool) {
			p.scale("y", 9)
			p.scaledTo(3, v1alpha1.ReasonWantedSize, "size 3: 24 vreplicas wanted")
		},
		"switched off": func(p *pool) {
			p.setAutoscaling(`{"mode":"Off"}`)
			p.saysScaled(v1alpha1.ReasonAutoscalingOff, "the StatefulSet has 3 replicas; with mode Auto it would be size 2")
		},
		"taken out": func(p *pool) { p.patch("adapterpool", p.name, `{"spec":{"autoscaling":null}}`) },
		"floor":     func(p *pool) { p.setAutoscaling(`{"minReplicas":3}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newScaled(t, 3, 3, 10, after(never))
			p.run("x", 15, "5/5/5")
			p.run("y", 9, "3/3/3")
			p.setAutoscaling(quick)
			p.held("x")
			seen := p.witnessScale()
			p.scale("y", 0)
			p.nodeIs(2, "draining", cordoned(v1alpha1.CordonDraining))
			p.saysScaled(v1alpha1.ReasonDraining, "1 of 3 adapters are to be removed, and 5 vreplicas are still on "+p.set.PodName(2))
			how(p)
			p.nodeIs(2, "in use", cordoned(""))
			p.settled("x", "5/5/5")
			p.wasAskedFor(seen, 3)
		})
	}
}

// Placeholders that no VPod controls are moved by nobody: the adapter stays, and it is told which they are.
func TestForeignPlaceholdersKeepAnAdapter(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 3, 3, 10, after(never))
	p.run("x", 21, "7/7/7")
	plain := lab.VPod{Namespace: p.name, Name: "plain", Pool: p.name}.Pod(0)
	delete(plain.Labels, v1alpha1.LabelVPod)
	plain.Spec.NodeName = p.node(1)
	p.create(plain)
	p.setAutoscaling(quick)
	p.scale("x", 1)
	p.scaledTo(2, v1alpha1.ReasonDrainBlocked, "2 adapters stay: "+p.set.PodName(1)+
		" is not removed: it has pods that no VPod controls, and nothing moves those: "+p.name+"/"+plain.Name)
	p.must(p.Objects().Delete(t.Context(), plain))
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "")
	p.settled("x", "1")
}
