package rebalance

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// outcome is what became of a move, in words for the owner of the VPod.
type outcome struct {
	vpod *v1alpha1.VPod
	pod  *corev1.Pod
	// moved: it did what it should.
	moved bool
	note  string
}

// ending is how a move stands.
type ending int

const (
	// underWay: it goes on.
	underWay ending = iota
	// void: what else changed meanwhile says nothing about whether moving is of use.
	void
	improved
	failed
)

// conclude looks at what became of the moves that were begun.
func (v view) conclude(m memory, now time.Time) (p plan, next memory) {
	if m.move != nil {
		p, m = v.follow(m, now)
	}
	for _, pod := range v.marked() {
		if m.move != nil && m.move.pod.UID == pod.UID || slices.Contains(p.unmark, pod) {
			continue
		}
		// Another controller marked it, or the mark could not be taken off when it should have been.
		if left := min(patience, m.unsettled[snapshot.VPodOf(pod)].Add(patience).Sub(now)); left > 0 {
			p.after = retry.Soonest(p.after, left)
			continue
		}
		p.unmark = append(p.unmark, pod)
		vpod := v.controllerOf(pod)
		if vpod == nil || m.turns[vpod.UID].wait(vpod.Generation, now) > 0 {
			continue // Told already.
		}
		var o outcome
		o, m = m.fail(vpod, pod, fmt.Sprintf("A vreplica was to move away from %s, but did not within %v",
			pod.Spec.NodeName, patience), now)
		p.outcomes = append(p.outcomes, o)
	}
	return p, m
}

// follow looks at the move under way.
func (v view) follow(m memory, now time.Time) (p plan, next memory) {
	mv := m.move
	end, why := v.endOf(mv, now)
	if end == underWay {
		p.after = min(patience, mv.begun.Add(patience).Sub(now))
		return p, m
	}
	m.move = nil
	vpod := v.controllerOf(mv.pod)
	switch end {
	case improved:
		m = m.with(vpod, turn{begun: mv.begun})
		p.outcomes = []outcome{{vpod: vpod, pod: mv.pod, moved: true, note: fmt.Sprintf("Moved a vreplica %v", mv.Improvement)}}
	case failed:
		if pod := v.find(mv.pod); pod != nil && isOurs(pod) {
			p.unmark = []*corev1.Pod{pod}
		}
		var o outcome
		o, m = m.fail(vpod, mv.pod, fmt.Sprintf("A vreplica was to move %v, but %s", mv.Improvement, why), now)
		p.outcomes = []outcome{o}
	}
	return p, m
}

// endOf says how a move stands, and why it failed. The cache may not have its mark yet; it has what came after the mark in
// the order in which that happened.
func (v view) endOf(mv *move, now time.Time) (end ending, why string) {
	vpod := v.controllerOf(mv.pod)
	if vpod == nil || vpod.DeletionTimestamp != nil || vpod.Generation != mv.vpod.Generation {
		return void, ""
	}
	isLate := now.Sub(mv.begun) >= patience
	pod := v.find(mv.pod)
	switch {
	case pod != nil && isOurs(pod) && isLate:
		return failed, fmt.Sprintf("did not within %v", patience)
	case pod != nil && !isOurs(pod) && pod.ResourceVersion != mv.pod.ResourceVersion:
		return failed, "somebody took the mark off its placeholder"
	case pod != nil && isLate:
		return void, ""
	case pod == nil && !v.isSettled(vpod) && isLate:
		return failed, fmt.Sprintf("not all vreplicas were served again within %v", patience)
	case pod != nil || !v.isSettled(vpod):
		return underWay, ""
	case !v.isAsForetold(mv):
		return failed, fmt.Sprintf("was placed elsewhere; perhaps profile %s has other rules than those that come with the "+
			"scheduler", vpod.Spec.SchedulerName)
	}
	return improved, ""
}

// isAsForetold says whether the replacement is where the dry run said.
func (v view) isAsForetold(mv *move) bool {
	slot, known := v.adapters.Slot(mv.To)
	return known && v.adapters.Tally(v.request(mv.vpod)).Count(slot, placement.ByAdapter) > mv.New.OnAdapter
}

// find returns a placeholder as it is now; nil: it is gone, or about to go.
func (v view) find(was *corev1.Pod) *corev1.Pod {
	for _, pod := range v.pods {
		if pod.UID == was.UID && isAlive(pod) {
			return pod
		}
	}
	return nil
}

// controllerOf returns the VPod that controls a placeholder; nil: there is none.
func (v view) controllerOf(pod *corev1.Pod) *v1alpha1.VPod {
	for _, vpod := range v.vpods {
		for _, owner := range pod.OwnerReferences {
			if owner.UID == vpod.UID && owner.Controller != nil && *owner.Controller {
				return vpod
			}
		}
	}
	return nil
}

// fail leaves a VPod alone for a while, and says why.
func (m memory) fail(vpod *v1alpha1.VPod, pod *corev1.Pod, note string, now time.Time) (outcome, memory) {
	t := m.turns[vpod.UID].failed(vpod.Generation, now)
	note = fmt.Sprintf("%s. The next attempt is in %v", note, t.until.Sub(now))
	return outcome{vpod: vpod, pod: pod, note: note}, m.with(vpod, t)
}
