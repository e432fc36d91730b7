package demo

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// pool makes four adapters with room for 4, in zones z0 and z1 by turns.
func pool(cordoned ...int) []adapter {
	var adapters []adapter
	for i := range 4 {
		adapters = append(adapters, adapter{name: fmt.Sprintf("a-%d", i), ordinal: i, zone: fmt.Sprintf("z%d", i%2), capacity: 4})
	}
	for _, i := range cordoned {
		adapters[i].cordoned = true
	}
	return adapters
}

// placed makes a vpod with so many vreplicas on a-0, a-1, ..., and then so many that wait.
func placed(name string, limit, waiting int, counts ...int) vpod {
	v := vpod{name: name, limit: limit, current: true, published: map[string]int{}}
	add := func(adapter string) {
		uid := types.UID(fmt.Sprintf("%s-%d", name, len(v.pods)))
		v.pods = append(v.pods, placeholder{uid: uid, adapter: adapter})
	}
	for i, count := range counts {
		for range count {
			add(fmt.Sprintf("a-%d", i))
			v.published[fmt.Sprintf("a-%d", i)]++
		}
	}
	for range waiting {
		add("")
	}
	return v
}

var checkCases = map[string]struct {
	before, after state
	// want is a part of the error; empty: no error.
	want string
}{
	"even": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 0, 0, 2, 2, 1, 1), placed("y", 2, 0, 1, 2)}},
	},
	"nothing at all": {before: state{adapters: pool()}, after: state{adapters: pool()}},
	"above capacity": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 0, 0, 5, 4, 4, 4)}},
		want:   "a-0 serves 5 vreplicas, which is above its capacity of 4",
	},
	"above the limit": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 2, 0, 1, 1, 1)}},
		want:   "x uses 3 adapters, which is above its limit of 2",
	},
	"uneven": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 0, 0, 2, 0, 1, 1)}},
		want:   "x has 2 vreplicas on a-0 and 0 on a-1",
	},
	"uneven because the others are full, cordoned or beyond the limit": {
		before: state{adapters: pool(2), vpods: []vpod{placed("y", 2, 0, 0, 4, 0, 4)}},
		after:  state{adapters: pool(2), vpods: []vpod{placed("y", 2, 0, 0, 4, 0, 4), placed("x", 1, 0, 3)}},
	},
	"zones uneven": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 0, 0, 1, 0, 1, 0)}},
		want:   "x has 2 vreplicas in one zone and 0 in another",
	},
	"waits in vain": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 0, 1, 1, 1, 1, 1)}},
		want:   "1 vreplicas of x wait although a-0 has room",
	},
	"waits for room": {
		before: state{adapters: pool(3)},
		after:  state{adapters: pool(3), vpods: []vpod{placed("x", 0, 2, 4, 4, 4)}},
	},
	"moved": {
		before: state{adapters: pool(), vpods: []vpod{placed("x", 0, 0, 1, 1)}},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 0, 0, 1, 0, 0, 1)}},
		want:   "x moved from a-1 to a-3",
	},
	"came to a cordoned adapter": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(1), vpods: []vpod{placed("x", 0, 0, 0, 1)}},
		want:   "came to a-1, which is cordoned",
	},
	"published is something else": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{{name: "x", current: true, published: map[string]int{"a-4": 1}}}},
		want:   "x is placed as map[], and its status says map[a-4:1]",
	},
	"published is about an older spec": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{{name: "x"}}},
		want:   "the status of x is about an older spec",
	},
	"another number waits": {
		before: state{adapters: pool()},
		after:  state{adapters: pool(), vpods: []vpod{placed("x", 0, 2, 4, 4, 4, 4), placed("y", 0, 0, 0, 0, 0, 1)}},
		want:   "2 vreplicas wait, but 19 were to be placed and there was room for 16, so 3 should wait",
	},
}

func TestCheck(t *testing.T) {
	for name, tc := range checkCases {
		t.Run(name, func(t *testing.T) {
			err := check(tc.before, tc.after)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
