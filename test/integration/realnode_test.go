package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// A real node is there, with room and without taints: any of these pods would run on it.
func TestC38_NothingOfOursLandsOnARealNode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		scheduler string
		edit      func(*corev1.Pod)
		want      string
	}{
		"a pod that only names the scheduler":   {v1alpha1.SchedulerName, ordinary, noPool},
		"a pod that only names it, packing":     {v1alpha1.SchedulerNameMaxFillUp, ordinary, noPool},
		"a pod of the pool without a request":   {v1alpha1.SchedulerName, requestingNothing, notOne("0")},
		"a placeholder without room":            {v1alpha1.SchedulerName, func(*corev1.Pod) {}, full(1)},
		"one without room, packing":             {v1alpha1.SchedulerNameMaxFillUp, func(*corev1.Pod) {}, full(1)},
		"one without room or node selector":     {v1alpha1.SchedulerName, unselective, full(1)},
		"one without room or selector, packing": {v1alpha1.SchedulerNameMaxFillUp, unselective, full(1)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, sharedLab(t), zones(1, "z1")...)
			if err := p.CreateNode(t.Context(), lab.Host(p.name+"-host", "z1")); err != nil {
				t.Fatal(err)
			}
			p.scheduler = tc.scheduler
			p.seen()
			x := p.vpod("x")
			p.grow(x, 1)
			p.settled(x, "1", 0)
			p.saysOf(p.grow(x, 1, tc.edit)[0], tc.want)
		})
	}
}

// ordinary makes a placeholder a pod like any other, but for its scheduler's name.
func ordinary(pod *corev1.Pod) {
	withoutLabels(pod)
	unselective(pod)
	requestingNothing(pod)
	pod.Spec.Tolerations = nil
}

func unselective(pod *corev1.Pod) { pod.Spec.NodeSelector = nil }
