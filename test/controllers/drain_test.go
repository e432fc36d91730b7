package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// newHeld makes a pool with an adapter in each zone, whose size is held at that number.
func (s *stage) newHeld(t testing.TB, capacity int32, zones ...string) *pool {
	t.Helper()
	p := s.newSet(t, zones...)
	pool, n := p.set.Pool(capacity), int32(len(zones))
	pool.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: &n, MaxReplicas: n, ScaleDownDelay: &metav1.Duration{}}
	p.create(pool)
	p.adaptersReady(len(zones))
	return p
}

// holdAt has the pool held at another number of adapters: those beyond it are drained.
func (p *pool) holdAt(n int) {
	p.t.Helper()
	p.patch("adapterpool", p.name, fmt.Sprintf(`{"spec":{"autoscaling":{"minReplicas":%d,"maxReplicas":%d}}}`, n, n))
}

// budget makes a PodDisruptionBudget for the placeholders of a VPod, and returns when kube-controller-manager counts by it. That
// looks up the scale of the VPod, whose kind it does not know within 30 s of its installation. Then it fails, and does not try
// again before the budget or one of the pods changes.
func (p *pool) budget(vpod string, spec policyv1.PodDisruptionBudgetSpec) {
	p.t.Helper()
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: vpod}}
	p.create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: vpod}, Spec: spec})
	p.eventually("the budget is in force", func(ctx context.Context) error {
		b, err := p.Client().PolicyV1().PodDisruptionBudgets(p.name).Get(ctx, vpod, metav1.GetOptions{})
		if err != nil || b.Status.ObservedGeneration == b.Generation {
			return err
		}
		b.Labels = map[string]string{"looked-at": fmt.Sprint(time.Now().Unix())}
		_, err = p.Client().PolicyV1().PodDisruptionBudgets(p.name).Update(ctx, b, metav1.UpdateOptions{})
		return fmt.Errorf("its status is %+v (%w)", b.Status, err)
	})
}

// nothing may be disrupted.
func nothing() policyv1.PodDisruptionBudgetSpec {
	return policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1000))}
}

func (p *pool) dropBudget(vpod string) {
	p.t.Helper()
	p.must(p.Client().PolicyV1().PodDisruptionBudgets(p.name).Delete(p.t.Context(), vpod, metav1.DeleteOptions{}))
}

// neverLess fails the test if the status of a VPod told of fewer than so many at any time since a witness looks, or of more
// than are asked for, or if more than some spare placeholders existed.
func (p *pool) neverLess(w *witness, name string, asked, fewest, spare int) {
	p.t.Helper()
	p.hear(w, func(w *witness) {
		if w.wrong != "" {
			p.t.Error(w.wrong)
		}
		if least, told := w.fewest[name]; told && least < fewest {
			p.t.Errorf("%s was served by %d, want never fewer than %d", name, least, fewest)
		}
		if w.mostAlive[name] > asked+spare {
			p.t.Errorf("%d of %d placeholders of %s existed, want at most %d spare", w.mostAlive[name], asked, name, spare)
		}
		p.t.Logf("%s: fewest published %d, most existed %d, evicted %d, status writes %d",
			name, w.fewest[name], w.mostAlive[name], w.deleted[name], w.writes[name])
	})
}

// saysOfMove waits until the condition Scheduled of a VPod is true, and says the words.
func (p *pool) saysOfMove(name, words string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%s says %q", name, words), func(ctx context.Context) error {
		v, err := p.get(ctx, name)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(v.Status.Conditions, v1alpha1.ConditionScheduled)
		if c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, words) {
			return fmt.Errorf("it says %+v", c)
		}
		return nil
	})
}

// An adapter is emptied before it is removed, and each vreplica is served by another one before it goes. A budget that lets
// nobody be missed is no hindrance: it counts the vreplicas that are asked for, and while one moves there is one more.
func TestG6_DrainServesElsewhereBeforeItTakesAway(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 20, "z1", "z2", "z3", "z1")
	p.run("x", 8, "2/2/2/2")
	p.run("y", 30, "7/8/8/7")
	p.budget("x", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(0))})
	b, err := p.Client().PolicyV1().PodDisruptionBudgets(p.name).Get(t.Context(), "x", metav1.GetOptions{})
	p.must(err)
	if b.Status.ExpectedPods != 8 || b.Status.DesiredHealthy != 8 || b.Status.CurrentHealthy != 8 {
		t.Errorf("the budget counts %+v", b.Status)
	}
	before := p.uids("x")
	w := p.witnessAll()
	p.holdAt(3)
	p.settledOneOf("x", "3/3/2", "3/2/3", "2/3/3")
	p.settledOneOf("y", "10/10/10")
	p.neverLess(w, "x", 8, 8, 2)
	p.neverLess(w, "y", 30, 30, 7)
	left := 0
	for uid, node := range p.uids("x") {
		if before[uid] == node {
			left++
		}
	}
	if left != 6 {
		t.Errorf("%d of the 6 vreplicas on other adapters stayed", left)
	}
}

