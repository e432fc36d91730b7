package soak

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func toMove(index int, node, because string) *corev1.Pod {
	p := testPlaceholder(index, node)
	p.Annotations = map[string]string{v1alpha1.AnnotationMove: because}
	return p
}

// evens has a pool be evened out, or not any more.
func evens(on bool) *v1alpha1.AdapterPool {
	p := autoPool(1, 2)
	p.Spec.Descheduling = rebalance(on)
	return p
}

// limited asks for 3 vreplicas on so many adapters at most.
func limited(n int32) *v1alpha1.VPod {
	v := asksFor(3)
	v.Spec.MaxAdapters = &n
	return v
}

// others is one of another VPod.
func others(node string) *corev1.Pod {
	p := testPlaceholder(9, node)
	p.OwnerReferences, p.Labels[v1alpha1.LabelVPod] = nil, "y"
	return p
}

// budget covers VPod x, and has let some of its placeholders go.
func budget(gone ...string) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "x", CreationTimestamp: metav1.Time{Time: noon.Add(-time.Minute)}},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: "x"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptedPods: map[string]metav1.Time{}},
	}
	for _, name := range gone {
		b.Status.DisruptedPods[name] = metav1.Time{Time: noon}
	}
	return b
}

// replaced puts another vreplica of x beside the three.
func (c *chapter) replaced() *chapter {
	return c.event(event{object: testPlaceholder(3, "")}).event(event{object: testPlaceholder(3, "p-0")})
}

func (c *chapter) drains() *chapter { return c.event(event{object: autoPool(1, 1)}) }

func TestHistoryExplainsMoves(t *testing.T) {
	one := testPlaceholder(1, "p-1")
	for name, tc := range map[string]struct {
		happens func(c *chapter)
		want    string
	}{
		"drained": {func(c *chapter) { c.drains().replaced().removes(one) }, "drained"},
		"drained just now, and not any more": {func(c *chapter) {
			c.drains().replaced().event(event{object: autoPool(1, 2)}).removes(one)
		}, "drained"},
		"drained, and the budget allows it": {func(c *chapter) {
			c.event(event{object: budget()}).drains().replaced().event(event{object: budget("x-vreplica-1")}).removes(one)
		}, "drained"},
		"rebalanced": {func(c *chapter) {
			c.event(event{object: evens(true)}).event(event{object: toMove(1, "p-1", v1alpha1.MoveRebalance)}).replaced().removes(one)
		}, "rebalanced"},
		"moved by request": {func(c *chapter) { c.event(event{object: toMove(1, "p-1", "ByHand")}).replaced().removes(one) }, "moved by request"},
		"not moved after all": {func(c *chapter) {
			c.drains().replaced().event(event{object: autoPool(1, 2)}).later(9).removes(testPlaceholder(3, "p-0"))
		}, "not moved after all"},
		"drained, and what took its place is just lost": {func(c *chapter) {
			c.drains().replaced()
			c.expected.pods["x-vreplica-3"] = true
			c.removes(testPlaceholder(3, "p-0")).removes(one)
			delete(c.tally.moved, "by hand")
		}, "drained"},
		"no other adapter may be used": {func(c *chapter) {
			c.event(event{object: limited(2)}).event(event{object: others("p-0")}).drains().removes(one)
		}, "drained, at its limit"},
	} {
		t.Run(name, func(t *testing.T) {
			c := autoHistory()
			tc.happens(c)
			if len(c.breaches) > 0 || c.tally.moved[tc.want] != 1 || len(c.tally.moved) != 1 {
				t.Errorf("moved %v, want one for %q; breaches:\n%s", c.tally.moved, tc.want, strings.Join(c.breaches, "\n"))
			}
		})
	}
}

