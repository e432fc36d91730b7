package vpod

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

func TestScheduled(t *testing.T) {
	two := []string{"a-0 room=2", "a-1 room=2"}
	quota := &refusal{message: "exceeded quota: q", generation: 7}
	for name, tc := range map[string]struct {
		replicas int
		limit    int
		adapters []string
		pods     []string
		edit     func(*observation)
		want     string
	}{
		"all": {
			replicas: 2, pods: []string{"0 @a-0", "1 @a-1"}, want: "AllScheduled: 2 of 2 vreplicas are placed",
		},
		"none asked for": {replicas: 0, want: "AllScheduled: 0 of 0 vreplicas are placed"},
		"one more during a rollout": {
			replicas: 1, pods: []string{"0 @a-0 old", "1 refused"}, want: "AllScheduled: 1 of 1 vreplicas are placed",
		},
		"a rollout is refused": {
			replicas: 1, pods: []string{"0 @a-0 old"}, edit: func(o *observation) { o.refusal = &refusal{message: "no such PriorityClass"} },
			want: "AllScheduled: 1 of 1 vreplicas are placed. The API server refuses a placeholder that is to replace one of them: " +
				"no such PriorityClass",
		},
		"created just now": {
			replicas: 3, pods: []string{"0 @a-0", "1", "2"}, want: "Scheduling: 1 of 3 vreplicas are placed. 2 are being placed",
		},
		"not even created": {replicas: 3, want: "Scheduling: 0 of 3 vreplicas are placed. 3 are being placed"},
		"creation is refused": {
			replicas: 4, pods: []string{"0 @a-0", "1 refused"}, edit: func(o *observation) { o.refusal = quota },
			want: "CreationRefused: 1 of 4 vreplicas are placed. The API server refuses 2 more placeholders: exceeded quota: q",
		},
		"no pool": {
			replicas: 1, pods: []string{"0 refused"}, edit: func(o *observation) { o.pool = nil },
			want: `PoolNotFound: 0 of 1 vreplicas are placed. There is no AdapterPool "a"`,
		},
		"a pool without adapters": {
			replicas: 1, adapters: []string{}, pods: []string{"0 refused"}, edit: func(o *observation) {
				o.pool = poolA(func(p *v1alpha1.AdapterPool) {
					p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Message: "StatefulSet system/s is not there"}}
				})
			},
			want: `PoolNotReady: 0 of 1 vreplicas are placed. AdapterPool "a" has no adapters: StatefulSet system/s is not there`,
		},
		"a pool that says nothing yet": {
			replicas: 1, adapters: []string{}, want: `PoolNotReady: 0 of 1 vreplicas are placed. AdapterPool "a" has no adapters`,
		},
		"C40: nobody tries": {
			replicas: 3, pods: []string{"0 age=60s", "1 age=70s unprofiled", "2 refused"},
			want: `SchedulerSilent: 0 of 3 vreplicas are placed. No scheduler has tried to place x-vreplica-1 for 60 s: does one run that has the profile "other"?`,
		},
		"C40: nobody has tried yet": {
			replicas: 1, pods: []string{"0 age=59s"}, want: "Scheduling: 0 of 1 vreplicas are placed. 1 is being placed",
		},
		"no room": {
			replicas: 3, adapters: two, pods: []string{"0 @a-0", "1 refused age=2s", "2 refused age=3s"},
			edit: func(o *observation) { o.takenByOthers(map[string]int64{"a-0": 1, "a-1": 2}) },
			want: `NoRoom: 1 of 3 vreplicas are placed. 2 wait for room: in AdapterPool "a", 4 of 4 are in use on 2 adapters. ` +
				"The scheduler says of x-vreplica-2: no adapter for x-vreplica-2",
		},
		"no room, and what is in the way": {
			replicas: 1, adapters: append([]string{"a-2 cordoned", "a-3 tainted", "a-4 unready room=1"}, two...), pods: []string{"0 refused"},
			edit: func(o *observation) {
				o.takenByOthers(map[string]int64{"a-0": 2, "a-1": 2, "a-4": 1})
				o.census.homeless = []string{"s-5", "s-6"}
			},
			want: `NoRoom: 0 of 1 vreplicas are placed. 1 waits for room: in AdapterPool "a", 5 of 5 are in use on 3 adapters; ` +
				"2 more are cordoned or tainted; without a host: s-5, s-6. The scheduler says of x-vreplica-0: no adapter for x-vreplica-0",
		},
		"no room, and the pool may not grow": {
			replicas: 1, adapters: two[:1], pods: []string{"0 refused"},
			edit: func(o *observation) {
				o.takenByOthers(map[string]int64{"a-0": 2})
				o.pool = poolA(sizedBy(v1alpha1.ReasonMaxReplicas))
			},
			want: `NoRoom: 0 of 1 vreplicas are placed. 1 waits for room: in AdapterPool "a", 2 of 2 are in use on 1 adapter; its maxReplicas, ` +
				"which is 6, allows no more. The scheduler says of x-vreplica-0: no adapter for x-vreplica-0",
		},
		"what terminates holds its room": {
			replicas: 2, adapters: two[:1], pods: []string{"0 @a-0", "1 @a-0 terminating", "2 refused"},
			want: `NoRoom: 1 of 2 vreplicas are placed. 1 waits for room: in AdapterPool "a", 2 of 2 are in use on 1 adapter. ` +
				"The scheduler says of x-vreplica-2: no adapter for x-vreplica-2",
		},
		"C18: the limit": {
			replicas: 5, limit: 2, adapters: append([]string{"a-2"}, two...), pods: []string{"0 @a-0", "1 @a-0", "2 @a-1", "3 @a-1", "4 refused"},
			want: "AdapterLimit: 4 of 5 vreplicas are placed. 1 waits because of the adapter limit: spec.maxAdapters is 2, and the " +
				"adapters in use have no room (s-0, s-1). More adapters would not help",
		},
		"the limit, and one in use is cordoned": {
			replicas: 3, limit: 2, adapters: []string{"a-0 room=1", "a-1 cordoned", "a-2"}, pods: []string{"0 @a-0", "1 @a-1", "2 refused"},
			want: "AdapterLimit: 2 of 3 vreplicas are placed. 1 waits because of the adapter limit: spec.maxAdapters is 2, and the " +
				"adapters in use have no room (s-0, s-1). More adapters would not help",
		},
		"below the limit more adapters would help": {
			replicas: 3, limit: 2, adapters: two[:1], pods: []string{"0 @a-0", "1 @a-0", "2 refused"},
			want: `NoRoom: 2 of 3 vreplicas are placed. 1 waits for room: in AdapterPool "a", 2 of 2 are in use on 1 adapter. ` +
				"The scheduler says of x-vreplica-2: no adapter for x-vreplica-2",
		},
		"at the limit with room in use": {
			replicas: 3, limit: 1, adapters: two, pods: []string{"0 @a-0", "1 refused", "2 refused"},
			want: "Scheduling: 1 of 3 vreplicas are placed. 2 are being placed, on 1 adapter with room. " +
				"The scheduler says of x-vreplica-1: no adapter for x-vreplica-1",
		},
		"above the limit": {
			replicas: 2, limit: 1, adapters: two, pods: []string{"0 @a-0 ready", "1 @a-1 ready"},
			want: "AllScheduled: 2 of 2 vreplicas are placed. 2 adapters serve it, more than spec.maxAdapters, which is 1: what is placed stays",
		},
		"the pool is being deleted": {
			replicas: 1, adapters: two, pods: []string{"0 refused"}, edit: func(o *observation) { o.pool.DeletionTimestamp = &metav1.Time{Time: noon} },
			want: `PoolNotReady: 0 of 1 vreplicas are placed. AdapterPool "a" is being deleted, and takes no more vreplicas`,
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
			if tc.edit != nil {
				tc.edit(&o)
			}
			c := o.scheduled(o.tally())
			if got := c.Reason + ": " + c.Message; got != tc.want {
				t.Errorf("says\n%s\nwant\n%s", got, tc.want)
			}
			wantStatus := metav1.ConditionFalse
			if c.Reason == v1alpha1.ReasonAllScheduled {
				wantStatus = metav1.ConditionTrue
			}
			if c.Status != wantStatus || c.Type != v1alpha1.ConditionScheduled {
				t.Errorf("condition %s is %s, want %s", c.Type, c.Status, wantStatus)
			}
		})
	}
}