// A budget that nothing can meet: nothing is evicted, and the API server's words are told; others go on, and so does the VPod.
// Once the drain is cancelled, no spare one is left. Once the budget is gone, the rest moves.
func TestG9_BudgetHoldsADrain(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 20, "", "", "")
	p.run("x", 6, "2/2/2")
	p.run("y", 3, "1/1/1")
	p.budget("x", nothing())
	before := p.uids("x")
	w := p.witnessAll()
	p.holdAt(2)
	p.settledOneOf("y", "2/1/0", "1/2/0")
	words := "The API server does not let go of 2 that are to leave " + p.set.PodName(2) + ": Cannot evict pod as it would violate the " +
		"pod's disruption budget. The disruption budget x needs 1000 healthy pods and has "
	p.saysOfMove("x", words)
	p.event("x", corev1.EventTypeWarning, v1alpha1.EventEvictionRefused)

	// The VPod shrinks and grows as ever.
	p.scale("x", 7)
	p.eventually("x has 7", func(ctx context.Context) error {
		v, err := p.get(ctx, "x")
		if err == nil && v.Status.ScheduledReplicas != 7 {
			err = fmt.Errorf("it has %d", v.Status.ScheduledReplicas)
		}
		return err
	})
	for uid, node := range before {
		if p.uids("x")[uid] != node {
			t.Errorf("one on %s is gone", node)
		}
	}
	late := p.byHand(0)
	p.bind(late, 2)
	failed := p.podIs(late.Name, corev1.PodFailed, v1alpha1.PodAdapterDraining)
	if want := fmt.Sprintf("adapter %s takes no more vreplicas, because AdapterPool %s is about to do without it", p.node(2), p.name); failed.Status.Message != want {
		t.Errorf("message %q, want %q", failed.Status.Message, want)
	}
	p.deletePod(late.Name)

	p.holdAt(3)
	p.nodeIs(2, "in use again", cordoned(""))
	p.eventually("no spare one is left", func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, "x")
		if err == nil && len(pods) != 7 {
			err = fmt.Errorf("there are %d", len(pods))
		}
		return err
	})
	p.saysOfMove("x", "7 of 7 vreplicas are placed")
	p.neverLess(w, "x", 7, 6, 2)

	p.dropBudget("x")
	p.holdAt(2)
	p.settledOneOf("x", "4/3", "3/4")
}

// A shrinking VPod does not wait for a budget, and loses first what was to leave.
func TestG9_BudgetDoesNotHoldScalingDown(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 20, "", "", "")
	p.run("x", 9, "3/3/3")
	p.budget("x", nothing())
	p.holdAt(2)
	p.saysOfMove("x", "The API server does not let go of 3")
	p.scale("x", 6)
	p.settledOneOf("x", "3/3", "3/3/0")
}

// A person's cordon does not keep a vreplica on an adapter that is drained, and stays a person's.
func TestG6_DrainOfACordonedAdapter(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 20, "", "", "")
	p.run("x", 6, "2/2/2")
	p.budget("x", nothing())
	p.must(p.Cordon(t.Context(), p.node(2), true))
	p.holdAt(2)
	p.saysOfMove("x", "The API server does not let go of 2 that are to leave "+p.set.PodName(2))
	p.holdAt(3)
	p.settled("x", "2/2/2")
	node, err := p.Client().CoreV1().Nodes().Get(t.Context(), p.node(2), metav1.GetOptions{})
	p.must(err)
	if _, ours := node.Annotations[v1alpha1.AnnotationCordon]; ours || !node.Spec.Unschedulable {
		t.Errorf("cordoned %t, annotations %v", node.Spec.Unschedulable, node.Annotations)
	}
	p.dropBudget("x")
	p.holdAt(2)
	p.settled("x", "3/3")
}

// Two budgets for one pod are more than the API server can deal with, which it answers with a success that is none.
func TestG9_TwoBudgetsHoldADrain(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 20, "", "")
	p.run("x", 2, "1/1")
	for _, name := range []string{"one", "two"} {
		p.create(&policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: name},
			Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(0)), Selector: &metav1.LabelSelector{}},
		})
	}
	p.holdAt(1)
	p.saysOfMove("x", "This pod has more than one PodDisruptionBudget")
	p.must(p.Client().PolicyV1().PodDisruptionBudgets(p.name).Delete(t.Context(), "two", metav1.DeleteOptions{}))
	p.settled("x", "2")
}
