package pool

import (
	"testing"
	"time"
)

// A burst of events is one look a second, and the last of them is not lost: it waits for the next.
func TestC44_ABurstIsOneLookASecond(t *testing.T) {
	p, looks := newPace(), []time.Duration{}
	var next time.Duration // when a request that had to wait comes back
	for at := time.Duration(0); at <= 3*time.Second; at += 2 * time.Millisecond {
		if at > 2*time.Second && at != next {
			continue // No events after two seconds.
		}
		wait := p.wait("kafka", now.Add(at))
		if wait == 0 {
			looks = append(looks, at)
		} else {
			next = at + wait
		}
	}
	if len(looks) != 3 || looks[0] != 0 || looks[1] != time.Second || looks[2] != 2*time.Second {
		t.Errorf("it looked %d times, the last time after %s; want once a second", len(looks), looks[len(looks)-1])
	}
	if p.wait("other", now) != 0 {
		t.Error("one pool waits for another")
	}
}

func TestDue(t *testing.T) {
	for name, tc := range map[string]struct {
		last time.Time
		want time.Duration
	}{
		"never":                  {},
		"just now":               {last: now, want: time.Second},
		"a little ago":           {last: now.Add(-300 * time.Millisecond), want: 700 * time.Millisecond},
		"a second ago":           {last: now.Add(-time.Second)},
		"the clock was set back": {last: now.Add(time.Minute), want: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got := due(tc.last, now); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestPaceForgets(t *testing.T) {
	p := newPace()
	p.looked("kafka", now)
	if p.wait("kafka", now) == 0 {
		t.Error("it does not remember")
	}
	p.forget("kafka")
	if p.wait("kafka", now) != 0 {
		t.Error("it remembers a pool that is gone")
	}
}
