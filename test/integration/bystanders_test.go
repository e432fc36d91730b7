package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// bystander is a vreplica that waits while things happen to others.
type bystander struct {
	stage     *stage
	scheduler *lab.Process
	attempts  int
}

// bystanders wait each for a plugin of ours, whose hints know one pool from the other. Those of the in-tree plugins do
// not: any uncordoned node wakes who waits for a cordon.
type bystanders []*bystander

func newBystanders(t *testing.T, strict *lab.Process) bystanders {
	t.Helper()
	var all bystanders
	for _, tc := range []wakeUp{
		wakeUps["a: a vreplica of another vpod leaves a full adapter"],
		wakeUps["b: a sibling placed elsewhere relaxes the skew"],
		wakeUps["c: the limit is raised"],
		wakeUps["c: a malformed limit is corrected"],
		wakeUps["d: the first adapter appears"],
		wakeUps["e: a capacity appears"],
		wakeUps["f: the uncordoned adapter is in a zone that is required"],
		wakeUps["the ordinal label of an adapter is corrected"],
	} {
		b := &bystander{stage: newStage(t, tc.adapters, tc.x), scheduler: shared.scheduler}
		if b.stage.x.SchedulerName != "" {
			b.scheduler = strict
		}
		tc.arrange(b.stage)
		all = append(all, b)
	}
	for _, b := range all {
		b.attempts = b.fenced()
	}
	return all
}

// fenced counts the attempts so far. A later vreplica has been refused then, so the scheduler is through with all that
// happened before.
func (b *bystander) fenced() int {
	b.stage.t.Helper()
	pod := b.stage.waiting.DeepCopy()
	edit := func(later *corev1.Pod) { later.Labels, later.Annotations = pod.Labels, pod.Annotations }
	b.stage.refused(labtest.TimeLimit(b.stage.t), b.stage.grow(b.stage.x, 1, edit)[0])
	return attempts(b.scheduler, pod)
}

// ordinaryPodCameAndWent has a pod that is no vreplica placed beside them, as thousands are in a cluster.
func (all bystanders) ordinaryPodCameAndWent() {
	s := all[0].stage
	s.t.Helper()
	plain := s.grow(s.vpod("plain"), 1, s.on(0), withoutLabels, func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	})[0]
	s.delete(plain.Name)
}

// stayed fails the test for each that was tried again.
func (all bystanders) stayed(t *testing.T) {
	t.Helper()
	for _, b := range all {
		if now := b.fenced(); now != b.attempts {
			t.Errorf("%s was tried %d times, want %d: nothing happened in pool %s", b.stage.waiting.Name, now, b.attempts, b.stage.waiting.Labels[v1alpha1.LabelPool])
		}
	}
}
