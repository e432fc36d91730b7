package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// priority makes a class of this test's own and returns what gives it to a pod.
func (p *pool) priority(name string, value int32, policy corev1.PreemptionPolicy) func(*corev1.Pod) {
	p.t.Helper()
	class := &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: p.name + "-" + name}, Value: value, PreemptionPolicy: &policy,
	}
	if _, err := p.Client().SchedulingV1().PriorityClasses().Create(p.t.Context(), class, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
	edit := func(pod *corev1.Pod) { pod.Spec.PriorityClassName = class.Name }
	err := lab.Wait(labtest.TimeLimit(p.t), "admission knows the class", func(ctx context.Context) error {
		pod := p.vpod("any").Pod(0)
		edit(pod)
		_, err := p.Client().CoreV1().Pods(p.name).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return edit
}

// only keeps a vreplica to the adapter with an ordinal.
func only(ordinal string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeSelector[v1alpha1.LabelOrdinal] = ordinal }
}

// nominated waits until a pod is to be placed on an adapter once its victims are gone.
func (p *pool) nominated(pod *corev1.Pod, ordinal int) {
	p.t.Helper()
	p.until(labtest.TimeLimit(p.t), pod.Name, "nominated", func(pod *corev1.Pod) bool {
		return pod.Status.NominatedNodeName == p.node(ordinal)
	})
}

// release lets a terminating pod go.
func (p *pool) release(pod string) {
	p.t.Helper()
	p.patchPod(pod, object{"metadata": object{"finalizers": nil}})
}

// soon is the context of what has to happen within five seconds.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(labtest.TimeLimit(t), 5*time.Second, errors.New("it took more than 5 seconds"))
	t.Cleanup(cancel)
	return ctx
}

func TestC37_WhoMayPreemptWhom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// value and policy are those of the class of y; the three vreplicas of x have none.
		value  int32
		policy corev1.PreemptionPolicy
		wantX  string
	}{
		"an equal":                 {policy: corev1.PreemptLowerPriority, wantX: "3"},
		"a higher one":             {value: 100, policy: corev1.PreemptLowerPriority, wantX: "2"},
		"a higher one that waits":  {value: 100, policy: corev1.PreemptNever, wantX: "3"},
		"a lower one":              {value: -100, policy: corev1.PreemptLowerPriority, wantX: "3"},
		"a higher one, far higher": {value: 1_000_000, policy: corev1.PreemptLowerPriority, wantX: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPool(t, zones(3, "z1")...)
			x, y := p.vpod("x"), p.vpod("y")
			p.grow(x, 3)
			p.settled(x, "3", 0)
			pod := p.grow(y, 1, p.priority("y", tc.value, tc.policy))[0]
			if tc.wantX == "3" {
				p.refused(labtest.TimeLimit(t), pod)
				p.settled(y, "0", 1)
			} else {
				p.bound(labtest.TimeLimit(t), pod)
				p.settled(y, "1", 0)
			}
			p.settled(x, tc.wantX, 0)
		})
	}
}

func TestC37_HigherOneGoesFirstThoughItDoesNotPreempt(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(1, "z1")...)
	x, y, z := p.vpod("x"), p.vpod("y"), p.vpod("z")
	p.grow(x, 1)
	p.settled(x, "1", 0)
	// It is the first to wait, so that its back-off does not end after that of z.
	p.grow(y, 1, p.priority("y", 100, corev1.PreemptNever))
	p.settled(y, "0", 1)
	p.grow(z, 1)
	p.settled(z, "0", 1)
	p.delete("x-vreplica-0")
	p.settled(y, "1", 0)
	p.settled(z, "0", 1)
}

// The victims on a-1 are lower, but a-1 is one adapter too many for y; a-2 is cordoned.
func TestC37_NothingIsPreemptedWhereAnotherRuleRefuses(t *testing.T) {
	t.Parallel()
	p := newPool(t, sharedLab(t), zones(2, "z1", "z2", "z3")...)
	high := p.priority("high", 100, corev1.PreemptLowerPriority)
	middle := p.priority("middle", 50, corev1.PreemptLowerPriority)
	if err := p.Cordon(t.Context(), p.node(2), true); err != nil {
		t.Fatal(err)
	}
	p.seen()
	y := p.vpod("y")
	y.MaxAdapters = 1
	p.grow(y, 1, p.on(0), high)
	p.grow(p.vpod("middle"), 1, p.on(0), middle)
	p.grow(p.vpod("low"), 2, p.on(1))
	p.grow(p.vpod("cordoned"), 2, p.on(2))
	p.grow(y, 1, high)
	p.settled(y, "2/0/0", 0)
	p.settled(p.vpod("middle"), "0/0/0", 0)
	p.settled(p.vpod("low"), "0/2/0", 0)
	p.settled(p.vpod("cordoned"), "0/0/2", 0)
}

