package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// promptly is how soon a vreplica has to be bound after the event that helps it. Without a wake-up it would take five
// minutes.
const promptly = 2 * time.Second

// Profiles of the scheduler that TestC36 adds.
const (
	hardZones = "hard-zones"
	twoZones  = "two-zones"
)

// A wakeUp is one event that alone lets a waiting vreplica of vpod x be bound.
type wakeUp struct {
	adapters []lab.Adapter
	// x makes the vpod differ from a plain one; arrange has one vreplica of it wait.
	x       func(*lab.VPod)
	arrange func(*stage)
	event   func(*stage)
	// wantNode is the ordinal of the adapter that it is bound to.
	wantNode int
}

var wakeUps = map[string]wakeUp{
	"a: a vreplica of another vpod leaves a full adapter": {
		adapters: zones(1, "z1"),
		arrange:  func(s *stage) { s.place("other", 0); s.wait() },
		event:    func(s *stage) { s.remove("other") },
	},
	// By adapters only a-2 may take it, by zones only a-1.
	"b: a sibling placed elsewhere relaxes the skew": {
		adapters: zones(9, "z1", "z2", "z1"),
		x:        func(x *lab.VPod) { x.SchedulerName = hardZones },
		arrange:  func(s *stage) { s.place("x", 0, 0, 1); s.wait() },
		event:    func(s *stage) { s.place("x", 2) },
		wantNode: 1,
	},
	"b: a sibling removed relaxes the skew": {
		adapters: zones(9, "z1", "z2", "z1"),
		x:        func(x *lab.VPod) { x.SchedulerName = hardZones },
		arrange:  func(s *stage) { s.place("x", 0, 0, 1); s.wait() },
		event:    func(s *stage) { s.remove("x") },
		wantNode: 2,
	},
	"b: an adapter that another vpod fills no longer holds the others back": {
		adapters: append(zones(9, "z1", "z2"), zones(1, "z1")...),
		x:        func(x *lab.VPod) { x.SchedulerName = hardZones },
		arrange:  func(s *stage) { s.place("x", 0, 0, 1); s.wait() },
		event:    func(s *stage) { s.place("other", 2) },
		wantNode: 1,
	},
	"c: the limit is raised": {
		adapters: zones(1, "z1", "z2", "z3"),
		x:        func(x *lab.VPod) { x.MaxAdapters = 2 },
		arrange:  func(s *stage) { s.place("x", 0, 1); s.wait() },
		event:    func(s *stage) { s.annotate(v1alpha1.AnnotationMaxAdapters, "3") },
		wantNode: 2,
	},
	"c: a malformed limit is corrected": {
		adapters: zones(1, "z1"),
		arrange: func(s *stage) {
			s.wait(func(pod *corev1.Pod) {
				pod.Annotations = map[string]string{v1alpha1.AnnotationMaxAdapters: "x"}
			})
		},
		event: func(s *stage) { s.annotate(v1alpha1.AnnotationMaxAdapters, "1") },
	},
	"d: an adapter appears": {
		adapters: zones(1, "z1"),
		arrange:  func(s *stage) { s.place("other", 0); s.wait() },
		event:    func(s *stage) { s.adapter(lab.Adapter{Ordinal: 1, Capacity: 1}) },
		wantNode: 1,
	},
	"d: the first adapter appears": {
		arrange: func(s *stage) { s.wait() },
		event:   func(s *stage) { s.adapter(lab.Adapter{Capacity: 1}) },
	},
	"e: the capacity is raised": {
		adapters: zones(1, "z1"),
		arrange:  func(s *stage) { s.place("other", 0); s.wait() },
		event:    func(s *stage) { s.capacity(0, "2") },
	},
	"e: a capacity appears": {
		adapters: zones(0, "z1"),
		arrange:  func(s *stage) { s.wait() },
		event:    func(s *stage) { s.capacity(0, "1") },
	},
	"f: an adapter is uncordoned": {
		adapters: zones(1, "z1"),
		arrange:  func(s *stage) { s.cordon(0, true); s.wait() },
		event:    func(s *stage) { s.cordon(0, false) },
	},
	"f: the uncordoned adapter is in a zone that is required": {
		adapters: zones(1, "z1", "z2"),
		x:        func(x *lab.VPod) { x.SchedulerName = twoZones },
		arrange:  func(s *stage) { s.cordon(1, true); s.wait() },
		event:    func(s *stage) { s.cordon(1, false) },
	},
	"a taint is removed": {
		adapters: zones(1, "z1"),
		arrange: func(s *stage) {
			s.taint(0, corev1.Taint{Key: "test.example/closed", Effect: corev1.TaintEffectNoSchedule})
			s.wait()
		},
		event: func(s *stage) { s.taint(0) },
	},
	"the pool label of the vreplica is corrected": {
		adapters: zones(1, "z1"),
		arrange: func(s *stage) {
			s.wait(func(pod *corev1.Pod) { pod.Labels[v1alpha1.LabelPool] = "no-such-pool" })
		},
		event: func(s *stage) { s.label(v1alpha1.LabelPool, s.name) },
	},
	"the ordinal label of an adapter is corrected": {
		adapters: zones(1, "z1"),
		arrange:  func(s *stage) { s.nodeLabel(0, v1alpha1.LabelOrdinal, "x"); s.wait() },
		event:    func(s *stage) { s.nodeLabel(0, v1alpha1.LabelOrdinal, "0") },
	},
	"the elder of two adapters with one ordinal leaves": {
		adapters: zones(1, "z1", "z1"),
		arrange: func(s *stage) {
			s.place("other", 0)
			s.nodeLabel(1, v1alpha1.LabelOrdinal, "0")
			s.wait()
		},
		event:    func(s *stage) { s.nodeLabel(0, v1alpha1.LabelPool, "another") },
		wantNode: 1,
	},
	"the zone label of an adapter is corrected": {
		adapters: zones(1, "z1", "z1"),
		x:        func(x *lab.VPod) { x.SchedulerName = twoZones },
		arrange:  func(s *stage) { s.wait() },
		event:    func(s *stage) { s.nodeLabel(1, corev1.LabelTopologyZone, "z2") },
	},
	// The adapter that it leaves stays full, so that nothing but the limit lets it go to the other.
	"a sibling removed frees the limit": {
		adapters: zones(1, "z1", "z2"),
		x:        func(x *lab.VPod) { x.MaxAdapters = 1 },
		arrange:  func(s *stage) { s.place("x", 0); s.place("other", 0); s.wait() },
		event:    func(s *stage) { s.remove("x") },
		wantNode: 1,
	},
	"a sibling that terminates frees the limit": {
		adapters: zones(1, "z1", "z2"),
		x:        func(x *lab.VPod) { x.MaxAdapters = 1 },
		arrange:  func(s *stage) { s.grow(s.x, 1, s.on(0), withFinalizer); s.wait() },
		event:    func(s *stage) { s.remove("x") },
		wantNode: 1,
	},
	"a sibling that goes to another vpod frees the limit": {
		adapters: zones(1, "z1", "z2"),
		x:        func(x *lab.VPod) { x.MaxAdapters = 1 },
		arrange:  func(s *stage) { s.place("x", 0); s.wait() },
		event:    func(s *stage) { s.give("x", "other") },
		wantNode: 1,
	},
	"an adapter that leaves with its vreplicas frees the limit": {
		adapters: zones(1, "z1", "z2"),
		x:        func(x *lab.VPod) { x.MaxAdapters = 1 },
		arrange:  func(s *stage) { s.place("x", 0); s.wait() },
		event:    func(s *stage) { s.nodeLabel(0, v1alpha1.LabelPool, "another") },
		wantNode: 1,
	},
}

