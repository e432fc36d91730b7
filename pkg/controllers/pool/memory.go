package pool

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// memory is what is remembered of how a pool is scaled. What counts is stored in the cluster. Without its memory, a
// controller that has just started waits for the delay before it has a pool shrink, and for its patience before it gives up
// a drain. The zero memory knows nothing.
type memory struct {
	window window
	// known: the StatefulSet set was seen with so many replicas, or was given them.
	known bool
	set   types.UID
	seen  int32
	// hand is what somebody else did and is not put back yet.
	hand  hand
	drain progress
	pause pause
	plan  plan
	lag   lag
	// began is when the adapters that are drained began to be, in whole seconds; zero if none are, or nobody knows.
	began time.Time
	// refusal is what the API server answered when it was last asked for another number of replicas.
	refusal refusal
	// blocked is why the pool did not shrink as far as it should have, in words; "" if it did.
	blocked string
}

// progress is how far a drain has come.
type progress struct {
	target, replicas int32
	// held is the least that the adapters to be removed held, and since when.
	held  int64
	since time.Time
}

// pause is how long no further drain is tried after one without progress.
type pause struct {
	// wanted is the number of adapters for which it was tried. With another one it is tried at once.
	wanted int32
	length time.Duration
	since  time.Time
}

// next is the pause after one more drain without progress.
func (p pause) next(wanted int32, patience time.Duration, now time.Time) pause {
	return pause{wanted: wanted, length: min(max(2*p.length, pauseFirst*patience), pauseMost*patience), since: now}
}

// left is how much of the pause is left.
func (p pause) left(now time.Time) time.Duration { return max(0, p.length-now.Sub(p.since)) }

// plan is that a pool held at target could not shrink to lowest.
type plan struct {
	target, lowest int32
	at             time.Time
}

// left is how long it is taken to be true.
func (p plan) left(target, lowest int32, now time.Time) time.Duration {
	if p.target != target || p.lowest != lowest || p.at.IsZero() {
		return 0
	}
	return max(0, planAgain-now.Sub(p.at))
}

// lag is how the pods of a StatefulSet differ from what it was asked for, and since when.
type lag struct {
	replicas        int32
	missing, excess int
	since           time.Time
}

// memories hold the memory of each pool. A pool is reconciled by one worker, and all pools by the same.
type memories struct {
	byName map[string]remembered
}

type remembered struct {
	uid types.UID
	memory
}

func newMemories() *memories { return &memories{byName: map[string]remembered{}} }

// of returns the memory of a pool. Another pool that had its name is forgotten.
func (m *memories) of(pool *v1alpha1.AdapterPool) memory {
	if known := m.byName[pool.Name]; known.uid == pool.UID {
		return known.memory
	}
	return memory{}
}

func (m *memories) keep(pool *v1alpha1.AdapterPool, is memory) {
	m.byName[pool.Name] = remembered{uid: pool.UID, memory: is}
}

// scaled remembers a number of replicas that was written.
func (m *memories) scaled(pool *v1alpha1.AdapterPool, replicas int32) {
	is := m.of(pool)
	is.known, is.seen, is.hand, is.refusal = true, replicas, untouched, refusal{}
	m.keep(pool, is)
}

func (m *memories) forget(name string) { delete(m.byName, name) }