func TestHistoryFindsEachBreachOfMoving(t *testing.T) {
	one := testPlaceholder(1, "p-1")
	for name, tc := range map[string]struct {
		happens func(c *chapter)
		want    string
	}{
		"before another one is made":   {func(c *chapter) { c.drains().removes(one) }, "G4: ns/x-vreplica-1 was served by p-1"},
		"before another one is placed": {func(c *chapter) { c.drains().event(event{object: testPlaceholder(3, "")}).removes(one) }, "G4: ns/x-vreplica-1 was served by p-1"},
		"long after it was drained": {func(c *chapter) {
			c.drains().event(event{object: autoPool(1, 2)}).later(9).removes(one)
		}, "G4: ns/x-vreplica-1 was served by p-1"},
		"the one that was to be moved, long after": {func(c *chapter) {
			c.drains().replaced().event(event{object: autoPool(1, 2)}).later(9).removes(one)
		}, "G4: ns/x-vreplica-1 was served by p-1"},
		"another one than is to go": {func(c *chapter) { c.later(60).removes(testPlaceholder(0, "p-0")) }, "G4: ns/x-vreplica-0 was served by p-0"},
		"the one that was to be moved, after all": {func(c *chapter) {
			c.event(event{object: budget()}).drains().replaced().event(event{object: autoPool(1, 2)}).removes(one)
		}, "budgets: ns/x-vreplica-1 was moved, and budget x was not asked"},
		"one too many":                      {func(c *chapter) { c.drains().replaced().event(event{object: testPlaceholder(4, "")}) }, "VPods: ns/x-vreplica-4 is number 5 of x"},
		"one too many, and nobody is moved": {func(c *chapter) { c.event(event{object: testPlaceholder(3, "")}) }, "VPods: ns/x-vreplica-3 is number 4 of x"},
		"room within its limit": {func(c *chapter) {
			c.event(event{object: limited(2)}).drains().later(9).removes(one)
		}, "G4: ns/x-vreplica-1 was served by p-1"},
		"within its limit": {func(c *chapter) {
			c.event(event{object: limited(3)}).event(event{object: others("p-0")}).drains().removes(one)
		}, "G4: ns/x-vreplica-1 was served by p-1"},
		"a budget was not asked": {func(c *chapter) {
			c.event(event{object: budget()}).drains().replaced().removes(one)
		}, "budgets: ns/x-vreplica-1 was moved, and budget x was not asked"},
		"nothing is evened out": {func(c *chapter) {
			c.event(event{object: evens(false)}).later(9).event(event{object: toMove(1, "p-1", v1alpha1.MoveRebalance)})
		}, "rebalance: ns/x-vreplica-1 is to be moved, and nothing is evened out"},
		"evened out amid a drain": {func(c *chapter) {
			p := evens(true)
			p.Status.TargetAdapters = new(int32(1))
			c.event(event{object: p}).later(9).event(event{object: toMove(0, "p-0", v1alpha1.MoveRebalance)})
		}, "rebalance: ns/x-vreplica-0 is to be moved, while adapters are drained"},
		"the status dips": {func(c *chapter) {
			c.event(event{object: places(testVPod(3), "set-0", 3)}).drains().event(event{object: places(testVPod(3), "set-0", 2)})
		}, "G4: the status of ns/x places 2 vreplicas after 3, and 0 were taken from it"},
		"the status dips by more than was lost": {func(c *chapter) {
			c.expected.pods[one.UID] = true
			c.event(event{object: places(testVPod(3), "set-0", 3)}).removes(one).event(event{object: places(testVPod(3), "set-0", 1)})
		}, "G4: the status of ns/x places 1 vreplicas after 3, and 1 were taken from it"},
		"something moves at rest": {func(c *chapter) {
			c.expected.rest, c.expected.pods[one.UID] = true, true
			c.removes(one)
		}, `rest: ns/x-vreplica-1 moves on "p-1", gone: true`},
		"a pool is scaled at rest": {func(c *chapter) {
			c.expected.rest = true
			c.event(event{object: scaledBy("kubectl", 1)})
		}, "rest: s/set is scaled from 2 to 1"},
		"a status changes at rest": {func(c *chapter) {
			c.expected.rest = true
			c.event(event{object: places(testVPod(3), "set-0", 3)})
		}, "rest: the status of ns/x places other vreplicas"},
	} {
		t.Run(name, func(t *testing.T) {
			c := autoHistory()
			tc.happens(c)
			if f := strings.Join(c.breaches, "\n"); !strings.Contains(f, tc.want) {
				t.Errorf("found:\n%s\nand not %s", f, tc.want)
			}
		})
	}
}

func TestHistoryLetsMovesHappen(t *testing.T) {
	one := testPlaceholder(1, "p-1")
	for name, happens := range map[string]func(c *chapter){
		"the status dips by what was lost": func(c *chapter) {
			c.expected.pods[one.UID] = true
			c.event(event{object: places(testVPod(3), "set-0", 3)}).removes(one).event(event{object: places(testVPod(3), "set-0", 2)})
		},
		"the status dips at the limit": func(c *chapter) {
			at := limited(2)
			c.event(event{object: at}).event(event{object: others("p-0")}).event(event{object: places(observed(limited(2)), "set-0", 3)})
			c.drains().event(event{object: places(observed(limited(2)), "set-0", 2)}).removes(one)
		},
		"an adapter is about to be taken for lost": func(c *chapter) {
			c.event(event{object: unready(1)}).later(7)
			c.expected.rest = true
			c.later(3).removes(one)
		},
		"what was to take a place is preempted": func(c *chapter) {
			c.event(event{object: places(testVPod(3), "set-0", 3)}).drains().replaced()
			high := testPlaceholder(9, "")
			high.OwnerReferences, high.Spec.Priority = nil, new(int32(100))
			surge := preempted(testPlaceholder(3, "p-0"))
			c.event(event{object: high}).event(event{object: surge}).removes(surge)
			c.event(event{object: places(testVPod(3), "set-0", 2)})
		},
		"one that is not ready, whatever its budget": func(c *chapter) {
			sick := testPlaceholder(1, "p-1")
			sick.Status = runs(false)
			c.event(event{object: sick}).event(event{object: budget()}).drains().replaced().removes(sick)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := autoHistory()
			if happens(c); len(c.breaches) > 0 {
				t.Errorf("found:\n%s", strings.Join(c.breaches, "\n"))
			}
		})
	}
}
