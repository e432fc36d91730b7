package vpod

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Nodes drain when their pool says so, and once they take no more vreplicas; a person's cordon does as well as ours.
func TestDrainingNodes(t *testing.T) {
	node := func(name string, edits ...func(*corev1.Node)) *corev1.Node {
		n := adapterNode(name)
		n.Spec.ProviderID, n.Spec.Unschedulable = "vpod://a/"+n.Labels[v1alpha1.LabelOrdinal], true
		for _, edit := range edits {
			edit(n)
		}
		return n
	}
	nodes := map[string]*corev1.Node{
		"a-0": node("a-0"), "a-1": node("a-1"),
		"a-2": node("a-2", func(n *corev1.Node) { n.Spec.Unschedulable = false }),
		"a-3": node("a-3", func(n *corev1.Node) { n.Spec.ProviderID = "aws:///a/3" }),
	}
	target := func(mode v1alpha1.AutoscalingMode) *v1alpha1.AdapterPool {
		return poolA(func(p *v1alpha1.AdapterPool) {
			p.Spec.Autoscaling, p.Status.TargetAdapters = &v1alpha1.Autoscaling{Mode: mode}, new(int32(1))
		})
	}
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32(4))}}
	for name, tc := range map[string]struct {
		pool *v1alpha1.AdapterPool
		set  *appsv1.StatefulSet
		want map[string]bool
	}{
		"beyond the target and out of use": {pool: target(v1alpha1.AutoscalingAuto), set: set, want: map[string]bool{"a-1": true}},
		"autoscaling off":                  {pool: target(v1alpha1.AutoscalingOff), set: set},
		"no StatefulSet":                   {pool: target(v1alpha1.AutoscalingAuto)},
		"no pool":                          {set: set},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, drainingNodes(tc.pool, tc.set, nodes)); diff != "" {
				t.Errorf("draining (-want +got):\n%s", diff)
			}
		})
	}
}

