package vpod

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

const (
	// patience is how long somebody who should act is given before that is taken for silence.
	patience = time.Minute
	// arrival is how long the others of a surge are waited for, so that one status write tells of all of them.
	arrival = 2 * time.Second
)

// surge is how many placeholders beyond the number asked for may exist while some vreplicas leave their adapters: ten, or a
// twentieth of many, so that there are not many batches, for each of which all placeholders are read anew. A change of the
// PriorityClass has one.
func surge(leaving int) int { return min(leaving, max(10, leaving/20), burst) }

// isStale says whether another placeholder is to take the place of one that is bound: it is leaving, or it has another
// PriorityClass than its VPod.
func (o observation) isStale(pod *corev1.Pod) bool {
	return o.isLeaving(pod) || otherPriority(o.vpod, pod)
}

// spare is how many more than asked for may exist while stale ones are replaced. What a VPod that shrinks has too many goes
// first, the spare ones included.
func (o observation) spare(stale []*corev1.Pod) int {
	switch leaving := len(filter(stale, o.isLeaving)); {
	case o.shrinks || desired(o.vpod) == 0:
		return 0
	case leaving > 0:
		return surge(leaving)
	}
	return min(len(stale), 1)
}

// replace has others take the place of stale placeholders: some more are created, and as many stale ones go as others have
// arrived. So no more exist than asked for and spare, and no fewer serve. It returns what goes and how many are missing.
//
// Where that is no way, some go before others are placed: see sacrifice.
//
// A spare one of a high priority would have others give way. That is what a change of the PriorityClass asks for, but nobody
// is to give way to what only moves: there are no more than find room.
func (o observation) replace(alive, stale []*corev1.Pod, spare int) (p plan, missing int) {
	fresh := without(alive, stale)
	pending := filter(fresh, func(pod *corev1.Pod) bool { return !o.hasArrived(pod) })
	excess := len(alive) - desired(o.vpod)
	switch n := excess - len(pending); {
	case n > 0 && o.isArriving(pending):
		return plan{}, 0
	case n > 0:
		return o.release(alive, stale, n), 0
	case len(pending) > 0 && !o.isStuck(pending):
		return plan{}, 0
	case len(pending) > 0:
		return o.sacrifice(alive, stale), 0
	}
	if p = o.sacrificeForQuota(alive, stale); !p.isEmpty() {
		return p, 0
	}
	if slices.ContainsFunc(stale, o.isLeaving) {
		if missing = o.vacancies(spare); missing > 0 {
			return plan{}, missing
		}
		if p = o.evacuate(alive, stale); !p.isEmpty() {
			return p, 0
		}
	}
	if outdated := o.outdated(stale); len(outdated) > 0 && !o.isInVain(outdated) {
		return plan{}, 1
	}
	return plan{}, 0
}

// hasArrived says whether a placeholder can serve in place of another: its adapter is ready, or has had time to be. An adapter
// may become ready only once there is something for it to serve.
func (o observation) hasArrived(pod *corev1.Pod) bool {
	node := o.nodes[pod.Spec.NodeName]
	return isAdmitted(pod) && (node == nil || adapter.IsNodeReady(node) || o.age(pod) >= patience)
}

// outdated are the stale ones that have another PriorityClass and are not leaving besides.
func (o observation) outdated(stale []*corev1.Pod) []*corev1.Pod {
	return filter(stale, func(pod *corev1.Pod) bool { return !o.isLeaving(pod) })
}

// isInVain says whether one more would find no room, nor any that one with another PriorityClass could leave to it. Whether
// others would have to give way to it only the scheduler can tell, which is asked now and then.
func (o observation) isInVain(outdated []*corev1.Pod) bool {
	return o.lacksRoom() && !slices.ContainsFunc(outdated, o.leavesRoom) && o.now.Sub(o.tried) < patience
}

// triedInVain is when one more than asked for was last seen to find no room.
func (o observation) triedInVain(before time.Time) time.Time {
	if pending := o.pending(); len(pending) > 0 && o.lacksRoom() && o.isStuck(pending) {
		return o.now
	}
	return before
}

// lacksRoom says whether there is no room for one more by the numbers.
func (o observation) lacksRoom() bool { return o.census != nil && o.room().eligible == 0 }

// lacksRoomSince is since when there has been no room for one more, while some are stale; zero: there is, or none are.
func (o observation) lacksRoomSince(before time.Time) time.Time {
	switch {
	case !slices.ContainsFunc(o.alive(), o.isStale) || !o.lacksRoom():
		return time.Time{}
	case before.IsZero():
		return o.now
	}
	return before
}

