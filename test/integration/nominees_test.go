package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// limited sets the adapter limit of a vreplica.
func limited(limit string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations = map[string]string{v1alpha1.AnnotationMaxAdapters: limit} }
}

// x-0 fills a-0, x-1 may use one adapter and waits. A sibling with a higher limit opens a-1 to it.
func TestC36_ASiblingWithAHigherLimitOpensAnAdapter(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(1, "z1", "z2")...)
	p.capacity(1, "10")
	p.seen()
	x := p.vpod("x")
	p.grow(x, 1, p.on(0), limited("1"))
	waiting := p.grow(x, 1, limited("1"))[0]
	p.refused(labtest.TimeLimit(t), waiting)
	p.grow(x, 1, limited("2"))
	p.settled(x, "1/2", 0)
}

// Two preemptors wait for two victims on a-0, of which one is gone: a free place that is theirs. It must not hold the
// minimum down for x, which has room on a-1.
func TestG2_RoomOfPreemptorsHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(2, "z1", "z2")...)
	high := p.priority("high", 100, corev1.PreemptLowerPriority)
	p.grow(p.vpod("victim"), 2, p.on(0), withFinalizer)
	p.grow(p.vpod("other"), 2, p.on(1), high)
	p.seen()
	y := p.vpod("y")
	y.SchedulerName = v1alpha1.SchedulerNameMaxFillUp
	for _, preemptor := range p.grow(y, 2, high) {
		p.nominated(preemptor, 0)
	}
	x := p.vpod("x")
	p.grow(x, 1, p.on(1))
	p.taint(1, corev1.Taint{Key: "only-x", Effect: corev1.TaintEffectNoSchedule})
	p.capacity(1, "10")
	p.seen()
	p.release("victim-vreplica-0")
	waiting := p.grow(x, 1, func(pod *corev1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: "only-x", Operator: corev1.TolerationOpExists})
	})[0]
	p.bound(labtest.TimeLimit(t), waiting)
	p.release("victim-vreplica-1")
	p.settled(y, "2/0", 0)
}

// Two preemptors share victims on an overfilled adapter, and neither sleeps beside the room that they leave.
func TestC37_PreemptorsThatShareVictimsAreBothPlaced(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(5, "z1")...)
	p.scheduler = v1alpha1.SchedulerNameMaxFillUp
	high := p.priority("high", 100, corev1.PreemptLowerPriority)
	for round := range 5 {
		p.grow(p.vpod(fmt.Sprint("x", round)), 7, p.on(0))
		for _, preemptor := range p.grow(p.vpod("y"), 2, high) {
			p.bound(soon(t), preemptor)
		}
		all, err := p.Client().CoreV1().Pods(p.name).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range all.Items {
			p.delete(pod.Name)
		}
	}
}
