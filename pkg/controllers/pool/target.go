package pool

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

const (
	// pauseFirst and pauseMost are the first and the longest pause after a drain that made no progress, in multiples of how
	// long that was waited for: of 2 minutes, they are 4 minutes and an hour.
	pauseFirst, pauseMost = 2, 30
	// planAgain is how long a plan that was found impossible is not made again. In a large pool it costs time.
	planAgain = 10 * time.Second
	// lackFor is how long a vreplica may wait while adapters are drained, or although there is room. What is moved waits for a
	// moment, too, where its vpod may not use another adapter before it has left the old one.
	lackFor = 10 * time.Second
	// stuckAfter is how long a StatefulSet may take to create pods, or to begin to delete them.
	stuckAfter = 30 * time.Second
)

// view is what the number of adapters of a pool is decided on.
type view struct {
	delay, patience time.Duration
	// replicas is what the StatefulSet is asked for.
	replicas int32
	// set is the StatefulSet that is asked.
	set types.UID
	// target and reason are what the status says: the number that the pool is held at, nil if none was decided yet, and the
	// reason of the condition Scaled.
	target *int32
	reason string
	size   placement.Size
	// waiting is how many vreplicas wait for room that more adapters could give them.
	waiting int64
	// lacking are those for which the scheduler has no place, and which are not about to take that of others, by since when.
	lacking []time.Time
	// again is after how long something else may count, even if nothing happens until then; 0 is never.
	again time.Duration
	// adapters are those of the StatefulSet, by ordinal.
	adapters []occupancy
	// shrink says how far the pool can be drained from above: to the number of adapters that is returned, not below lowest.
	// If that is more than lowest, why tells the reason.
	shrink func(lowest int32) (end int32, why string)
	// missing are the pods that the StatefulSet has not created, and excess those that it has not begun to delete.
	missing, excess []string
	// holdup is what of that is known: a pod that is not ready, in words.
	holdup string
}

// occupancy is what keeps an adapter from being removed.
type occupancy struct {
	// pod is its name.
	pod string
	// held is how many placeholders are on it.
	held int64
	// closed: it takes no more.
	closed bool
	// absent is why it cannot be used yet, in words; "" if it can.
	absent string
}

// hand is what somebody else did to the number of replicas.
type hand int

const (
	untouched hand = iota
	lowered
	raised
	// replaced: the StatefulSet was deleted, and created again with another number, which nobody may have asked for.
	replaced
)

// decision is what to do about the number of adapters.
type decision struct {
	// target is what the pool is held at, and replicas what the StatefulSet has to be asked for.
	target, replicas int32
	hand             hand
	// gaveUp: what was drained is taken back, because it made no progress.
	gaveUp bool
	// after is when to look again, even if nothing happens until then. 0: not.
	after time.Duration
}

// decide is everything that this controller knows about the number of adapters. It depends on nothing but its arguments.
func decide(v view, m memory, now time.Time) (decision, memory) {
	d, m := v.begin(m, now)
	switch wanted, lowest := v.wanted(), v.within(m.window.highest(v.delay, now)); {
	case wanted >= d.target:
		d.target, m.blocked = wanted, ""
	case lowest < d.target:
		d, m = v.lower(d, m, lowest, now)
	}
	d, m = v.drain(d, m, now)
	d.replicas = v.replicasFor(d.target)
	if d.replicas == d.target && d.replicas < v.replicas {
		m.pause = pause{} // A drain came to its end.
	}
	if d.replicas == v.replicas || d.replicas != m.refusal.replicas {
		m.refusal = refusal{}
	}
	m.lag = v.lag(m.lag, now)
	d.after = v.wake(d, m, now)
	m.window = m.window.trim(v.delay, now)
	m.known, m.set, m.seen, m.hand = true, v.set, v.replicas, untouched
	if d.replicas > v.replicas {
		m.hand = d.hand
	}
	return d, m
}