// sizedBy is the reason that an autoscaled pool gives for its size.
func sizedBy(reason string) func(*v1alpha1.AdapterPool) {
	return func(p *v1alpha1.AdapterPool) {
		p.Spec.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 6}
		p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionScaled, Reason: reason}}
	}
}

func TestOutlook_G9(t *testing.T) {
	for reason, want := range map[string]string{
		v1alpha1.ReasonWantedSize:       "",
		v1alpha1.ReasonMaxReplicas:      "; its maxReplicas, which is 6, allows no more",
		v1alpha1.ReasonAutoscalingOff:   "; its autoscaling is off",
		v1alpha1.ReasonScalingUp:        "; more adapters were asked for",
		v1alpha1.ReasonStatefulSetStuck: "; its StatefulSet is stuck, and gets no more",
	} {
		if got := (observation{pool: poolA(sizedBy(reason))}).outlook(); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
	if got := (observation{pool: poolA(func(*v1alpha1.AdapterPool) {})}).outlook(); got != "" {
		t.Errorf("not scaled: %q", got)
	}
}

func TestReady(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas int
		pods     []string
		want     string
	}{
		"all":        {replicas: 2, pods: []string{"0 @a-0 ready", "1 @a-1 ready"}, want: "True AllReady: 2 of 2 vreplicas are on adapters that are ready"},
		"none asked": {replicas: 0, want: "True AllReady: 0 of 0 vreplicas are on adapters that are ready"},
		"not placed": {
			replicas: 3, pods: []string{"0 @a-0 ready", "1 @a-1", "2"},
			want: "False NotScheduled: 1 of 3 vreplicas are on adapters that are ready, 1 is not placed",
		},
		"not ready": {
			replicas: 4, pods: []string{"0 @a-0 ready", "1 @a-1", "2 @a-2", "3 @a-1"},
			want: "False AdaptersNotReady: 1 of 4 vreplicas are on adapters that are ready; not ready: s-1, s-2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(xVPod(tc.replicas), adapterNodes(threeAdapters...), tc.pods...)
			c := o.readiness(o.tally())
			if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message); got != tc.want {
				t.Errorf("says\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestListEndsSomewhere(t *testing.T) {
	names := strings.Fields("a b c d e f g h i j k l")
	if got, want := wording.List(names, mostNames), "a, b, c, d, e, f, g, h, i, j and 2 more"; got != want {
		t.Errorf("list %q, want %q", got, want)
	}
	if got := wording.List(names[:2], mostNames); got != "a, b" {
		t.Errorf("list %q", got)
	}
}

func TestWake(t *testing.T) {
	for name, tc := range map[string]struct {
		pods []string
		want string
	}{
		"nobody waits":          {pods: []string{"0 @a-0 age=1s"}, want: "0s"},
		"the first to go stale": {pods: []string{"0 age=10s", "1 age=25s", "2 age=60s"}, want: "35s"},
		"all are stale":         {pods: []string{"0 age=61s"}, want: "0s"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observed(xVPod(3), nil, tc.pods...).wake().String(); got != tc.want {
				t.Errorf("wakes after %s, want %s", got, tc.want)
			}
		})
	}
}
