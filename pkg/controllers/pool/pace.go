package pool

import (
	"sync"
	"time"
)

// interval is how long after one look at a pool the next one may follow. A burst of placements changes the status of its
// pool hundreds of times, and each look counts all of its placeholders.
const interval = time.Second

// due says how long to wait for the next look after the last one. The zero time is never. A clock that is set back makes
// nobody wait longer.
func due(last, now time.Time) time.Duration {
	return min(interval, max(0, last.Add(interval).Sub(now)))
}

// pace remembers when each pool was looked at last. A restart forgets it, which costs one more look.
type pace struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func newPace() *pace { return &pace{last: map[string]time.Time{}} }

// wait says how long a pool has to wait. If it need not, this is its next look.
func (p *pace) wait(pool string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := due(p.last[pool], now)
	if wait == 0 {
		p.last[pool] = now
	}
	return wait
}

// looked says that a pool is looked at now, whether it was due or not.
func (p *pace) looked(pool string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[pool] = now
}

func (p *pace) forget(pool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, pool)
}
