package placement_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// sizing is all that a size depends on.
type sizing struct {
	berths   []placement.Berth
	demands  []placement.Demand
	capacity int64
	bounds   placement.Bounds
}

func (s sizing) size() placement.Size {
	return placement.SizeOf(s.berths, s.demands, s.capacity, s.bounds)
}

// everySizing checks a property on random sizings, each from a seed of its own.
func everySizing(t *testing.T, check func(rng *rand.Rand, s sizing) error) {
	t.Helper()
	everyCluster(t, func(rng *rand.Rand, _ *pool) error {
		s := randomSizing(rng)
		if err := check(rng, s); err != nil {
			return fmt.Errorf("%+v: %w", s, err)
		}
		return nil
	})
}

func randomSizing(rng *rand.Rand) sizing {
	s := sizing{capacity: 1 + rng.Int64N(10), bounds: placement.Bounds{Min: rng.IntN(4), Unit: rng.IntN(5)}}
	s.bounds.Max = s.bounds.Min + rng.IntN(12)
	for i := range rng.IntN(8) {
		s.berths = append(s.berths, placement.Berth{Name: fmt.Sprint(i), Held: rng.Int64N(s.capacity + 2)})
		if oneIn(rng, 3) {
			s.berths[i].State = placement.State(rng.IntN(4))
		}
		if oneIn(rng, 4) {
			s.berths[i].Foreign = rng.Int64N(s.capacity + 2)
		}
	}
	for range rng.IntN(6) {
		d := placement.Demand{Replicas: rng.Int64N(3 * s.capacity)}
		if oneIn(rng, 2) {
			d.Limit, d.AtLimit, d.Reach = 1+rng.IntN(3), oneIn(rng, 2), rng.Int64N(2*s.capacity)
		}
		s.demands = append(s.demands, d)
	}
	return s
}

// wanted is the sum over vpods of min(replicas, maxAdapters * capacity), or what those at their limit can reach.
func (s sizing) wanted() *big.Int {
	sum := new(big.Int)
	for _, d := range s.demands {
		n := big.NewInt(max(0, d.Replicas))
		if limited := new(big.Int).Mul(big.NewInt(int64(d.Limit)), big.NewInt(s.capacity)); d.Limit > 0 && limited.Cmp(n) < 0 {
			n = limited
		}
		if reach := big.NewInt(max(0, d.Reach)); d.AtLimit && reach.Cmp(n) < 0 {
			n = reach
		}
		sum.Add(sum, n)
	}
	return sum
}

// holds is what the first n adapters hold.
func (s sizing) holds(n int) *big.Int {
	sum := new(big.Int)
	for _, b := range s.berths[:min(n, len(s.berths))] {
		room := max(0, s.capacity-b.Foreign)
		switch b.State {
		case placement.Open, placement.Starting:
			sum.Add(sum, big.NewInt(room))
		case placement.Cordoned:
			sum.Add(sum, big.NewInt(min(room, b.Held)))
		}
	}
	further := new(big.Int).Mul(big.NewInt(int64(max(0, n-len(s.berths)))), big.NewInt(s.capacity))
	return sum.Add(sum, further)
}

func (s sizing) suffices(n int) bool { return s.holds(n).Cmp(s.wanted()) >= 0 }

// The oracle tries one number after another.
func TestSameSizeAsOracle(t *testing.T) {
	everySizing(t, func(_ *rand.Rand, s sizing) error {
		needed := 0
		for !s.suffices(needed) {
			needed++
		}
		wanted := s.bounds.Min
		for wanted < s.bounds.Max && !s.suffices(wanted) {
			wanted++
		}
		for wanted < s.bounds.Max && s.bounds.Unit > 0 && wanted%s.bounds.Unit != 0 {
			wanted++
		}
		got := s.size()
		if got.Needed != needed || got.Wanted != wanted || big.NewInt(got.Vreplicas).Cmp(s.wanted()) != 0 {
			return fmt.Errorf("%+v, want %d, needed %d for %d", got, wanted, needed, s.wanted())
		}
		return nil
	})
}

func TestSizeGrowsWithDemand(t *testing.T) {
	everySizing(t, func(rng *rand.Rand, s sizing) error {
		before := s.size()
		if len(s.demands) == 0 || oneIn(rng, 3) {
			s.demands = append(s.demands, placement.Demand{Replicas: rng.Int64N(20)})
		} else {
			s.demands[rng.IntN(len(s.demands))].Replicas += rng.Int64N(20)
		}
		if after := s.size(); after.Wanted < before.Wanted || after.Needed < before.Needed {
			return fmt.Errorf("size %s, with less demand %s", after, before)
		}
		return nil
	})
}

// A pool that was scaled to its wanted size wants just that, whether the adapters that it got are starting or open.
func TestPoolAtItsSizeStays(t *testing.T) {
	everySizing(t, func(rng *rand.Rand, s sizing) error {
		first := s.size()
		s.berths = slices.Clone(s.berths[:min(first.Wanted, len(s.berths))])
		for len(s.berths) < first.Wanted {
			s.berths = append(s.berths, placement.Berth{State: placement.State(rng.IntN(2))})
		}
		for round := range 3 {
			if again := s.size(); again.Wanted != first.Wanted {
				return fmt.Errorf("size %s, and in round %d %s", first, round, again)
			}
			for i := range s.berths {
				if s.berths[i].State == placement.Starting && oneIn(rng, 2) {
					s.berths[i].State = placement.Open
				}
			}
		}
		return nil
	})
}

func FuzzSize(f *testing.F) {
	f.Add(int64(10), 1, 9, 3, int64(43), 0, int64(4), int64(2), []byte{0, 2, 1, 3})
	const most64 = int64(math.MaxInt64)
	f.Add(most64, 0, math.MaxInt, math.MaxInt, most64, math.MaxInt32, most64, most64, []byte{0, 200})
	f.Add(int64(1), 0, 0, -1, int64(math.MinInt64), 0, int64(0), most64, []byte{2})
	f.Fuzz(func(t *testing.T, capacity int64, least, most, unit int, replicas int64, limit int, held, foreign int64,
		states []byte,
	) {
		if capacity < 1 || limit < 0 || held < 0 || foreign < 0 {
			t.Skip("out of contract")
		}
		s := sizing{capacity: capacity, bounds: placement.Bounds{Min: least, Max: most, Unit: unit}}
		for i, state := range states {
			b := placement.Berth{State: placement.State(state % 4), Held: held}
			if i%2 == 0 {
				b.Foreign = min(foreign, capacity)
			}
			s.berths = append(s.berths, b)
			s.demands = append(s.demands, placement.Demand{Replicas: replicas, Limit: limit, AtLimit: state > 127, Reach: held})
		}
		got := s.size()
		if got.Wanted < 0 || got.Wanted > max(0, most) || got.Wanted < min(least, max(0, most)) {
			t.Errorf("%+v: wanted %d", s, got.Wanted)
		}
		if got.Needed < 0 || got.Needed > 0 && s.suffices(got.Needed-1) {
			t.Errorf("%+v: needed %d, one less suffices", s, got.Needed)
		}
		if s.wanted().IsInt64() && got.Needed < math.MaxInt && !s.suffices(got.Needed) {
			t.Errorf("%+v: needed %d, which does not suffice", s, got.Needed)
		}
		if got.String() == "" {
			t.Error("no words")
		}
	})
}
