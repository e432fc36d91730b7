package placement

import "math"

// Demand is how many vreplicas a vpod wants, and what keeps adapters from helping it.
type Demand struct {
	Replicas int64
	// Limit is the most adapters that the vpod may use; 0 is no limit.
	Limit int
	// AtLimit: it uses as many already. Then Reach is the room that it has, or could have, on those that it uses: more
	// adapters cannot give it more.
	AtLimit bool
	Reach   int64
}

// placeable is how many of the vreplicas any number of adapters could hold.
func (d Demand) placeable(capacity int64) int64 {
	n := max(0, d.Replicas)
	if d.Limit > 0 {
		n = min(n, times(int64(d.Limit), capacity))
	}
	if d.AtLimit {
		n = min(n, max(0, d.Reach))
	}
	return n
}

// Demand is what a vpod demands of the pool, by what its adapters can be counted on for. What it has on those that are lost
// moves, so they are not among those that it uses.
func (p *Pool) Demand(v VPod, replicas int64, limit int, state func(slot int) State) Demand {
	d := Demand{Replicas: replicas, Limit: limit}
	used := 0
	for i, n := range p.spread[v] {
		if s := p.slots[i]; s.live && state(i) != Lost {
			used++
			d.Reach += int64(n)
			if state(i) != Cordoned {
				d.Reach += max(0, s.free)
			}
		}
	}
	d.AtLimit = limit > 0 && used >= limit
	return d
}

// plus and times are the sum and the product of numbers that are not negative, or the greatest number where that is out
// of range.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
