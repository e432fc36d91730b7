package pool

import (
	"fmt"
	"time"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// scene is a pool over time, whose adapters have room for 10. Its StatefulSet does as it is told.
type scene struct {
	view
	memory
	last decision
	at   time.Time
	// told are the numbers of replicas that were written.
	told []int32
	// planned counts how often somebody asked how far the pool can be drained, and end is the answer.
	planned int
	end     int32
	why     string
}

const (
	testDelay    = time.Minute
	testPatience = 2 * time.Minute
)

// pooled has so many adapters, of which none is looked at yet.
func pooled(replicas int32) *scene {
	s := &scene{at: now, view: view{delay: testDelay, patience: testPatience}}
	s.size.Bounds = placement.Bounds{Min: 1, Max: 100}
	s.view.shrink = func(lowest int32) (int32, string) {
		s.planned++
		return max(lowest, s.end), s.why
	}
	return s.have(replicas)
}

// have gives the StatefulSet a number of replicas; the adapters that come are empty.
func (s *scene) have(replicas int32) *scene {
	s.replicas = replicas
	for i := int32(len(s.adapters)); i < replicas; i++ {
		s.adapters = append(s.adapters, occupancy{pod: fmt.Sprint("x-", i)})
	}
	s.adapters = s.adapters[:replicas]
	return s
}

// hold has the adapters hold vreplicas.
func (s *scene) hold(held ...int64) *scene {
	for i, n := range held {
		s.adapters[i].held = n
	}
	return s
}

// want has the VPods want so many vreplicas.
func (s *scene) want(vreplicas int64) *scene {
	berths := make([]placement.Berth, s.replicas)
	s.size = placement.SizeOf(berths, []placement.Demand{{Replicas: vreplicas}}, 10, s.size.Bounds)
	return s
}

// decideOnly publishes what is decided, and does not carry it out.
func (s *scene) decideOnly() *scene {
	s.last, s.memory = decide(s.view, s.memory, s.at)
	s.reason = s.scaled(s.last, s.memory, s.at).Reason
	s.target = new(s.last.target)
	return s
}

// lack has vreplicas lack room since so long after now.
func (s *scene) lack(after ...time.Duration) *scene {
	s.lacking = nil
	for _, d := range after {
		s.lacking = append(s.lacking, s.at.Add(d))
	}
	return s
}

// look decides once, and carries it out.
func (s *scene) look() *scene {
	s.decideOnly()
	if s.last.replicas != s.replicas {
		s.told = append(s.told, s.last.replicas)
		s.have(s.last.replicas)
		s.memory.known, s.seen, s.memory.hand = true, s.replicas, untouched
	}
	for i := range s.adapters {
		s.adapters[i].closed = int32(i) >= s.last.target
	}
	return s
}

// pass lets time pass, with a look at its end.
func (s *scene) pass(d time.Duration) *scene {
	s.at = s.at.Add(d)
	return s.look()
}

// restart has another process go on.
func (s *scene) restart() *scene {
	s.memory = memory{}
	return s
}

func (s *scene) change(edit func(*scene)) *scene {
	edit(s)
	return s
}

func (s *scene) String() string {
	c := s.scaled(s.last, s.memory, s.at)
	return fmt.Sprintf("held at %d, %d replicas, told %v, %s: %s", *s.target, s.replicas, s.told, c.Reason, c.Message)
}