// It is not parallel: what it measures would be the load of the others. Its subtests are.
func TestC36_EachEventAloneWakesWhatItHelpsAndNoOthers(t *testing.T) {
	l := sharedLab(t)
	strict := startProfiles(t, l, map[string][]arguments{
		hardZones: {{"AvailabilityZonePriority", `{"whenUnsatisfiable": "DoNotSchedule"}`}},
		twoZones:  {{"AvailabilityZonePriority", `{"minDomains": 2}`}},
	})
	others := newBystanders(t, strict)
	t.Run("events", func(t *testing.T) {
		for name, tc := range wakeUps {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tc.run(t)
			})
		}
	})
	others.ordinaryPodCameAndWent()
	others.stayed(t)
}

// Such a pod is older than the policy that refuses it. It wakes all pools: an event does not tell which one its node is of.
// Hence it is not among the others.
func TestC36_APodWithoutLabelsThatTookRoomLeaves(t *testing.T) {
	t.Parallel()
	wakeUp{
		adapters: zones(1, "z1"),
		arrange: func(s *stage) {
			s.place("other", 0)
			s.patchPod("other-vreplica-0", object{"metadata": object{"labels": nil}}, "status")
			s.wait()
		},
		event: func(s *stage) { s.remove("other") },
	}.run(t)
}

func (tc wakeUp) run(t *testing.T) {
	s := newStage(t, tc.adapters, tc.x)
	tc.arrange(s)
	ctx, cancel := context.WithTimeoutCause(labtest.TimeLimit(t), promptly, errors.New("it was not bound promptly"))
	defer cancel()
	start := time.Now()
	tc.event(s)
	node := s.bound(ctx, s.waiting)
	t.Logf("bound %s after the event", time.Since(start).Round(time.Millisecond))
	if want := s.node(tc.wantNode); node != want {
		t.Errorf("bound to %s, want %s", node, want)
	}
}
