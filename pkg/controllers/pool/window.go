package pool

import (
	"slices"
	"time"
)

// window remembers how many adapters were wanted of late. Its times are those of one process, which a clock that is set
// forward or back does not change. The zero window remembers nothing.
type window struct {
	// peaks are numbers in falling order, and so in the order of time: whatever was wanted before a higher number, or
	// together with it, says nothing any more.
	peaks []peak
}

// peak is a number of adapters, and when it was wanted last.
type peak struct {
	adapters int32
	last     time.Time
}

// note adds what is wanted now, and returns the window with it. What was wanted before was wanted until now.
func (w window) note(adapters int32, now time.Time) window {
	peaks := slices.Clone(w.peaks)
	if n := len(peaks); n > 0 {
		peaks[n-1].last = now
	}
	for len(peaks) > 0 && peaks[len(peaks)-1].adapters <= adapters {
		peaks = peaks[:len(peaks)-1]
	}
	return window{append(peaks, peak{adapters, now})}
}

// keep has a number count as wanted now, and for the delay from now on, beside the one that is wanted.
func (w window) keep(adapters, wanted int32, now time.Time) window {
	return w.note(adapters, now).note(wanted, now)
}

// highest is the most that was wanted within the delay before now, which ends sharp: what was wanted last just so long ago
// does not count any more. It is what was noted last if there is nothing else.
func (w window) highest(delay time.Duration, now time.Time) int32 {
	var highest int32
	for i := len(w.peaks) - 1; i >= 0; i-- {
		if i < len(w.peaks)-1 && now.Sub(w.peaks[i].last) >= delay {
			break
		}
		highest = w.peaks[i].adapters
	}
	return highest
}

// falls is how long it takes until less than highest may be said; 0 is never, unless something else is noted.
func (w window) falls(delay time.Duration, now time.Time) time.Duration {
	for _, p := range w.peaks[:max(0, len(w.peaks)-1)] {
		if age := now.Sub(p.last); age < delay {
			return delay - age
		}
	}
	return 0
}

// trim forgets what is older than the delay.
func (w window) trim(delay time.Duration, now time.Time) window {
	last := len(w.peaks) - 1
	old := 0
	for old < last && now.Sub(w.peaks[old].last) >= delay {
		old++
	}
	return window{w.peaks[max(0, old):]}
}
