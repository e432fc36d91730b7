package vpod

import (
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// What somebody wants moved is what goes, and nothing else; what cannot be moved stays, and is not to be moved any more.
func TestDecide_Move(t *testing.T) {
	full := []string{"a-0 room=2", "a-1 room=1"}
	quota := &refusal{quota: true, generation: 7, since: noon, until: noon.Add(time.Second)}
	lasting := &refusal{since: noon.Add(-patience), until: noon.Add(time.Second)}
	for name, tc := range map[string]struct {
		replicas, limit   int
		adapters          []string
		refusal, eviction *refusal
		lacking           time.Time
		pods              []string
		want              string
	}{
		"another one first":            {replicas: 3, pods: []string{"0 @a-0", "1 @a-0 moving", "2 @a-0"}, want: "create 3"},
		"then the one itself":          {replicas: 3, pods: []string{"0 @a-0", "1 @a-0 moving", "2 @a-0", "3 @a-1"}, want: "evict 1"},
		"wherever the other one is":    {replicas: 2, pods: []string{"0 @a-0 moving", "1 @a-1", "2 @a-0"}, want: "evict 0"},
		"after what drains":            {replicas: 2, adapters: []string{"a-0", "a-1 draining", "a-2"}, pods: []string{"0 @a-2 moving", "1 @a-1", "2 @a-0"}, want: "evict 1"},
		"not one that only waits":      {replicas: 2, pods: []string{"0 @a-0", "1 moving"}, want: "mend 1"},
		"not one whose node is gone":   {replicas: 1, pods: []string{"0 @a-7 moving"}},
		"no room as yet":               {replicas: 3, adapters: full, pods: []string{"0 @a-0 moving", "1 @a-0", "2 @a-1", "3 refused age=59s"}},
		"no room: given up":            {replicas: 3, adapters: full, pods: []string{"0 @a-0 moving", "1 @a-0", "2 @a-1", "3 refused age=60s"}, want: "mend 0"},
		"no room: no spare one":        {replicas: 3, adapters: full, pods: []string{"0 @a-0 moving", "1 @a-0", "2 @a-1"}},
		"no room for long: given up":   {replicas: 3, adapters: full, lacking: noon.Add(-patience), pods: []string{"0 @a-0 moving", "1 @a-0", "2 @a-1"}, want: "mend 0"},
		"no scheduler: nobody refuses": {replicas: 1, pods: []string{"0 @a-0 moving", "1 age=60s"}},
		"no room, but the adapter drains as well": {
			replicas: 2, adapters: []string{"a-0 room=1 draining", "a-1 room=1"}, pods: []string{"0 @a-0 moving", "1 @a-1", "2 refused age=5m"},
		},
		"not let go: given up":         {replicas: 2, eviction: lasting, pods: []string{"0 @a-0 moving", "1 @a-1", "2 @a-2"}, want: "mend 0"},
		"not created: given up":        {replicas: 2, refusal: lasting, pods: []string{"0 @a-0 moving", "1 @a-1"}, want: "mend 0, create 2"},
		"given up: the spare one goes": {replicas: 2, pods: []string{"0 @a-0", "1 @a-1", "2 refused"}, want: "remove 2"},
		"a quota: the one first":       {replicas: 2, refusal: quota, pods: []string{"0 @a-0 moving", "1 @a-1"}, want: "evict 0"},
		"a quota: room only where it is": {
			replicas: 2, refusal: quota, adapters: []string{"a-0 room=9", "a-1 room=1"}, pods: []string{"0 @a-0 moving", "1 @a-1"}, want: "",
		},
		"the limit: not while others stay there": {
			replicas: 3, limit: 1, pods: []string{"0 @a-0 moving", "1 @a-0", "2 @a-0", "3 refused"},
		},
		"the limit: the only one there": {
			replicas: 2, limit: 2, adapters: []string{"a-0 room=1", "a-1 room=1", "a-2"}, pods: []string{"0 @a-0 moving", "1 @a-1", "2 refused"},
			want: "evict 0 together",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.adapters == nil {
				tc.adapters = threeAdapters
			}
			v := xVPod(tc.replicas)
			if tc.limit > 0 {
				limitedTo(tc.limit)(v)
			}
			o := observed(v, adapterNodes(tc.adapters...), tc.pods...)
			o.refusal, o.eviction, o.lacking = tc.refusal, tc.eviction, tc.lacking
			if tc.refusal == lasting {
				o.refusal.generation = 6 // Its time has come.
			}
			if got := decide(o).String(); got != tc.want {
				t.Errorf("plan %q, want %q", got, tc.want)
			}
		})
	}
}

// A drain, or a move, is taken back when others serve already: they go, and who is published is not moved after all, which a
// PodDisruptionBudget may have forbidden. A VPod that shrinks loses one where the most are.
func TestDecide_G4_WhatIsPublishedStaysWhenAMoveIsTakenBack(t *testing.T) {
	for name, tc := range map[string]struct {
		shrinks bool
		want    string
	}{
		"taken back": {want: "remove 4"},
		"shrinking":  {shrinks: true, want: "remove 3"},
	} {
		t.Run(name, func(t *testing.T) {
			v := xVPod(4)
			v.Status.Placements = []v1alpha1.Placement{{PodName: "s-0", VReplicas: 4}}
			o := observed(v, adapterNodes("a-0", "a-1"), "0 @a-0", "1 @a-0", "2 @a-0", "3 @a-0", "4 @a-1")
			o.shrinks = tc.shrinks
			if got := decide(o).String(); got != tc.want {
				t.Errorf("plan %q, want %q", got, tc.want)
			}
			if got := len(o.tally().placed); got != 4 {
				t.Errorf("%d are published", got)
			}
		})
	}
}
