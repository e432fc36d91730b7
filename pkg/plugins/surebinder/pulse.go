package surebinder

import (
	"context"
	"sync"
	"time"
)

const (
	// beat is how often a process shows itself that it runs.
	beat = 200 * time.Millisecond
	// longPause is a pause in which another replica may have taken over: shorter than any sensible lease.
	longPause = 1500 * time.Millisecond
	// recovery is how long after one nothing is bound: time enough to learn whether this replica leads still, and to
	// read what happened meanwhile.
	recovery = 3 * time.Second
)

// pulse notices that the process stood still: its machine was paused, its container frozen, its CPU taken. A leader that
// goes on after that decides by a stale state until it learns that another leads. Requests that were under way when it
// stopped still go out; nothing within the process can hold those back.
type pulse struct {
	now func() time.Time

	mu sync.Mutex
	// last is the last time that the process is known to have run, resumed when it last did after a long pause.
	last, resumed time.Time
}

func newPulse(now func() time.Time) *pulse { return &pulse{now: now, last: now()} }

// run keeps the pulse until ctx ends.
func (p *pulse) run(ctx context.Context) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.recovering()
		}
	}
}

// recovering says whether the process stood still a short while ago.
func (p *pulse) recovering() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.last) > longPause {
		p.resumed = now
	}
	p.last = now
	return !p.resumed.IsZero() && now.Sub(p.resumed) < recovery
}
