package vpod

import "time"

const (
	// paceFirst is how long a second status write waits after the first; each next one waits three times as long, up to
	// paceMost. Trouble is told after the one, and minor changes after the other, whatever was written before.
	paceFirst = 2 * time.Second
	paceMost  = 15 * time.Second
	// paceQuiet without a change makes the next write the first again.
	paceQuiet = 10 * time.Second
)

// pace spreads the status writes of one VPod over time, so that many changes in a row share one: what becomes of twenty
// vreplicas within 38 s is told in at most 5 writes, the first and the last included. The zero pace has not written yet.
type pace struct {
	// last is the last write, and changed the last time that there was something to write.
	last, changed time.Time
	// streak is the number of writes since it was quiet.
	streak int
}

// notice is the pace when there is something to write.
func (p pace) notice(now time.Time) pace {
	if !now.Before(p.changed.Add(paceQuiet)) {
		p.streak = 0
	}
	p.changed = now
	return p
}

// wait is how long a change has to wait; 0 is not at all.
func (p pace) wait(change weight, now time.Time) time.Duration {
	var pause time.Duration
	switch {
	case change == urgent || p.last.IsZero():
		return 0
	case change == trouble:
		pause = paceFirst
	case change == minor:
		pause = paceMost
	case p.streak > 0:
		pause = paceFirst
		for range p.streak - 1 {
			pause = min(3*pause, paceMost)
		}
	}
	return max(0, p.last.Add(pause).Sub(now))
}

// wrote is the pace after a write.
func (p pace) wrote(now time.Time) pace {
	p.last = now
	p.streak++
	return p
}
