package soak

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// testHistory has seen testWorld come about.
func testHistory() *history {
	h := newHistory()
	for _, o := range testHistoryOrder() {
		h.happens(event{object: o, at: noon})
	}
	h.settled()
	return h
}

// testHistoryOrder is what testWorld has, the pods last.
func testHistoryOrder() []client.Object {
	all := testWorld().seen()
	slices.Reverse(all)
	return all
}

// chapter is what happens in a test, one after the other: each event a second later than the one before.
type chapter struct {
	*history
	version uint64
}

func (c *chapter) removes(o client.Object) *chapter { return c.event(event{object: o, gone: true}) }

func (c *chapter) event(e event) *chapter {
	c.version++
	e.version, e.at = c.version, noon.Add(time.Duration(c.version)*time.Second)
	c.happens(e)
	return c
}

// later lets time pass.
func (c *chapter) later(seconds uint64) *chapter { c.version += seconds; return c }

func deleted(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	p.DeletionTimestamp = &metav1.Time{Time: noon}
	return p
}

func failed(p *corev1.Pod, reason string) *corev1.Pod {
	p = p.DeepCopy()
	p.Status.Phase, p.Status.Reason = corev1.PodFailed, reason
	return p
}

func writtenBy(o client.Object, manager string) client.Object {
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager}})
	return o
}

func asksFor(replicas int32) *v1alpha1.VPod {
	v := testVPod(replicas)
	v.Generation = 2
	return v
}

func unready(ordinal int) *corev1.Pod {
	p := testAdapter(ordinal)
	p.Status = runs(false)
	return p
}

func preempted(p *corev1.Pod) *corev1.Pod {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler,
	})
	return p
}

func cordoned(reason string) *corev1.Node {
	n := testNode(1)
	n.Spec.Unschedulable = true
	if reason != "" {
		n.Annotations = map[string]string{v1alpha1.AnnotationCordon: reason}
	}
	return n
}

func room(n int64) *corev1.Node {
	return withUID(lab.Adapter{Pool: "p", Ordinal: 0, Capacity: n}.Node())
}

func withUID(n *corev1.Node) *corev1.Node { n.UID = "p-0"; return n }

func pool(capacity int32) *v1alpha1.AdapterPool {
	p := testPool()
	p.Spec.Capacity = capacity
	return p
}

func TestHistoryExplains(t *testing.T) {
	zero, one := testPlaceholder(0, "p-0"), testPlaceholder(1, "p-1")
	for name, tc := range map[string]struct {
		happens func(c *chapter)
		want    string
	}{
		"scaled down":  {func(c *chapter) { c.event(event{object: asksFor(2)}).removes(zero) }, "scaled down"},
		"VPod deleted": {func(c *chapter) { c.removes(testVPod(3)).event(event{object: deleted(zero)}).removes(zero) }, "VPod deleted"},
		"by hand":      {func(c *chapter) { c.expected.pods[zero.UID] = true; c.removes(zero) }, "by hand"},
		"failed by hand": {func(c *chapter) {
			c.expected.pods[zero.UID] = true
			c.event(event{object: failed(zero, "")}).removes(zero)
		}, "by hand"},
		"adapter removed": {func(c *chapter) { c.event(event{object: testSet(1)}).removes(one) }, "adapter removed"},
		"adapter lost":    {func(c *chapter) { c.event(event{object: unready(1)}).later(9).removes(one) }, "adapter lost"},
		"pod gone":        {func(c *chapter) { c.removes(testAdapter(1)).later(9).removes(one) }, "adapter lost"},
		"capacity lowered": {func(c *chapter) {
			c.event(event{object: pool(1)}).event(event{object: failed(testPlaceholder(2, "p-0"), v1alpha1.PodOutOfVReplicas)})
		}, "capacity lowered"},
		"other priority": {func(c *chapter) {
			v := asksFor(3)
			v.Spec.PriorityClassName = "high"
			c.event(event{object: v}).event(event{object: testPlaceholder(3, "")}).removes(zero)
		}, "other priority"},
		"other priority, no room": {func(c *chapter) {
			v, waits := asksFor(3), testPlaceholder(2, "")
			v.Spec.PriorityClassName, waits.Spec.PriorityClassName = "high", "high"
			c.expected.pods[waits.UID] = true
			c.removes(testPlaceholder(2, "p-0")).event(event{object: v}).event(event{object: waits}).removes(zero)
			delete(c.tally.moved, "by hand")
		}, "other priority"},
		"preempted": {func(c *chapter) {
			high := testPlaceholder(9, "")
			high.OwnerReferences, high.Spec.Priority = nil, new(int32(100))
			p := testPlaceholder(0, "p-0")
			c.event(event{object: high}).event(event{object: preempted(p)}).removes(p)
		}, "preempted"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &chapter{history: testHistory()}
			tc.happens(c)
			if len(c.breaches) > 0 || c.tally.moved[tc.want] != 1 || len(c.tally.moved) != 1 {
				t.Errorf("moved %v, want one for %q; breaches:\n%s", c.tally.moved, tc.want, strings.Join(c.breaches, "\n"))
			}
		})
	}
}