func TestC37_RoomOfADeletedNominationGoesToAnother(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(1, "z1")...)
	high := p.priority("high", 100, corev1.PreemptLowerPriority)
	p.grow(p.vpod("victim"), 1, p.on(0), withFinalizer)
	y := p.grow(p.vpod("y"), 1, high)[0]
	p.nominated(y, 0)
	z := p.grow(p.vpod("z"), 1)[0]
	p.refused(labtest.TimeLimit(t), z)
	p.delete(y.Name)
	p.release("victim-vreplica-0")
	p.bound(soon(t), z)
}

// The room is free all the time: nothing but the nomination holds it, and its end is the only event.
func TestC37_DeletedNominationWakesWhoWaitsForItsRoom(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(1, "z1")...)
	high := p.priority("high", 100, corev1.PreemptLowerPriority)
	y := p.grow(p.vpod("y"), 1, high, func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{v1alpha1.AnnotationMaxAdapters: "x"} // It cannot be placed itself.
	})[0]
	p.refused(labtest.TimeLimit(t), y)
	p.patchPod(y.Name, object{"status": object{"nominatedNodeName": p.node(0)}}, "status")
	z := p.grow(p.vpod("z"), 1)[0]
	p.refused(labtest.TimeLimit(t), z)
	p.delete(y.Name)
	p.bound(soon(t), z)
}

func TestC37_WaitForATerminatingVictim(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(2, "z1", "z2")...)
	high := p.priority("high", 100, corev1.PreemptLowerPriority)
	p.grow(p.vpod("fixed"), 1, p.on(0), high)
	p.grow(p.vpod("victim"), 1, p.on(0), withFinalizer)
	y := p.grow(p.vpod("y"), 1, high, only("0"))[0]
	p.nominated(y, 0)

	// Others are placed elsewhere meanwhile.
	others := p.vpod("others")
	p.grow(others, 1)
	p.settled(others, "0/1", 0)
	p.grow(others, 1)
	p.settled(others, "0/2", 0)

	// Neither an equal nor a lower one gets the room that the victim leaves.
	equal := p.grow(p.vpod("equal"), 1, high, only("0"))[0]
	lower := p.grow(p.vpod("lower"), 1, only("0"))[0]
	p.refused(labtest.TimeLimit(t), equal)
	p.refused(labtest.TimeLimit(t), lower)
	p.release("victim-vreplica-0")
	p.bound(soon(t), y)
	p.settled(p.vpod("equal"), "0/0", 1)
	p.settled(p.vpod("lower"), "0/0", 1)
}

// By priorities alone a-0 would lose its vreplica, but a budget protects it.
func TestC37_BudgetDecidesWhereThereIsAChoice(t *testing.T) {
	t.Parallel()
	p := newPool(t, sharedLab(t), zones(1, "z1", "z2")...)
	p.budget("protected")
	high := p.priority("high", 100, corev1.PreemptLowerPriority)
	middle := p.priority("middle", 50, corev1.PreemptLowerPriority)
	p.seen()
	p.grow(p.vpod("protected"), 1, p.on(0))
	p.grow(p.vpod("middle"), 1, p.on(1), middle)
	y := p.vpod("y")
	p.grow(y, 1, high)
	p.settled(y, "0/1", 0)
	p.settled(p.vpod("protected"), "1/0", 0)

	// The second finds nothing else, and a budget does not stop preemption then.
	p.grow(y, 1, high)
	p.settled(y, "1/1", 0)
}

// budget allows no disruption of a vpod.
func (p *pool) budget(vpod string) {
	p.t.Helper()
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: vpod},
		Spec: policyv1.PodDisruptionBudgetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: vpod}},
		},
	}
	if _, err := p.Client().PolicyV1().PodDisruptionBudgets(p.name).Create(p.t.Context(), budget, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
}
