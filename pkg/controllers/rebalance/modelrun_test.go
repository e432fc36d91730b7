package rebalance

import "time"

// run has everybody act for a while; disturb happens in between.
func (m *model) run(d time.Duration, disturb func()) {
	for end := m.now.Add(d); m.now.Before(end) && len(m.wrong) == 0; {
		m.now = m.now.Add(time.Duration(1+m.rng.IntN(1000)) * time.Millisecond)
		if disturb != nil {
			disturb()
		}
		if !m.changed && m.isIdle() {
			m.skip(end, disturb != nil)
		}
		m.others()
		isDue := m.changed || !m.wake.IsZero() && !m.now.Before(m.wake)
		if isDue && m.now.Sub(m.looked) >= interval {
			m.look()
		}
	}
}

// skip lets the time pass in which nothing happens, or some of it.
func (m *model) skip(end time.Time, some bool) {
	if some {
		end = m.now.Add(time.Duration(m.rng.IntN(20)) * time.Second)
	}
	if !m.wake.IsZero() && m.wake.Before(end) {
		end = m.wake
	}
	m.now = m.now.Add(max(0, end.Sub(m.now)))
}

// look is the controller.
func (m *model) look() {
	m.looked, m.changed, m.wake = m.now, false, time.Time{}
	m.lookedAt++
	was := m.memory
	var p plan
	if p, m.memory = decide(*m.state, was, m.now); p.after > 0 {
		m.wake = m.now.Add(p.after)
	}
	for _, pod := range p.unmark {
		m.edit(pod, unmarked)
	}
	m.judgeEnd(was, p)
	if p.begin == nil {
		return
	}
	m.judgeBegin(p.begin)
	m.edit(p.begin.pod, marked)
	t := m.memory.turns[p.begin.vpod.UID]
	t.begun = m.now
	m.memory = m.memory.with(p.begin.vpod, t)
	m.memory.begun, m.memory.move = m.now, p.begin
	m.begun = append(m.begun, p.begin)
	m.before = m.potentialOf(p.begin.vpod)
}

// forget is a restart of the controller, which looks at everything then.
func (m *model) forget() { m.memory, m.changed = memory{}, true }