// Each thing that must not be at any moment is found, even if all is well again afterwards.
func TestHistoryFindsEachBreach(t *testing.T) {
	zero, one := testPlaceholder(0, "p-0"), testPlaceholder(1, "p-1")
	next := func(i int) event { return event{object: testPlaceholder(i, "p-0")} }
	for name, tc := range map[string]struct {
		happens func(c *chapter)
		want    string
	}{
		"deleted for nothing": {func(c *chapter) { c.removes(zero) }, "G4: ns/x-vreplica-0 was served by p-0"},
		"failed for nothing":  {func(c *chapter) { c.event(event{object: failed(zero, v1alpha1.PodOutOfVReplicas)}) }, "G4: ns/x-vreplica-0 was served by p-0"},
		"moved by a restart":  {func(c *chapter) { c.removes(testAdapter(1)).removes(one) }, "G4: ns/x-vreplica-1 was served by p-1"},
		"moved too early":     {func(c *chapter) { c.event(event{object: unready(1)}).later(5).removes(one) }, "G4: ns/x-vreplica-1 was served by p-1"},
		"moved once it was back": {func(c *chapter) {
			c.event(event{object: unready(1)}).later(9).event(event{object: testAdapter(1)}).removes(one)
		}, "G4: ns/x-vreplica-1"},
		"moved by scaling up": {func(c *chapter) { c.event(event{object: asksFor(4)}).removes(zero) }, "G4: ns/x-vreplica-0 was served by p-0"},
		"nowhere to move to": {func(c *chapter) {
			c.event(event{object: unready(0)}).event(event{object: unready(1)}).later(9).removes(one)
		}, "G4: ns/x-vreplica-1"},
		"replaced by nothing": {func(c *chapter) {
			v := asksFor(3)
			v.Spec.PriorityClassName = "high"
			c.event(event{object: v}).removes(zero)
		}, "G4: ns/x-vreplica-0 was served by p-0"},
		"preempted by nobody":   {func(c *chapter) { c.removes(preempted(testPlaceholder(0, "p-0"))) }, "G4: ns/x-vreplica-0 was served by p-0"},
		"moved with its name":   {func(c *chapter) { c.event(event{object: testPlaceholder(0, "p-1")}) }, "G4: ns/x-vreplica-0 went from p-0 to"},
		"gone while nobody saw": {func(c *chapter) { c.event(event{object: zero, gone: true, missed: true}).settled() }, "G4: ns/x-vreplica-0 was served by p-0 and is gone"},
		"one above capacity": {func(c *chapter) {
			c.event(event{object: asksFor(5)}).event(next(3)).event(next(4)).removes(testPlaceholder(4, "p-0"))
		}, "G1: ns/x-vreplica-4 is served by p-0 as number 4"},
		"capacity lowered before": {func(c *chapter) {
			c.event(event{object: room(1)}).settled()
			c.event(event{object: asksFor(4)}).event(next(3))
		}, "G1: ns/x-vreplica-3 is served by p-0 as number 3"},
		"one above replicas":   {func(c *chapter) { c.event(event{object: testPlaceholder(3, "")}) }, "VPods: ns/x-vreplica-3 is number 4 of x, which asks for 3"},
		"on a real node":       {func(c *chapter) { c.event(event{object: asksFor(4)}).event(event{object: testPlaceholder(3, "h-0")}) }, "C38: ns/x-vreplica-3 was put on the real node h-0"},
		"node gone with vpods": {func(c *chapter) { c.removes(testNode(1)) }, "G6: virtual node p-1 is gone, and 1 vreplicas were on it"},
		"cordoned by somebody": {func(c *chapter) { c.event(event{object: cordoned("")}) }, "G9: p-1 was cordoned by"},
		"cordon undone": {func(c *chapter) {
			c.expected.cordoned["p-1"] = true
			c.event(event{object: cordoned("")}).settled()
			c.event(event{object: testNode(1)})
		}, "nodes: p-1 was cordoned by a person, and uncordoned by"},
		"real node written": {func(c *chapter) { c.event(event{object: writtenBy(lab.Host("h-0", "z"), "vpod-controller")}) }, `G8: real node h-0 was written by "vpod-controller"`},
		"real node deleted": {func(c *chapter) { c.removes(lab.Host("h-0", "z")) }, "G8: real node h-0 was written"},
		"adapter written":   {func(c *chapter) { c.event(event{object: writtenBy(testAdapter(0), "vpod-scheduler")}) }, "G8: vpod-scheduler wrote pod s/set-0"},
		"bystander touched": {func(c *chapter) {
			c.event(event{object: bystander()}).settled()
			c.event(event{object: labelled(bystander())})
		}, "G8: bystander bystanders/plain was touched"},
		"bystander deleted": {func(c *chapter) { c.event(event{object: bystander()}).settled(); c.removes(bystander()) }, "G8: bystander bystanders/plain was touched"},
		"more than was asked": {func(c *chapter) {
			c.event(event{object: places(asksFor(3), "set-0", 4)}).event(event{object: places(observed(asksFor(3)), "set-0", 4)})
		}, "status: the status of ns/x places 4 vreplicas"},
		"names what is long gone": {func(c *chapter) {
			c.expected.deleted["p-1"] = true
			c.removes(testNode(1)).removes(testAdapter(1)).later(9).event(event{object: places(testVPod(3), "set-1", 1)})
		}, "G6: the status of ns/x names set-1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &chapter{history: testHistory()}
			tc.happens(c)
			if f := strings.Join(c.breaches, "\n"); !strings.Contains(f, tc.want) {
				t.Errorf("found:\n%s\nand not %s", f, tc.want)
			}
		})
	}
}

