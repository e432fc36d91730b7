package vpod

import "time"

const (
	// paceFirst is how long a second status write waits after the first; each next one waits twice as long, up to paceMost.
	paceFirst = 2 * time.Second
	paceMost  = 8 * time.Second
	// paceMinor is how long a minor change waits after the last write.
	paceMinor = 15 * time.Second
	// paceQuiet without a write makes the next one the first again.
	paceQuiet = 10 * time.Second
)

// pace spreads the status writes of one VPod over time, so that many changes in a row share one: what becomes of twenty
// vreplicas is told in at most 5 writes, the first and the last included, if they are placed within 14 s and ready 15 s
// later, or placed within 22 s and ready at once. The zero pace has not written yet.
type pace struct {
	last time.Time
	// streak is the number of writes in a row, of which none came later than paceQuiet after the one before.
	streak int
}

// wait is how long a change has to wait; 0 is not at all.
func (p pace) wait(change weight, now time.Time) time.Duration {
	var pause time.Duration
	switch {
	case p.streak == 0 || change == urgent:
		return 0
	case change == minor:
		pause = paceMinor
	case !p.isQuiet(now):
		pause = paceFirst
		for range p.streak - 1 {
			pause = min(2*pause, paceMost)
		}
	}
	return max(0, p.last.Add(pause).Sub(now))
}

// wrote is the pace after a write.
func (p pace) wrote(now time.Time) pace {
	if p.isQuiet(now) {
		p.streak = 0
	}
	return pace{last: now, streak: p.streak + 1}
}

func (p pace) isQuiet(now time.Time) bool { return p.streak == 0 || !now.Before(p.last.Add(paceQuiet)) }
