package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// market is a scene with VPods whose number changes, a scheduler, somebody who moves vreplicas off adapters that are
// drained, and a controller that is killed.
type market struct {
	*scene
	rng     *rand.Rand
	demand  int64
	lowered time.Time
	history []string
}

const room = 10

func newMarket(rng *rand.Rand) *market {
	m := &market{scene: pooled(int32(rng.IntN(6))), rng: rng}
	m.size.Bounds = placement.Bounds{Min: rng.IntN(3), Max: 3 + rng.IntN(6)}
	m.delay = time.Duration(rng.IntN(60)) * time.Second
	m.view.shrink = m.fits
	return m
}

// fits says how far the pool can shrink, by the numbers alone.
func (m *market) fits(lowest int32) (int32, string) {
	for end := lowest; end < m.replicas; end++ {
		if m.heldFrom(0) <= int64(end)*room {
			return end, ""
		}
	}
	return max(lowest, m.replicas), "no room"
}

func (m *market) held() int64 { return m.heldFrom(0) }

// schedule places vreplicas where they fit, on random adapters that are open, and removes those that are not wanted.
func (m *market) schedule() {
	for i := range m.rng.Perm(int(m.replicas)) {
		for !m.adapters[i].closed && m.adapters[i].held < room && m.held() < m.demand && m.rng.IntN(10) > 0 {
			m.adapters[i].held++
		}
	}
	for m.held() > m.demand {
		if i := m.rng.IntN(int(m.replicas)); m.adapters[i].held > 0 {
			m.adapters[i].held--
		}
	}
	m.waiting = m.demand - m.held()
	for int64(len(m.lacking)) < m.waiting {
		m.lacking = append(m.lacking, m.at)
	}
	m.lacking = m.lacking[int64(len(m.lacking))-m.waiting:]
}

// move takes some vreplicas off adapters that are drained.
func (m *market) move() {
	for i := *m.target; i < m.replicas; i++ {
		for to := range *m.target {
			for m.adapters[i].held > 0 && m.adapters[to].held < room && m.rng.IntN(4) > 0 {
				m.adapters[i].held--
				m.adapters[to].held++
			}
		}
	}
}

// decideOnce checks what is decided, and carries it out.
func (m *market) decideOnce() error {
	was, before, held := m.target, m.replicas, m.held()
	m.want(m.demand)
	m.look()
	m.history = append(m.history, fmt.Sprintf("%s: %d wanted, %d placed, waiting %d: %s", m.at.Format("04:05"), m.demand, held, m.waiting, m.scene))
	bounds := m.size.Bounds
	switch target := *m.target; {
	case m.held() < held:
		return fmt.Errorf("adapters were removed that held %d vreplicas", held-m.held())
	case m.replicas < before && m.replicas < target:
		return fmt.Errorf("adapters are removed that are to stay")
	case target < int32(bounds.Min):
		return fmt.Errorf("the target is below %d", bounds.Min)
	case target > int32(bounds.Max) && held <= int64(bounds.Max)*room && target > before:
		return fmt.Errorf("the target is above %d", bounds.Max)
	case was != nil && target < *was && m.last.hand == untouched:
		since, isExcess := m.at.Sub(m.lowered), *was > int32(bounds.Max)
		if !m.lowered.IsZero() && since < m.delay && !isExcess {
			return fmt.Errorf("it goes down %s after the last time, want %s", since, m.delay)
		}
		m.lowered = m.at
	}
	return nil
}

func (m *market) step(demand bool) error {
	switch m.rng.IntN(12) {
	case 0, 1:
		if demand {
			m.demand = int64(m.rng.IntN(80))
		}
	case 2:
		m.restart()
	case 3:
		if demand && m.target != nil && m.rng.IntN(4) == 0 { // by hand, as far as the adapters are empty
			to := int32(m.rng.IntN(9))
			for to < m.replicas && m.heldFrom(to) > 0 {
				to++
			}
			m.have(to)
		}
	}
	m.schedule()
	if m.target != nil {
		m.move()
	}
	m.at = m.at.Add(time.Duration(1+m.rng.IntN(20)) * time.Second)
	return m.decideOnce()
}

// Whatever is wanted, and whenever the controller is killed: no adapter is removed that holds anything, the number goes down
// at most once within the delay, it stays within its bounds, and in the end it is the one that is wanted.
func TestScalingProperties(t *testing.T) {
	for seed := range uint64(2000) {
		m := newMarket(rand.New(rand.NewPCG(seed, 7)))
		fail := func(err error) {
			for _, line := range m.history[max(0, len(m.history)-12):] {
				t.Log(line)
			}
			t.Fatalf("seed %d, delay %s, bounds %+v: %v", seed, m.delay, m.size.Bounds, err)
		}
		for range 60 {
			if err := m.step(true); err != nil {
				fail(err)
			}
		}
		for range 3 { // The pauses after drains that vreplicas without room ended may be long.
			m.at = m.at.Add(2 * time.Hour)
			for range 40 {
				if err := m.step(false); err != nil {
					fail(err)
				}
			}
		}
		// More than maxReplicas stay if they hold more.
		want := max(m.wanted(), int32((m.held()+room-1)/room))
		if m.replicas != want || *m.target != want {
			fail(fmt.Errorf("in the end there are %d, want %d", m.replicas, want))
		}
	}
}
