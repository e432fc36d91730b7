package pool

import (
	"fmt"
	"time"

	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// drain looks at how the adapters beyond the target are emptied, and gives up where they are not.
func (v view) drain(d decision, m memory, now time.Time) (decision, memory) {
	if d.target >= v.replicas {
		m.drain, m.began = progress{}, time.Time{}
		return d, m
	}
	if v.target == nil || *v.target >= v.replicas {
		m.began = now.Truncate(time.Second)
	}
	held := v.heldFrom(d.target)
	if p := m.drain; p.target != d.target || p.replicas != v.replicas || held < p.held {
		m.drain = progress{target: d.target, replicas: v.replicas, held: held, since: now}
	}
	switch lacking := v.lackingFor(lackFor, m.began, now); {
	case lacking > 0:
		m.blocked = fmt.Sprintf("%s for room though the numbers say that there is enough",
			wording.Count(lacking, "vreplica waits", "vreplicas wait"))
	case held > 0 && now.Sub(m.drain.since) >= v.patience:
		m.blocked = fmt.Sprintf("%s on %s for %s", wording.Count(held, "vreplica has stayed", "vreplicas have stayed"),
			wording.List(v.occupied(d.target), maxNamed), v.patience)
	default:
		return d, m
	}
	d.target, d.gaveUp = v.replicas, true
	m.pause = m.pause.next(v.wanted(), v.patience, now)
	m.window = m.window.keep(d.target, v.wanted(), now)
	m.drain, m.began = progress{}, time.Time{}
	return d, m
}

// lackingFor is how many vreplicas have had no place for so long since a drain began. What waits since before does not wait
// for the adapters that are drained.
func (v view) lackingFor(d time.Duration, began, now time.Time) int {
	n := 0
	for _, since := range v.lacking {
		if !since.Before(began) && now.Sub(since) >= d {
			n++
		}
	}
	return n
}

// lag follows l.
func (v view) lag(l lag, now time.Time) lag {
	is := lag{replicas: v.replicas, missing: len(v.missing), excess: len(v.excess), since: now}
	if is.missing == l.missing && is.excess == l.excess && is.replicas == l.replicas && !l.since.IsZero() {
		return l
	}
	return is
}

// isStuck says whether the StatefulSet has not done what it was asked for, for too long.
func (l lag) isStuck(now time.Time) bool {
	return l.missing+l.excess > 0 && now.Sub(l.since) >= stuckAfter
}

// wake is when time alone may change what is decided or said.
func (v view) wake(d decision, m memory, now time.Time) time.Duration {
	waits := []time.Duration{v.again, m.refusal.left(now)}
	if lowest := v.within(m.window.highest(v.delay, now)); d.target > v.wanted() {
		waits = append(waits, m.window.falls(v.delay, now), m.pause.left(now), m.plan.left(d.target, lowest, now))
	}
	if d.target < v.replicas {
		waits = append(waits, v.patience-now.Sub(m.drain.since))
		for _, since := range v.lacking {
			waits = append(waits, lackFor-now.Sub(since))
		}
	}
	if m.lag.missing+m.lag.excess > 0 {
		waits = append(waits, stuckAfter-now.Sub(m.lag.since))
	}
	return retry.Soonest(waits...)
}