// begin is the decision to leave all as it is, if that is what somebody else left, and the memory with what is wanted now.
func (v view) begin(m memory, now time.Time) (decision, memory) {
	d := v.standing()
	if d.hand = v.touched(m); d.hand == raised {
		d.target = v.replicas
	}
	d.target = min(d.target, max(v.replicas, int32(v.size.Bounds.Max))) // What is above it may stay, and is not asked for.
	if !m.known || d.hand == raised {
		m.window = m.window.note(d.target, now)
	}
	m.window = m.window.note(v.wanted(), now)
	if v.waiting > 0 {
		m.window = m.window.note(d.target, now) // The delay begins when nothing waits any more.
	}
	if m.pause != (pause{}) && m.pause.wanted != v.wanted() {
		m.pause, m.blocked = pause{}, ""
	}
	return d, m
}

// standing is the decision to leave all as it is.
func (v view) standing() decision {
	d := decision{target: v.replicas, replicas: v.replicas}
	if v.target != nil {
		d.target = *v.target
	}
	return d
}

// stay is what is decided if nobody knows what the StatefulSet is asked for, because the API server does not say.
func (v view) stay(m memory, err error, now time.Time) (decision, memory) {
	m.refusal = m.refusal.after(v.replicas, err, now)
	d := v.standing()
	d.after = m.refusal.pause
	return d, m
}

// wanted is how many adapters there should be.
func (v view) wanted() int32 { return int32(v.size.Wanted) }

// touched says whether somebody else changed the number of replicas. With a memory it is told from what was seen last, and
// without one from the reason that the status gives: where it does not speak of adapters that are to be added, or removed,
// there were as many as it says.
func (v view) touched(m memory) hand {
	if v.target == nil || v.replicas == *v.target {
		return untouched
	}
	began, less, more := v1alpha1.ReasonDraining, false, m.known && v.replicas > m.seen
	if v.replicas < *v.target {
		began, less, more = v1alpha1.ReasonScalingUp, m.known && v.replicas < m.seen, false
	}
	isUnexplained := !m.known && v.reason != began && v.reason != v1alpha1.ReasonStatefulSetStuck
	switch {
	case isUnexplained && v.reason == v1alpha1.ReasonStatefulSetNotFound, m.known && m.set != v.set:
		return replaced
	case less || isUnexplained && v.replicas < *v.target:
		return lowered
	case more || isUnexplained:
		return raised
	case v.replicas < *v.target:
		return m.hand
	}
	return untouched
}

// within is a number as the bounds allow it.
func (v view) within(n int32) int32 {
	return max(min(n, int32(v.size.Bounds.Max)), min(int32(v.size.Bounds.Min), int32(v.size.Bounds.Max)))
}

// lower lowers the target as far as the vreplicas fit on the adapters that are kept.
func (v view) lower(d decision, m memory, lowest int32, now time.Time) (decision, memory) {
	if m.pause.left(now) > 0 || m.plan.left(d.target, lowest, now) > 0 {
		return d, m
	}
	end, why := v.shrink(lowest)
	m.blocked = why
	if end >= d.target {
		m.plan = plan{target: d.target, lowest: lowest, at: now}
		return d, m
	}
	d.target = end
	// So that the next step down is a whole delay away.
	m.window = m.window.keep(end, v.wanted(), now)
	return d, m
}

// replicasFor is what the StatefulSet is asked for: adapters are added all at once, and removed from above once they are
// empty and take nothing more.
func (v view) replicasFor(target int32) int32 {
	if target >= v.replicas {
		return target
	}
	n := v.replicas
	for n > target && v.adapters[n-1].held == 0 && v.adapters[n-1].closed {
		n--
	}
	return n
}

// heldFrom is how many placeholders are on the adapters from the n-th on.
func (v view) heldFrom(n int32) int64 {
	var held int64
	for _, a := range v.adapters[n:] {
		held += a.held
	}
	return held
}

// occupied are the names of the adapters from the n-th on that are not empty.
func (v view) occupied(n int32) []string {
	var names []string
	for _, a := range v.adapters[n:] {
		if a.held > 0 {
			names = append(names, a.pod)
		}
	}
	return names
}
