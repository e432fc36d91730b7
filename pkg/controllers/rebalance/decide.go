package rebalance

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// plan is what to do.
type plan struct {
	// unmark are the placeholders whose mark is taken off.
	unmark []*corev1.Pod
	// outcomes are told.
	outcomes []outcome
	// begin is the next move; nil: there is none now.
	begin *move
	// after is when to look again, even if nothing happens until then. 0: not.
	after time.Duration
}

// decide is everything that this controller knows about its job. It depends on nothing but its arguments, and returns what
// to remember.
func decide(s state, m memory, now time.Time) (plan, memory) {
	if !isOn(s.pool) {
		return plan{unmark: s.marked()}, memory{begun: later(m.begun, now)}
	}
	v := s.count()
	m = m.seen(v, now)
	p, m := v.conclude(m, now)
	if wait, held := v.heldUp(m, now); held {
		p.after = retry.Soonest(p.after, wait)
		return p, m
	}
	if wait := m.budget(s.pool, now); wait > 0 {
		p.after = retry.Soonest(p.after, wait)
		return p, m
	}
	next, wait := v.next(m, now)
	p.begin, p.after = next, retry.Soonest(p.after, wait)
	return p, m
}

// later is the time, or now if there is none.
func later(t, now time.Time) time.Time {
	if t.IsZero() {
		return now
	}
	return t
}

// heldUp says whether nothing may be moved now, and when to look again if no event comes before.
//
// What is unsettled in the pool holds up the moves of all VPods, but not for ever: a VPod whose scheduler does not exist,
// whose quota is used up, or whose vreplica somebody else wants moved in vain, is no reason to leave all others uneven. Nor
// are many that change one after the other, each for a moment.
func (v view) heldUp(m memory, now time.Time) (wait time.Duration, held bool) {
	if m.move != nil || v.isDraining() {
		return 0, true
	}
	if m.restless.IsZero() || left(m.restless, now) == 0 {
		return 0, false
	}
	wait = left(m.restless, now)
	for _, since := range m.unsettled {
		wait = retry.Soonest(wait, left(since, now))
	}
	return wait, true
}

// next is the move to make: that of the VPod which had its last one the longest ago. wait is when a VPod that is left alone
// for now may have one.
func (v view) next(m memory, now time.Time) (next *move, wait time.Duration) {
	vpods := slices.Clone(v.vpods)
	slices.SortFunc(vpods, func(a, b *v1alpha1.VPod) int {
		return cmp.Or(
			m.turns[a.UID].begun.Compare(m.turns[b.UID].begun),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
		)
	})
	for _, vpod := range vpods {
		if left := m.turns[vpod.UID].wait(vpod.Generation, now); left > 0 {
			wait = retry.Soonest(wait, left)
			continue
		}
		if _, isUnsettled := m.unsettled[idOf(vpod)]; isUnsettled || next != nil {
			continue
		}
		next = v.better(vpod)
	}
	if next != nil {
		next.begun = now
	}
	return next, wait
}

// better is the move that the dry run suggests for a VPod; nil: it suggests none, or one that should not be made now.
//
// A vreplica on an adapter that is not ready may move before long, and changes then what is even. So the VPods that have
// some there are left alone until it is ready or lost, but only they: one adapter that never becomes ready is no reason to
// leave all others uneven. For the same reason nothing is moved to one that is not ready, where the scheduler would put it,
// nor to one that the pool is not going to keep. A VPod that is placed by somebody's own profile is left alone: by what rules,
// nobody here can tell.
func (v view) better(vpod *v1alpha1.VPod) *move {
	rules, known := adapter.RulesOf(vpod)
	if !known || vpod.DeletionTimestamp != nil || !v.isSettled(vpod) || !v.isAllReady(vpod) {
		return nil
	}
	improvement, found := v.adapters.Rebalance(v.request(vpod), rules)
	if !found {
		return nil
	}
	to, _ := v.adapters.Slot(improvement.To)
	if !v.ready[to] || !v.isKept(v.adapters.At(to)) {
		return nil
	}
	pod := highest(v.own[vpod.UID], improvement.From)
	if pod == nil { // Others have its label, and are not its own.
		return nil
	}
	return &move{Improvement: improvement, pool: v.pool, vpod: vpod, pod: pod}
}

// isAllReady says whether all adapters that serve a VPod are ready.
func (v view) isAllReady(vpod *v1alpha1.VPod) bool {
	return !slices.ContainsFunc(v.own[vpod.UID], func(pod *corev1.Pod) bool {
		slot, known := v.adapters.Slot(pod.Spec.NodeName)
		return !known || !v.ready[slot]
	})
}

// isKept is false for an adapter that is to be removed once fewer have been enough for long.
func (v view) isKept(a placement.Adapter) bool {
	if !adapter.IsAutoscaled(v.pool) || v.pool.Status.WantedAdapters == nil || v.set == nil {
		return true
	}
	first, _ := adapter.Ordinals(v.set)
	return a.Ordinal < first+int(*v.pool.Status.WantedAdapters)
}

// highest is the placeholder on an adapter with the highest index, and of those the one with the greatest name: the one that
// would go first if the VPod shrank.
func highest(pods []*corev1.Pod, node string) *corev1.Pod {
	var found *corev1.Pod
	for _, pod := range pods {
		if pod.Spec.NodeName == node && (found == nil || compareIndices(pod, found) > 0) {
			found = pod
		}
	}
	return found
}

func compareIndices(a, b *corev1.Pod) int {
	_, i, _ := adapter.Parse(a.Name)
	_, j, _ := adapter.Parse(b.Name)
	return cmp.Or(cmp.Compare(i, j), cmp.Compare(a.Name, b.Name))
}