// leavesRoom says whether the room of a placeholder can be used once it is gone: its adapter takes vreplicas. What is on an
// adapter that is gone serves nobody.
func (o observation) leavesRoom(pod *corev1.Pod) bool {
	node := o.nodes[pod.Spec.NodeName]
	return node == nil || isOpen(node)
}

// release picks up to n of the stale placeholders, for which others are placed: those that are leaving, unless the API
// server just refused to evict them, or else one that has another PriorityClass.
func (o observation) release(alive, stale []*corev1.Pod, n int) plan {
	leaving := o.departures(stale)
	if len(leaving) > 0 && !o.eviction.holds(o.now) {
		return plan{evict: leaving[:min(n, len(leaving))]}
	}
	return o.dismiss(alive, stale)
}

// dismiss picks one that is outdated.
func (o observation) dismiss(alive, stale []*corev1.Pod) plan {
	outdated := o.outdated(stale)
	if len(outdated) == 0 {
		return plan{}
	}
	return plan{remove: []*corev1.Pod{o.leastMissed(alive, outdated)}}
}

// sacrifice picks what goes before others are placed, because those find no room while it is there: the room of one that has
// another PriorityClass is what they need, and all that leave one adapter give back what the adapter limit allows. Should
// another VPod get that room, no more is given up.
func (o observation) sacrifice(alive, stale []*corev1.Pod) plan {
	if o.census != nil && o.room().isLimit(o.vpod) {
		// Also where some of them have gone already, and the rest was not let go at once.
		if p := o.evacuate(alive, stale); !p.isEmpty() {
			return p
		}
	}
	if useful := filter(stale, o.leavesRoom); len(filter(alive, isAdmitted)) >= o.held && len(useful) > 0 {
		return o.dismiss(alive, useful)
	}
	if slices.ContainsFunc(stale, o.isLeaving) {
		return plan{}
	}
	// Nothing can be done for it: one more than asked for would wait for ever.
	surplus := max(0, len(alive)-desired(o.vpod))
	waiting := filter(without(alive, stale), isWaiting)
	return plan{remove: o.victims(waiting, min(surplus, len(waiting)))}
}

// sacrificeForQuota does the same where a ResourceQuota leaves no room for one more than there are, as the API server said
// just now: what it said before may have changed.
func (o observation) sacrificeForQuota(alive, stale []*corev1.Pod) plan {
	if !o.refusal.holds(o.now) || !o.refusal.quota || len(filter(alive, isAdmitted)) < o.held {
		return plan{}
	}
	if p := o.transfer(stale); !p.isEmpty() {
		return p
	}
	if p := o.evacuate(alive, stale); !p.isEmpty() {
		return p
	}
	return o.dismiss(alive, stale)
}

// hold is how many vreplicas are placed, or were before while some were being replaced, as far as they are asked for.
func (o observation) hold(before int) int {
	alive := o.alive()
	if !slices.ContainsFunc(alive, o.isStale) {
		return 0
	}
	return min(max(before, len(filter(alive, isAdmitted))), desired(o.vpod))
}

// isShrinking says whether fewer are asked for than were when the status was written last, or before that, and too many are
// left.
func (o observation) isShrinking(before bool) bool {
	last := o.vpod.Status.DesiredReplicas
	return len(o.alive()) > desired(o.vpod) && (before || last != nil && int(*last) > desired(o.vpod))
}

// isArriving says whether some of the placeholders that are not admitted yet may be, in a moment.
func (o observation) isArriving(pending []*corev1.Pod) bool {
	return slices.ContainsFunc(pending, func(pod *corev1.Pod) bool { return !isRefused(pod) && o.age(pod) < arrival })
}

// isStuck says whether placeholders that wait will find no room by themselves. What the scheduler said may be from before
// room was made: where there is room by the numbers, it gets time to see it. One for which others give way, if the API server
// was asked and not the cache, finds some.
func (o observation) isStuck(waiting []*corev1.Pod) bool {
	isNominated := func(pod *corev1.Pod) bool { return pod.Status.NominatedNodeName != "" }
	return areRefused(waiting) && !slices.ContainsFunc(waiting, isNominated) && o.census != nil && (o.room().eligible == 0 || o.age(youngest(waiting)) >= patience)
}

func areRefused(pods []*corev1.Pod) bool {
	return !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return !isRefused(pod) })
}

func youngest(pods []*corev1.Pod) *corev1.Pod { return slices.MaxFunc(pods, compareBirths) }

func compareBirths(a, b *corev1.Pod) int {
	return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
}
