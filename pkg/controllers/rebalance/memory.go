package rebalance

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

const (
	// interval is how long after one look at a pool the next one may follow, at least; so no more than one vreplica moves in
	// it. A look at a large pool takes its time: then the next one follows after thrift times as long, at most longestPause.
	interval     = time.Second
	thrift       = 10
	longestPause = 10 * time.Second
	// patience is how long a move may take. After that its vreplica stays where it is.
	patience = 30 * time.Second
	// forbearance is how long what somebody else does in a pool, or fails to do, holds up all moves in it.
	forbearance = 5 * time.Minute
	// firstBackoff is how long a VPod is left alone after a move that was of no use; each next time it is twice as long, up
	// to lastBackoff.
	firstBackoff = time.Minute
	lastBackoff  = time.Hour
	// defaultRate is how many vreplicas are moved in a minute in a pool that does not say.
	defaultRate = 6
)

// pause is how long to wait for the next look after one that took so long: where much is going on in a pool, each look finds
// something else, and nothing better.
func pause(took time.Duration) time.Duration { return min(longestPause, max(interval, thrift*took)) }

// memory is what is remembered of a pool from one look to the next. It is replaced, never changed.
type memory struct {
	// begun is when the last move was begun. Before the first one it is when the pool was first looked at, so that no
	// restart of the controller grants a move beyond the rate.
	begun time.Time
	// move is the one under way; nil: there is none, or another controller began it.
	move *move
	// unsettled is since when something of a vpod is about to change, and restless since when there is no look at which none
	// has become unsettled within the forbearance.
	unsettled map[placement.VPod]time.Time
	restless  time.Time
	// turns are those of VPods that had one.
	turns map[types.UID]turn
}

// move is one vreplica on its way.
type move struct {
	placement.Improvement
	pool *v1alpha1.AdapterPool
	vpod *v1alpha1.VPod
	// pod is the placeholder as it was before it was marked.
	pod   *corev1.Pod
	begun time.Time
}

// turn is when a VPod had its last move, and how that went.
type turn struct {
	begun time.Time
	// generation is that of the VPod: after a change of its spec, what was of no use may be.
	generation int64
	// failures is how many moves in a row were of no use, and until is when to try again.
	failures int
	until    time.Time
}

// failed is the turn after a move that was of no use.
func (t turn) failed(generation int64, now time.Time) turn {
	backoff := firstBackoff
	for range t.failures {
		backoff = min(2*backoff, lastBackoff)
	}
	t.failures++
	t.generation, t.until = generation, now.Add(backoff)
	return t
}

// wait is how long a VPod is left alone; 0 is not at all. A clock that is set back makes none wait longer than the longest.
func (t turn) wait(generation int64, now time.Time) time.Duration {
	if t.failures == 0 || t.generation != generation {
		return 0
	}
	return min(lastBackoff, max(0, t.until.Sub(now)))
}

// left is how long something that began then is borne with. A clock that is set back makes it no longer.
func left(since, now time.Time) time.Duration {
	return min(forbearance, max(0, since.Add(forbearance).Sub(now)))
}

// seen is the memory after a look: what is not there any more is forgotten.
func (m memory) seen(v view, now time.Time) memory {
	next := memory{
		begun: later(m.begun, now), move: m.move,
		unsettled: map[placement.VPod]time.Time{}, turns: map[types.UID]turn{},
	}
	for vpod := range v.unsettled() {
		next.unsettled[vpod] = now
		if since, known := m.unsettled[vpod]; known {
			next.unsettled[vpod] = since
		}
		if left(next.unsettled[vpod], now) > 0 {
			next.restless = later(m.restless, now)
		}
	}
	for _, vpod := range v.vpods {
		if turn, had := m.turns[vpod.UID]; had {
			next.turns[vpod.UID] = turn
		}
	}
	return next
}

// with is the memory with another turn of a VPod.
func (m memory) with(vpod *v1alpha1.VPod, t turn) memory {
	turns := make(map[types.UID]turn, len(m.turns)+1)
	for uid, other := range m.turns {
		turns[uid] = other
	}
	turns[vpod.UID] = t
	m.turns = turns
	return m
}

// budget is how long to wait until the rate allows for one more move: a bucket that holds one token. A change of the rate
// is in force at once.
func (m memory) budget(pool *v1alpha1.AdapterPool, now time.Time) time.Duration {
	rate := int32(defaultRate)
	if r := pool.Spec.Descheduling.Rebalance.EvictionsPerMinute; r != nil && *r > 0 {
		rate = *r
	}
	every := time.Minute / time.Duration(rate)
	return min(every, max(0, m.begun.Add(every).Sub(now)))
}
