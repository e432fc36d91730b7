package vpod

import (
	"testing"
	"time"
)

func TestDecide_C27_PriorityRollout(t *testing.T) {
	full := []string{"a-0 room=2", "a-1 room=1"}
	for name, tc := range map[string]struct {
		replicas int
		adapters []string
		refusal  *refusal
		tried    time.Time
		pods     []string
		want     string
	}{
		"those that wait are replaced at once": {
			replicas: 2, pods: []string{"0 old", "1 old refused"}, want: "remove 0 1, create 2 3",
		},
		"one more first":               {replicas: 2, pods: []string{"0 @a-0 old", "1 @a-1 old"}, want: "create 2"},
		"the one more is waited for":   {replicas: 2, pods: []string{"0 @a-0 old", "1 @a-1 old", "2"}},
		"and when bound, one goes":     {replicas: 2, pods: []string{"0 @a-0 old", "1 @a-1 old", "2 @a-2"}, want: "remove 1"},
		"bound is not placed":          {replicas: 2, pods: []string{"0 @a-0 old", "1 @a-1 old", "2 @a-2 unadmitted"}},
		"the next":                     {replicas: 2, pods: []string{"0 @a-0 old", "2 @a-2"}, want: "create 1"},
		"done":                         {replicas: 2, pods: []string{"1 @a-0", "2 @a-2"}},
		"missing ones come first":      {replicas: 4, pods: []string{"0 @a-0 old", "1 @a-1"}, want: "create 2 3"},
		"refused for want of room":     {replicas: 3, adapters: full, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 @a-1 old", "3 refused"}, want: "remove 2"},
		"refused, but there is room":   {replicas: 3, adapters: threeAdapters, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 @a-1 old", "3 refused"}},
		"refused for a minute":         {replicas: 3, adapters: threeAdapters, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 @a-1 old", "3 refused age=60s"}, want: "remove 2"},
		"its room is being taken":      {replicas: 3, adapters: full, pods: []string{"0 @a-0 old", "1 @a-0 old", "3 refused"}},
		"without room and without one": {replicas: 4, adapters: full, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 @a-1 old", "3 refused"}, want: "remove 2"},
		"one waits that nobody tried":  {replicas: 4, adapters: full, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 refused", "3"}},
		"one more is given up where none has room to leave to it": {
			replicas: 2, adapters: []string{"a-0 cordoned", "a-1 room=0"}, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 refused"}, want: "remove 2",
		},
		"and not tried again at once": {
			replicas: 2, adapters: []string{"a-0 cordoned", "a-1 room=0"}, tried: noon.Add(-59 * time.Second),
			pods: []string{"0 @a-0 old", "1 @a-0 old"},
		},
		"but later: others may give way to it": {
			replicas: 2, adapters: []string{"a-0 cordoned", "a-1 room=0"}, tried: noon.Add(-time.Minute),
			pods: []string{"0 @a-0 old", "1 @a-0 old"}, want: "create 2",
		},
		"one for which others give way is waited for": {
			replicas: 2, adapters: []string{"a-0 cordoned", "a-1 room=0"}, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 refused nominated"},
		},
		"and costs no other one of the VPod its place": {
			replicas: 3, adapters: full, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 @a-1 old", "3 refused nominated"},
		},
		"but when there is room": {
			replicas: 2, adapters: []string{"a-0 cordoned", "a-1 room=1"}, pods: []string{"0 @a-0 old", "1 @a-0 old"}, want: "create 2",
		},
		"one of an adapter that is open goes, not one of a cordoned one": {
			replicas: 3, adapters: []string{"a-0 cordoned", "a-1 room=2"}, pods: []string{"0 @a-0 old", "1 @a-1 old", "2 @a-1 old", "3 refused"}, want: "remove 2",
		},
		"what was lost is not made up for by one more": {
			replicas: 3, adapters: []string{"a-0 cordoned", "a-1 room=0"}, pods: []string{"0 @a-0 old", "1 @a-0 old", "2 refused", "3 refused"}, want: "remove 3",
		},
		"a quota has no room for one more": {
			replicas: 2, refusal: &refusal{quota: true, generation: 7, until: noon.Add(time.Second)},
			pods: []string{"0 @a-0 old", "1 @a-1 old"}, want: "remove 1",
		},
		"a PriorityClass that does not exist costs nobody anything": {
			replicas: 2, refusal: &refusal{generation: 7, until: noon.Add(time.Second)}, pods: []string{"0 @a-0 old", "1 @a-1 old"},
		},
		"shrinking meanwhile":         {replicas: 1, pods: []string{"0 @a-0 old", "1 @a-1 old", "2 @a-2"}, want: "remove 2"},
		"shrinking by one meanwhile":  {replicas: 2, pods: []string{"0 @a-0 old", "1 @a-1 old", "2 @a-2 old"}, want: "remove 2"},
		"none":                        {replicas: 0, pods: []string{"0 @a-0 old"}, want: "remove 0"},
		"of adapters that are gone":   {replicas: 2, pods: []string{"0 @a-0 old", "1 @a-9 old", "2 @a-2"}, want: "remove 1"},
		"of adapters that are no use": {replicas: 2, adapters: []string{"a-0 unready", "a-1", "a-2"}, pods: []string{"0 @a-0 old", "1 @a-1 old", "2 @a-2"}, want: "remove 0"},
		"where the fewest are, to keep the one too many for last": {
			replicas: 6, pods: []string{"0 @a-0", "1 @a-0 old", "2 @a-0 old", "3 @a-1 old", "4 @a-1 old", "5 @a-2 old", "6 @a-2 old"}, want: "remove 6",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.adapters == nil {
				tc.adapters = threeAdapters
			}
			o := observed(xVPod(tc.replicas), adapterNodes(tc.adapters...), tc.pods...)
			o.refusal, o.tried = tc.refusal, tc.tried
			if got := decide(o).String(); got != tc.want {
				t.Errorf("plan %q, want %q", got, tc.want)
			}
		})
	}
}

// Since when there has been no room is known while some are to move, and no longer.
func TestLacksRoomSince(t *testing.T) {
	for name, tc := range map[string]struct {
		adapters []string
		before   time.Time
		want     time.Time
	}{
		"none":      {adapters: []string{"a-0 room=1", "a-2 draining"}, want: noon},
		"none yet":  {adapters: []string{"a-0 room=1", "a-2 draining"}, before: noon.Add(-time.Hour), want: noon.Add(-time.Hour)},
		"some":      {adapters: []string{"a-0", "a-2 draining"}, before: noon.Add(-time.Hour)},
		"all stay":  {adapters: []string{"a-0 room=1", "a-2 cordoned"}, before: noon.Add(-time.Hour)},
		"no census": {before: noon.Add(-time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(xVPod(2), adapterNodes(tc.adapters...), "0 @a-0", "1 @a-2")
			if tc.adapters == nil {
				o.census = nil
			}
			if got := o.lacksRoomSince(tc.before); !got.Equal(tc.want) {
				t.Errorf("since %v, want %v", got, tc.want)
			}
		})
	}
}

// When one more was tried in vain is remembered.
func TestTriedInVain(t *testing.T) {
	before := noon.Add(-time.Hour)
	for name, tc := range map[string]struct {
		adapter, spare string
		want           time.Time
	}{
		"refused":          {adapter: "a-0 room=1", spare: "1 refused", want: noon},
		"being tried":      {adapter: "a-0 room=1", spare: "1", want: before},
		"there is room":    {adapter: "a-0", spare: "1 refused", want: before},
		"there is none":    {adapter: "a-0 room=1", spare: "1 failed", want: before},
		"others give way":  {adapter: "a-0 room=1", spare: "1 refused nominated", want: before},
		"nothing is stale": {adapter: "a-0 room=1", spare: "1 @a-0", want: before},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(xVPod(1), adapterNodes(tc.adapter), "0 @a-0 old", tc.spare)
			if got := o.triedInVain(before); !got.Equal(tc.want) {
				t.Errorf("tried at %v, want %v", got, tc.want)
			}
		})
	}
}
