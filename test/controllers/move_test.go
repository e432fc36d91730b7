package controllers

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// move has somebody want the placeholder of a VPod moved that is first by name on an adapter, and returns it.
func (p *pool) move(name string, ordinal int) *corev1.Pod {
	p.t.Helper()
	pods, err := p.placeholders(p.t.Context(), name)
	p.must(err)
	for i := range pods {
		if pods[i].Spec.NodeName == p.node(ordinal) {
			p.patch("pod", pods[i].Name, fmt.Sprintf(`{"metadata":{"annotations":{%q:"ByHand"}}}`, v1alpha1.AnnotationMove))
			return &pods[i]
		}
	}
	p.t.Fatalf("none is on %s", p.node(ordinal))
	return nil
}

// What is marked is moved, and nothing else.
func TestG4_MoveOfOneVReplica(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "", "")
	p.must(p.Cordon(t.Context(), p.node(1), true))
	p.run("x", 4, "4/0")
	p.must(p.Cordon(t.Context(), p.node(1), false))
	before := p.uids("x")
	w := p.witnessAll()
	moved := p.move("x", 0)
	p.settled("x", "3/1")
	p.neverLess(w, "x", 4, 4, 1)
	for uid, node := range before {
		if is, isThere := p.uids("x")[uid]; isThere == (uid == moved.UID) || isThere && is != node {
			t.Errorf("%s on %s: is there %t, moved was %s", uid, node, isThere, moved.UID)
		}
	}
}

// What moves to an adapter that is not ready stays where it is served until that is, or has had time to be.
func TestG6_MoveWaitsForTheOtherAdapterToBeReady(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "", "")
	p.must(p.Cordon(t.Context(), p.node(1), true))
	p.run("x", 4, "4/0")
	p.adapterReady(1, false)
	p.nodeIs(1, "not ready", func(n *corev1.Node) error {
		if nodeReady(n) {
			return fmt.Errorf("it is")
		}
		return nil
	})
	p.must(p.Cordon(t.Context(), p.node(1), false))
	fewest := p.witnessReady("x")
	p.move("x", 0)
	p.eventually("another one is there", func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, "x")
		if err != nil {
			return err
		}
		for _, pod := range pods {
			if pod.Spec.NodeName == p.node(1) && pod.Status.Phase == corev1.PodRunning {
				return nil
			}
		}
		return fmt.Errorf("it is not")
	})
	p.adapterReady(1, true)
	p.settled("x", "3/1")
	if n := fewest(); n < 4 {
		t.Errorf("%d were ready, want never fewer than 4", n)
	}
}

// A move that finds no room is given up after a minute, and leaves no trace. Nobody of lower priority has to give way to it.
func TestG4_MoveToNowhereIsGivenUp(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 2, "", "")
	p.run("x", 2, "1/1", p.important())
	p.run("y", 2, "1/1")
	before, neighbours, w := p.uids("x"), p.uids("y"), p.witnessAll()
	moved := p.move("x", 0)
	p.saysOfMove("x", "There is no adapter with room for 1 that is to leave "+p.set.PodName(0))
	p.eventually("the mark is gone", func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, "x")
		if err != nil {
			return err
		}
		for _, pod := range pods {
			if _, marked := pod.Annotations[v1alpha1.AnnotationMove]; marked {
				return fmt.Errorf("%s is marked", pod.Name)
			}
		}
		return nil
	})
	p.settled("x", "1/1")
	p.stayed("x", before)
	p.stayed("y", neighbours)
	p.neverLess(w, "x", 2, 2, 0)
	if t.Logf("%s stayed", moved.Name); before[moved.UID] != p.node(0) {
		t.Error("another one was marked")
	}
}

// A VPod with a hundred vreplicas on one adapter moves in well under a minute.
func TestG6_DrainOfALargeVPodTakesSeconds(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 100, "", "")
	p.must(p.Cordon(t.Context(), p.node(0), true))
	p.run("x", 100, "0/100")
	p.must(p.Cordon(t.Context(), p.node(0), false))
	w := p.witnessAll()
	start := time.Now()
	p.holdAt(1)
	p.settled("x", "100")
	took := time.Since(start)
	t.Logf("100 vreplicas moved in %s", took)
	if took > time.Minute {
		t.Errorf("it took %s", took)
	}
	p.neverLess(w, "x", 100, 100, 10)
}

// All that the adapter limit allows are in use: those on the adapter that drains go at once, and only then another one may be
// used. Not where a budget would let only some of them go, which could not be placed then.
func TestC18_DrainAtTheAdapterLimit(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 20, "", "", "")
	p.must(p.Cordon(t.Context(), p.node(0), true))
	p.must(p.Cordon(t.Context(), p.node(1), true))
	p.run("x", 5, "0/0/5", func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = new(int32(1)) })
	p.must(p.Cordon(t.Context(), p.node(0), false))
	p.must(p.Cordon(t.Context(), p.node(1), false))
	p.budget("x", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1))})
	w := p.witnessAll()
	p.holdAt(2)
	p.saysOfMove("x", "within spec.maxAdapters all 5 have to go at once, and the disruption budget x allows 1")
	p.neverLess(w, "x", 5, 5, 5)
	p.dropBudget("x")
	p.settledOneOf("x", "5/0")
}

// A ResourceQuota leaves no room for one more: one goes after the other, and never two are missing.
func TestG9_DrainWithinAQuota(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 20, "", "", "")
	p.create(&corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "vreplicas"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.vpod.dev/vreplicas": resource.MustParse("6")}},
	})
	p.run("x", 6, "2/2/2")
	w := p.witnessAll()
	p.holdAt(2)
	p.settled("x", "3/3")
	p.must(p.Client().CoreV1().ResourceQuotas(p.name).Delete(t.Context(), "vreplicas", metav1.DeleteOptions{}))
	p.neverLess(w, "x", 6, 5, 0)
}