// The sum of what is published stays, and an old placement is published until the write that precedes its end.
func TestPublishedWhileReplaced(t *testing.T) {
	drained := []string{"a-0", "a-1", "a-2 draining"}
	for name, tc := range map[string]struct {
		adapters  []string
		published []v1alpha1.Placement
		shrinks   bool
		pods      []string
		want      []v1alpha1.Placement
	}{
		"the others are placed: the old ones stay": {
			published: []v1alpha1.Placement{on("s-0", 1), on("s-2", 2)}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4 @a-0"},
			want: []v1alpha1.Placement{on("s-0", 1), on("s-2", 2)},
		},
		"in part": {
			published: []v1alpha1.Placement{on("s-0", 1), on("s-2", 2)}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4"},
			want: []v1alpha1.Placement{on("s-0", 1), on("s-2", 2)},
		},
		"let go from": {
			published: []v1alpha1.Placement{on("s-0", 1), on("s-2", 2)}, pods: []string{"0 @a-0", "3 @a-1", "4 @a-0"},
			want: []v1alpha1.Placement{on("s-0", 2), on("s-1", 1)},
		},
		"what was taken out and not let go does not come back": {
			published: []v1alpha1.Placement{on("s-0", 2), on("s-1", 1)}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4 @a-0"},
			want: []v1alpha1.Placement{on("s-0", 2), on("s-1", 1)},
		},
		"nothing published as yet: rather what stays": {
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1", "4 @a-0"}, want: []v1alpha1.Placement{on("s-0", 2), on("s-1", 1)},
		},
		"less published than asked for": {
			published: []v1alpha1.Placement{on("s-2", 2)}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-1"},
			want: []v1alpha1.Placement{on("s-0", 1), on("s-2", 2)},
		},
		"another PriorityClass": {
			adapters: threeAdapters, published: []v1alpha1.Placement{on("s-0", 2), on("s-2", 1)},
			pods: []string{"0 @a-0 old", "1 @a-2 old", "2 @a-0 old", "3 @a-1"}, want: []v1alpha1.Placement{on("s-0", 2), on("s-2", 1)},
		},
		"shrinking: the usual ones go": {
			shrinks: true, published: []v1alpha1.Placement{on("s-0", 2), on("s-2", 2)},
			pods: []string{"0 @a-0", "1 @a-2", "2 @a-2", "3 @a-0"}, want: []v1alpha1.Placement{on("s-0", 2), on("s-2", 1)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.adapters == nil {
				tc.adapters = drained
			}
			o := observed(xVPod(3), adapterNodes(tc.adapters...), tc.pods...)
			o.vpod.Status.Placements, o.shrinks = tc.published, tc.shrinks
			if diff := cmp.Diff(tc.want, o.status().Placements); diff != "" {
				t.Errorf("placements (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsShrinking(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas int
		last     *int32
		before   bool
		want     bool
	}{
		"new":                              {replicas: 2},
		"fewer are asked for":              {replicas: 2, last: new(int32(3)), want: true},
		"published, and not gone as yet":   {replicas: 2, last: new(int32(2)), before: true, want: true},
		"more than asked for while moving": {replicas: 2, last: new(int32(2))},
		"gone":                             {replicas: 3, last: new(int32(3)), before: true},
		"gone already":                     {replicas: 3, last: new(int32(4))},
		"more are asked for":               {replicas: 2, last: new(int32(1))},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(xVPod(tc.replicas), adapterNodes("a-0"), "0 @a-0", "1 @a-0", "2 @a-0")
			o.vpod.Status.DesiredReplicas = tc.last
			if got := o.isShrinking(tc.before); got != tc.want {
				t.Errorf("shrinks: %t, want %t", got, tc.want)
			}
		})
	}
}

// G9: the condition says what keeps vreplicas where they are not to stay, and remains true.
func TestScheduled_G9_WhatCannotLeave(t *testing.T) {
	budget := "Cannot evict pod. The disruption budget b needs 9 healthy pods and has 2 currently"
	for name, tc := range map[string]struct {
		limit    int
		adapters []string
		eviction *refusal
		pods     []string
		want     string
	}{
		"moving":          {pods: []string{"0 @a-0", "1 @a-2", "2"}},
		"refused of late": {eviction: &refusal{since: noon.Add(-time.Second)}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1"}},
		"refused": {
			eviction: &refusal{since: noon.Add(-untold), message: budget}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-1"},
			want: ". The API server does not let go of 1 that is to leave s-2: " + budget,
		},
		"no room": {
			adapters: []string{"a-0 room=1", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2", "2 refused"},
			want: ". There is no adapter with room for 1 that is to leave s-2",
		},
		"no room for a spare one": {
			adapters: []string{"a-0 room=1", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2"},
			want: ". There is no adapter with room for 1 that is to leave s-2",
		},
		"none any more": {adapters: []string{"a-0 room=2", "a-2 draining"}, pods: []string{"0 @a-0", "1 @a-2", "2 @a-0"}},
		"a scheduler that is silent": {
			pods: []string{"0 @a-0", "1 @a-2", "2 age=60s"},
			want: ". No scheduler has tried to place x-vreplica-2 for 60 s, which is to replace one of 1 that is to leave s-2",
		},
		"one that finds no room where there is some": {
			pods: []string{"0 @a-0", "1 @a-2", "2 refused age=60s"},
			want: ". None of the adapters with room is found for 1 that is to leave s-2. The scheduler says of x-vreplica-2: " +
				"no adapter for x-vreplica-2",
		},
		"no room within the limit": {
			limit: 1, adapters: []string{"a-0 room=1", "a-2 draining"}, pods: []string{"0 @a-2", "1 @a-2", "2 refused"},
			want: ". There is no adapter with room for 2 that are to leave s-2, within spec.maxAdapters, which is 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.adapters == nil {
				tc.adapters = []string{"a-0", "a-1", "a-2 draining"}
			}
			o := observed(xVPod(2), adapterNodes(tc.adapters...), tc.pods...)
			if tc.limit > 0 {
				limitedTo(tc.limit)(o.vpod)
			}
			o.eviction = tc.eviction
			c := o.scheduled(o.tally())
			if got := strings.TrimPrefix(c.Message, "2 of 2 vreplicas are placed"); got != tc.want || c.Reason != v1alpha1.ReasonAllScheduled {
				t.Errorf("%s %q, want %q", c.Reason, got, tc.want)
			}
		})
	}
}

// Evictions are asked for soon again, because a budget notices late that a replacement is ready, and then ever more rarely.
func TestRefusedEvictionsGrowApart(t *testing.T) {
	var r *refusal
	var got []time.Duration
	now := noon
	for range 11 {
		r = r.after(fmt.Errorf("no"), ofEviction, now)
		got = append(got, r.ends(now).Round(time.Second))
		now = now.Add(r.ends(now))
	}
	if slices.Max(got) != time.Minute || got[0] > time.Second || !slices.IsSorted(got) || r.since != noon {
		t.Errorf("pauses %v since %v", got, r.since)
	}
	if r.ends(now) != 0 || r.holds(now) {
		t.Error("it waits for a time that has come")
	}
}
