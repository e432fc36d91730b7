package vpod

import (
	"fmt"
	"testing"
	"time"
)

// G6: what leaves an adapter that drains is served elsewhere before it goes.
func TestDecide_G6_Drain(t *testing.T) {
	drained := []string{"a-0 zone=z1", "a-1 zone=z2", "a-2 zone=z3 draining"}
	full := []string{"a-0 room=1", "a-1 room=1", "a-2 draining"}
	quota := &refusal{quota: true, generation: 7, since: noon, until: noon.Add(time.Second)}
	held := &refusal{since: noon.Add(-time.Second), until: noon.Add(time.Second)}
	for name, tc := range map[string]struct {
		replicas, limit   int
		adapters          []string
		refusal, eviction *refusal
		shrinks           bool
		held              int
		pods              []string
		want              string
	}{
		"as many more as leave":       {replicas: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"}, want: "create 3 4"},
		"which are waited for":        {replicas: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3", "4"}},
		"for one another, too":        {replicas: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4"}},
		"but not for long":            {replicas: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4 age=2s"}, want: "evict 1"},
		"nor for one that is refused": {replicas: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4 refused"}, want: "evict 1"},
		"bound is not placed":         {replicas: 2, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1 unadmitted"}},
		"placed: they go":             {replicas: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4 @a-0"}, want: "evict 1 2"},
		"placed where nothing is ready as yet": {
			replicas: 3, adapters: []string{"a-0", "a-1 unready", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1 age=59s", "4 @a-0"}, want: "evict 1",
		},
		"which is waited for, if it is all there is": {
			replicas: 2, adapters: []string{"a-0", "a-1 unready", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1 age=59s"},
		},
		"but not for ever": {
			replicas: 2, adapters: []string{"a-0", "a-1 unready", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1 age=60s"},
			want: "evict 1",
		},
		"gone":                          {replicas: 3, pods: []string{"0 @a-0", "3 @a-1", "4 @a-0"}},
		"C52: what is missing is first": {replicas: 4, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"}, want: "create 3"},
		"those that wait are first":     {replicas: 4, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 refused"}},
		"no more than are needed":       {replicas: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1"}, want: "evict 1"},
		"what a late scheduler bound there does not serve": {
			replicas: 2, pods: []string{"0 @a-0", "1 @a-2 unadmitted"},
		},
		"who cordoned it does not matter, but that it drains does": {
			replicas: 1, adapters: []string{"a-0", "a-2 cordoned"}, pods: []string{"0 @a-2"},
		},

		"the API server refused": {
			replicas: 2, eviction: held, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1"},
		},
		"asks again": {
			replicas: 2, eviction: &refusal{until: noon}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1"}, want: "evict 1",
		},
		"another PriorityClass goes on meanwhile": {
			replicas: 3, eviction: held, pods: []string{"0 @a-0 old", "1 @a-2", "2 @a-1", "3 @a-1"}, want: "remove 0",
		},
		"both at once": {replicas: 2, pods: []string{"0 @a-0 old", "1 @a-2 old"}, want: "create 2"},
		"what leaves goes before what is only outdated": {
			replicas: 2, pods: []string{"0 @a-0 old", "1 @a-2 old", "2 @a-1"}, want: "evict 1",
		},

		"no room: nobody is to give way to a spare one": {
			replicas: 2, adapters: []string{"a-0 room=1", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2"},
		},
		"room for some: no more spare ones": {
			replicas: 4, adapters: []string{"a-0 room=2", "a-1 room=1", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-2"}, want: "create 4 5",
		},
		"no room: it stays":                   {replicas: 3, adapters: full, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1", "3 refused"}},
		"room: the scheduler will see it":     {replicas: 2, pods: []string{"0 @a-0", "1 @a-2", "2 refused"}},
		"room that it does not see: it stays": {replicas: 2, pods: []string{"0 @a-0", "1 @a-2", "2 refused age=5m"}},

		"the limit: all of an adapter go at once": {
			replicas: 3, limit: 2, adapters: []string{"a-0 room=1", "a-1", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 refused", "4 refused"}, want: "evict 1 2 together",
		},
		"the limit: nobody is to give way to spare ones": {
			replicas: 3, limit: 2, adapters: []string{"a-0 room=1", "a-1", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"},
			want: "evict 1 2 together",
		},
		"the limit: nobody gives way, whatever it costs": {
			replicas: 3, limit: 2, adapters: []string{"a-0 room=1", "a-1 room=1", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"},
		},
		"the limit: what is in use is used first": {
			replicas: 3, limit: 2, adapters: []string{"a-0 room=2", "a-1", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"},
			want: "create 3",
		},
		"the limit: as long as they find room": {
			replicas: 3, limit: 2, adapters: []string{"a-0 room=1", "a-1 room=1", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 refused", "4 refused"},
		},
		"the limit: of one, all of it": {
			replicas: 2, limit: 1, pods: []string{"0 @a-2", "1 @a-2", "2 refused", "3 refused"}, want: "evict 0 1 together",
		},
		"the limit: in use there is room": {
			replicas: 3, limit: 2, adapters: []string{"a-0 room=2", "a-1", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-0", "4 refused"}, want: "evict 1",
		},
		"the limit: one after the other": {
			replicas: 4, limit: 2, adapters: []string{"a-0 draining", "a-1", "a-2 draining", "a-3"},
			pods: []string{"0 @a-0", "1 @a-0", "2 @a-2", "3 @a-2", "4 refused", "5 refused"}, want: "evict 2 3 together",
		},
		"the limit: not while those of before are not placed": {
			replicas: 4, limit: 2, held: 4, adapters: []string{"a-0 draining", "a-1", "a-3"},
			pods: []string{"0 @a-0", "1 @a-0", "4 refused", "5 refused"},
		},
		"the limit: not before the scheduler has said so": {
			replicas: 1, limit: 1, pods: []string{"0 @a-2", "1"},
		},
		"another PriorityClass goes on where nothing can leave": {
			replicas: 2, adapters: []string{"a-0 room=1", "a-2 draining"}, pods: []string{"0 @a-0 old", "1 @a-2"}, want: "create 2",
		},
		"the limit: nor while evictions are refused": {
			replicas: 1, limit: 1, eviction: held, pods: []string{"0 @a-2", "1 refused"},
		},

		"a quota: one goes first": {replicas: 3, refusal: quota, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"}, want: "evict 1"},
		"a quota: it may have more room by now": {
			replicas: 3, refusal: &refusal{quota: true, generation: 7, until: noon}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"},
			want: "create 3 4",
		},
		"a quota: not where there is no room": {
			replicas: 3, refusal: quota, adapters: full, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1"},
		},
		"a quota: its place is filled": {replicas: 3, refusal: quota, held: 3, pods: []string{"0 @a-0", "2 @a-2"}},
		"a quota and the limit": {
			replicas: 3, limit: 2, refusal: quota, adapters: []string{"a-0 room=1", "a-1", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"}, want: "evict 1 2 together",
		},
		"a quota for fewer than are asked for": {
			replicas: 5, refusal: quota, held: 3, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2"}, want: "evict 1",
		},
		"what is refused for another reason costs nothing": {
			replicas: 1, refusal: &refusal{generation: 7, until: noon.Add(time.Second)}, pods: []string{"0 @a-2"},
		},

		"shrinking: the spare ones and then those that are leaving": {
			replicas: 1, shrinks: true, pods: []string{"0 @a-0", "1 @a-1", "2 @a-2", "3"}, want: "remove 1 2 3",
		},
		"none":      {replicas: 0, pods: []string{"0 @a-2", "1"}, want: "remove 0 1"},
		"cancelled": {replicas: 2, adapters: threeAdapters, pods: []string{"0 @a-0", "1 @a-2", "2"}, want: "remove 2"},
		"cancelled, after it was placed": {
			replicas: 3, adapters: threeAdapters, pods: []string{"0 @a-0", "1 @a-1", "2 @a-2", "3 @a-1"}, want: "remove 3",
		},
		"cancelled in part": {
			replicas: 3, adapters: []string{"a-0", "a-1", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-1", "2 @a-2", "3 @a-1", "4 refused"}, want: "remove 4",
		},
		"cancelled in part, after they were placed: what leaves is not deleted": {
			replicas: 3, adapters: []string{"a-0", "a-1", "a-2 draining"},
			pods: []string{"0 @a-0", "1 @a-1", "2 @a-2", "3 @a-1", "4 @a-0"}, want: "remove 3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.adapters == nil {
				tc.adapters = drained
			}
			v := xVPod(tc.replicas)
			if tc.limit > 0 {
				limitedTo(tc.limit)(v)
			}
			o := observed(v, adapterNodes(tc.adapters...), tc.pods...)
			o.refusal, o.eviction, o.shrinks, o.held = tc.refusal, tc.eviction, tc.shrinks, tc.held
			if got := decide(o).String(); got != tc.want {
				t.Errorf("plan %q, want %q", got, tc.want)
			}
		})
	}
}

// A large VPod moves in steps, and the adapter with the highest ordinal is empty first.
func TestDecide_G6_DrainInSteps(t *testing.T) {
	nodes := adapterNodes("a-0 room=100", "a-1 room=100 draining", "a-2 room=100 draining")
	var pods []string
	for i := range 30 {
		pods = append(pods, fmt.Sprintf("%d @a-%d", i, i%3))
	}
	o := observed(xVPod(30), nodes, pods...)
	p := decide(o)
	if len(p.create) != 10 || len(p.leaves()) != 0 {
		t.Fatalf("plan %q, want 10 more", p)
	}
	for _, i := range p.create {
		o.pods = append(o.pods, pod(o.vpod, fmt.Sprintf("%d @a-0", i)))
	}
	if got := decide(o).String(); got != "evict 2 5 8 11 14 17 20 23 26 29" {
		t.Errorf("plan %q, want all on a-2 evicted", got)
	}
}

// A batch takes a second or two, and the placeholders are read anew for each. Once so many are placed, they are never too many
// while those that they replace go.
func TestSurge(t *testing.T) {
	for leaving, most := range map[int]int{0: 0, 1: 1, 100: 10, 1_000: 60, 10_000: 130, 100_000: 600} {
		batches := 0
		for n := leaving; n > 0; batches++ {
			size := surge(n)
			for gone := range size {
				if size-gone > surge(n-gone) {
					t.Fatalf("%d of %d spare ones are left while %d are leaving", size-gone, size, n-gone)
				}
			}
			n -= size
		}
		if batches > most {
			t.Errorf("%d leave in %d batches, want at most %d", leaving, batches, most)
		}
	}
}
