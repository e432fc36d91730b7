package pool

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestWindowKeepsTheHighestOfLate(t *testing.T) {
	type noted struct {
		second   int
		adapters int32
	}
	const delay = 10 * time.Second
	for name, tc := range map[string]struct {
		notes []noted
		at    int
		want  int32
		falls time.Duration
	}{
		"nothing noted":                  {},
		"one":                            {notes: []noted{{0, 3}}, at: 100, want: 3},
		"up at once":                     {notes: []noted{{0, 3}, {1, 5}}, at: 1, want: 5},
		"down not at once":               {notes: []noted{{0, 5}, {4, 3}}, at: 4, want: 5, falls: delay},
		"down after the delay":           {notes: []noted{{0, 5}, {4, 3}}, at: 14, want: 3},
		"and not a second before":        {notes: []noted{{0, 5}, {4, 3}}, at: 13, want: 5, falls: time.Second},
		"it was wanted until the next":   {notes: []noted{{0, 5}, {60, 3}}, at: 69, want: 5, falls: time.Second},
		"the highest of several":         {notes: []noted{{0, 5}, {1, 4}, {2, 3}}, at: 11, want: 4, falls: time.Second},
		"each in its turn":               {notes: []noted{{0, 5}, {1, 4}, {2, 3}}, at: 12, want: 3},
		"a relapse begins the delay new": {notes: []noted{{0, 5}, {1, 3}, {9, 5}, {10, 3}}, at: 19, want: 5, falls: time.Second},
		"a lower relapse does not":       {notes: []noted{{0, 5}, {1, 3}, {9, 4}, {10, 3}}, at: 11, want: 4, falls: 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var w window
			for _, n := range tc.notes {
				w = w.note(n.adapters, now.Add(time.Duration(n.second)*time.Second))
			}
			at := now.Add(time.Duration(tc.at) * time.Second)
			for range 2 { // before and after it forgets
				if got := w.highest(delay, at); got != tc.want {
					t.Errorf("highest is %d, want %d", got, tc.want)
				}
				if got := w.falls(delay, at); got != tc.falls {
					t.Errorf("it falls in %s, want %s", got, tc.falls)
				}
				w = w.trim(delay, at)
			}
		})
	}
}

func TestWindowOfNoDelayIsWhatIsWantedNow(t *testing.T) {
	w := window{}.note(5, now).note(3, now)
	if got := w.highest(0, now); got != 3 {
		t.Errorf("highest is %d, want 3", got)
	}
}

// It says the same as a list of all that was wanted, second by second.
func TestWindowAgreesWithAList(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		delay := rng.IntN(20)
		var w window
		var list []int32
		wanted := int32(0)
		for second := range 100 {
			isNoted := second == 0 || rng.IntN(3) == 0
			at := now.Add(time.Duration(second) * time.Second)
			if isNoted {
				wanted = int32(rng.IntN(6))
				w = w.note(wanted, at)
			}
			list = append(list, wanted)
			want := wanted
			// What was wanted in the second that began before s was wanted until s.
			for s := max(0, second-delay+1); s <= second; s++ {
				want = max(want, list[s])
				if s > 0 {
					want = max(want, list[s-1])
				}
			}
			if delay == 0 {
				want = wanted
			}
			if got := w.highest(time.Duration(delay)*time.Second, at); got != want {
				t.Fatalf("seed %d, delay %d, second %d: highest is %d, want %d of %v", seed, delay, second, got, want, list)
			}
			w = w.trim(time.Duration(delay)*time.Second, at)
		}
	}
}

func TestWindowsShareNothing(t *testing.T) {
	before := window{}.note(5, now).note(3, now.Add(time.Second))
	before.note(9, now.Add(time.Minute))
	if got := before.highest(time.Minute, now.Add(2*time.Second)); got != 5 {
		t.Errorf("highest is %d, want 5: it changed when something was added to another", got)
	}
}