func labelled(p *corev1.Pod) *corev1.Pod { p.Labels = map[string]string{"touched": ""}; return p }

func bystander() *corev1.Pod {
	p := plainPod("h-0")
	p.Namespace = bystanders
	return p
}

func places(v *v1alpha1.VPod, pod string, n int32) *v1alpha1.VPod {
	v.Status.Placements = []v1alpha1.Placement{{PodName: pod, VReplicas: n}}
	return v
}

func observed(v *v1alpha1.VPod) *v1alpha1.VPod { v.Status.ObservedGeneration = v.Generation; return v }

// What the rules allow is no breach, however close it comes.
func TestHistoryLets(t *testing.T) {
	for name, happens := range map[string]func(c *chapter){
		"a stale status of the last generation": func(c *chapter) {
			c.event(event{object: asksFor(2)}).event(event{object: places(asksFor(2), "set-0", 3)})
		},
		"a status right after a node is gone": func(c *chapter) {
			c.expected.deleted["p-1"] = true
			c.removes(testNode(1)).event(event{object: places(testVPod(3), "set-1", 3)})
		},
		"a node that comes back": func(c *chapter) {
			c.expected.deleted["p-1"] = true
			c.removes(testNode(1)).later(9).event(event{object: testNode(1)}).event(event{object: places(testVPod(3), "set-1", 3)})
		},
		"a cordon that says why": func(c *chapter) {
			c.event(event{object: cordoned(v1alpha1.CordonMarked)}).event(event{object: testNode(1)})
		},
		"a bystander whose host seems to be silent": func(c *chapter) {
			silent := bystander()
			silent.Status = runs(false)
			c.event(event{object: bystander()}).settled()
			c.event(event{object: silent})
		},
		"one more while they are replaced": func(c *chapter) {
			v := asksFor(3)
			v.Spec.PriorityClassName = "high"
			c.event(event{object: v}).event(event{object: testPlaceholder(3, "")})
		},
		"scaled down, and part of it was not seen": func(c *chapter) {
			c.expected.blind = true
			c.event(event{object: asksFor(1)}).event(event{object: testPlaceholder(0, "p-0"), gone: true, missed: true})
			c.event(event{object: testPlaceholder(1, "p-1"), gone: true, missed: true}).removes(testPlaceholder(2, "p-0")).settled()
		},
		"what served before the capacity was lowered": func(c *chapter) { c.event(event{object: pool(1)}).event(event{object: room(1)}) },
	} {
		t.Run(name, func(t *testing.T) {
			c := &chapter{history: testHistory()}
			if happens(c); len(c.breaches) > 0 {
				t.Errorf("found:\n%s", strings.Join(c.breaches, "\n"))
			}
		})
	}
}

// A binding beyond capacity that the guard fails is counted, and is no breach.
func TestHistoryCountsRejections_C3(t *testing.T) {
	c := &chapter{history: testHistory()}
	c.event(event{object: asksFor(5)}).event(event{object: testPlaceholder(3, "p-0")})
	beyond := testPlaceholder(4, "p-0")
	beyond.Status = corev1.PodStatus{Phase: corev1.PodPending}
	c.event(event{object: beyond}).event(event{object: failed(beyond, v1alpha1.PodOutOfVReplicas)})
	if got := fmt.Sprint(c.tally.beyondRoom, c.tally.rejected, len(c.breaches)); got != "1 1 0" {
		t.Errorf("beyond room, rejected and breaches are %s, want 1 1 0: %v", got, c.breaches)
	}
}
