package pool

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

var (
	now     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	earlier = metav1.NewTime(now.Add(-time.Hour))
)

// situation is a pool "kafka" of the StatefulSet "ns/dispatcher", with all that can be said of it.
type situation struct {
	state
}

// settled has n adapters that are ready, each with room for 10.
func settled(n int) *situation {
	pool := &v1alpha1.AdapterPool{
		ObjectMeta: metav1.ObjectMeta{Name: "kafka", UID: "kafka", Generation: 7},
		Spec: v1alpha1.AdapterPoolSpec{
			StatefulSetRef: v1alpha1.StatefulSetReference{Namespace: "ns", Name: "dispatcher"}, Capacity: 10,
		},
	}
	s := &situation{state{now: now, pool: pool, holder: pool, set: &appsv1.StatefulSet{
		Spec: appsv1.StatefulSetSpec{PodManagementPolicy: appsv1.ParallelPodManagement},
	}}}
	for i := range n {
		id := adapter.ID{Pool: "kafka", Ordinal: i}
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: id.NodeName(), Labels: map[string]string{v1alpha1.LabelHost: fmt.Sprint("host-", i)}},
			Spec:       corev1.NodeSpec{ProviderID: id.ProviderID()},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("10")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		}
		s.nodes, s.members = append(s.nodes, node), append(s.members, member{id: id, node: node})
	}
	return s
}

// place makes vreplicas of a vpod, on an adapter or waiting ("").
func (s *situation) place(vpod, node string, n int) *situation {
	for i := range n {
		s.placeholders = append(s.placeholders, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "team", Name: fmt.Sprint(vpod, "-vreplica-", len(s.placeholders), i),
				Labels: map[string]string{v1alpha1.LabelVPod: vpod, v1alpha1.LabelPool: "kafka"},
			},
			Spec: corev1.PodSpec{NodeName: node, Containers: requestsOne()},
		})
		if node == "" {
			s.lastPod().Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
			}
		}
	}
	return s
}

func (s *situation) lastPod() *corev1.Pod { return s.placeholders[len(s.placeholders)-1] }

func (s *situation) deleted() *situation {
	s.pool.DeletionTimestamp = &earlier
	return s
}

// unready has an adapter not be ready for a reason.
func (s *situation) unready(ordinal int, why string) *situation {
	s.nodes[ordinal].Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "AdapterNotReady", Message: why, LastTransitionTime: earlier,
	}}
	return s
}

// nodeless leaves of an adapter its pod alone, or nothing.
func (s *situation) nodeless(ordinal int, pod *corev1.Pod) *situation {
	s.members[ordinal].node, s.members[ordinal].pod = nil, pod
	s.nodes = append(s.nodes[:ordinal], s.nodes[ordinal+1:]...)
	return s
}

// change is for the one thing that a case is about.
func (s *situation) change(edit func(*situation)) *situation {
	edit(s)
	return s
}

// takenBy has another's node in the place of a virtual node.
func (s *situation) takenBy(ordinal int, providerID string) *situation {
	name := s.members[ordinal].id.NodeName()
	s.nodeless(ordinal, nil)
	s.members[ordinal].node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: providerID}}
	return s
}

func TestReady(t *testing.T) {
	waiting := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available: 3 Insufficient cpu.",
	}}}}
	for name, tc := range map[string]struct {
		s           *situation
		wantReason  string // none: the condition is true
		wantMessage string
	}{
		"all ready": {s: settled(3), wantMessage: "all adapters are ready"},
		"cordoned": {
			s:           settled(3).change(func(s *situation) { s.nodes[1].Spec.Unschedulable = true }),
			wantMessage: "all adapters are ready; 1 of 3 take no more vreplicas, because they are cordoned",
		},
		"a node that is leaving does not count": {
			s: settled(2).change(func(s *situation) { s.members = s.members[:1]; s.unready(1, "gone") }), wantMessage: "all adapters are ready",
		},
		"no StatefulSet": {
			s:          settled(0).change(func(s *situation) { s.set = nil }),
			wantReason: v1alpha1.ReasonStatefulSetNotFound, wantMessage: "there is no StatefulSet ns/dispatcher",
		},
		"StatefulSet on its way out": {
			s:          settled(0).change(func(s *situation) { s.set.DeletionTimestamp = &earlier }),
			wantReason: v1alpha1.ReasonStatefulSetNotFound, wantMessage: "StatefulSet ns/dispatcher is being deleted",
		},
		"no replicas": {
			s:          settled(0),
			wantReason: v1alpha1.ReasonNoAdapters, wantMessage: "StatefulSet ns/dispatcher has no replicas; scale it up",
		},
		"an older pool": {
			s: settled(0).change(func(s *situation) {
				s.holder = &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: "older", UID: "older"}}
			}),
			wantReason:  v1alpha1.ReasonStatefulSetTaken,
			wantMessage: "AdapterPool older has StatefulSet ns/dispatcher; delete one of the two",
		},
		"an older pool, and no StatefulSet": {
			s: settled(0).change(func(s *situation) {
				s.holder, s.set = &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: "older", UID: "older"}}, nil
			}),
			wantReason:  v1alpha1.ReasonStatefulSetTaken,
			wantMessage: "AdapterPool older has StatefulSet ns/dispatcher; delete one of the two",
		},
		"a node name taken": {
			s:          settled(2).takenBy(1, "aws:///1"),
			wantReason: v1alpha1.ReasonNodeNameTaken,
			wantMessage: "1 adapter has the name of a node that is not this pool's, so the adapter is out of use; remove the node, or " +
				"create an AdapterPool with another name instead: kafka-1",
		},
		"a node name taken by the virtual node of a pool kafka-1 with ordinal 1": {
			s:          settled(2).takenBy(1, v1alpha1.ProviderID("kaf", 1)).unready(0, "x"),
			wantReason: v1alpha1.ReasonNodeNameTaken,
			wantMessage: "1 adapter has the name of a node that is not this pool's, so the adapter is out of use; remove the node, or " +
				"create an AdapterPool with another name instead: kafka-1",
		},
		"not ready": {
			s:           settled(3).unready(1, "adapter pod ns/dispatcher-1 is not ready"),
			wantReason:  v1alpha1.ReasonAdaptersNotReady,
			wantMessage: "1 of 3 adapters are not ready: dispatcher-1 (adapter pod ns/dispatcher-1 is not ready, not ready since 2026-03-01T11:00:00Z)",
		},
		"its host is silent": {
			s: settled(1).unready(0, "adapter pod ns/dispatcher-0 is not ready").change(func(s *situation) {
				s.nodes[0].Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonHostNotReady}
			}),
			wantReason: v1alpha1.ReasonAdaptersNotReady,
			wantMessage: "1 of 1 adapters are not ready: dispatcher-0 (its host host-0 is not ready; adapter pod ns/dispatcher-0 is not ready, " +
				"not ready since 2026-03-01T11:00:00Z)",
		},
		"nothing known": {
			s:          settled(1).change(func(s *situation) { s.nodes[0].Status.Conditions = nil }),
			wantReason: v1alpha1.ReasonAdaptersNotReady, wantMessage: "1 of 1 adapters are not ready: dispatcher-0 (its state is unknown)",
		},
		"a condition without words": {
			s:           settled(1).unready(0, ""),
			wantReason:  v1alpha1.ReasonAdaptersNotReady,
			wantMessage: "1 of 1 adapters are not ready: dispatcher-0 (AdapterNotReady, not ready since 2026-03-01T11:00:00Z)",
		},
		"C9: no host": {
			s:           settled(3).nodeless(2, waiting),
			wantReason:  v1alpha1.ReasonAdaptersNotReady,
			wantMessage: "1 of 3 adapters are not ready: dispatcher-2 (no host: 0/3 nodes are available: 3 Insufficient cpu.)",
		},
		"no host, nobody says why": {
			s:          settled(1).nodeless(0, &corev1.Pod{}),
			wantReason: v1alpha1.ReasonAdaptersNotReady, wantMessage: "1 of 1 adapters are not ready: dispatcher-0 (no host)",
		},
		"no pod": {
			s:          settled(1).nodeless(0, nil),
			wantReason: v1alpha1.ReasonAdaptersNotReady, wantMessage: "1 of 1 adapters are not ready: dispatcher-0 (there is no such pod)",
		},
		"a host, but no node yet": {
			s:           settled(1).nodeless(0, &corev1.Pod{Spec: corev1.PodSpec{NodeName: "host"}}),
			wantReason:  v1alpha1.ReasonAdaptersNotReady,
			wantMessage: "1 of 1 adapters are not ready: dispatcher-0 (its virtual node is about to be made)",
		},
		"deleted": {
			s:          settled(2).place("a", "kafka-0", 6).place("b", "kafka-1", 5).place("c", "kafka-1", 1).place("d", "", 3).deleted(),
			wantReason: v1alpha1.ReasonDeletedInUse,
			wantMessage: "12 vreplicas of 3 vpods are still placed; scale them down or delete them: " +
				"team/a, team/b, team/c",
		},
		"deleted, one left": {
			s:          settled(2).place("a", "kafka-0", 1).deleted(),
			wantReason: v1alpha1.ReasonDeletedInUse, wantMessage: "1 vreplica of 1 vpod is still placed; scale them down or delete them: team/a",
		},
		"deleted, empty": {
			s:          settled(2).place("a", "", 1).deleted(),
			wantReason: v1alpha1.ReasonDeletedInUse, wantMessage: "2 virtual nodes are to be removed",
		},
		"deleted, and without its StatefulSet": {
			s:          settled(1).place("a", "kafka-0", 2).deleted().change(func(s *situation) { s.set, s.members = nil, nil }),
			wantReason: v1alpha1.ReasonDeletedInUse, wantMessage: "2 vreplicas of 1 vpod are still placed; scale them down or delete them: team/a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := metav1.Condition{
				Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: tc.wantReason, Message: tc.wantMessage,
				ObservedGeneration: 7, LastTransitionTime: metav1.NewTime(now),
			}
			if tc.wantReason == "" {
				want.Status, want.Reason = metav1.ConditionTrue, v1alpha1.ReasonAdaptersReady
			}
			got := meta.FindStatusCondition(status(tc.s.state, tc.s.count(), now).Conditions, v1alpha1.ConditionReady)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	type counts struct{ Adapters, Ready, Capacity, Used, Waiting int64 }
	for name, tc := range map[string]struct {
		s    *situation
		want counts
	}{
		"none":                             {s: settled(0)},
		"placed and waiting":               {s: settled(2).place("a", "kafka-1", 3).place("b", "", 2), want: counts{2, 2, 20, 3, 2}},
		"spares of moves wait for nothing": {s: scaledPool(1).vpod("a", 2, 2, 2), want: counts{1, 1, 10, 2, 0}},
		"some are spare, others wait":      {s: scaledPool(1).vpod("a", 3, 2, 2), want: counts{1, 1, 10, 2, 1}},
		"without autoscaling": {
			s:    scaledPool(1).vpod("a", 2, 2, 2).change(func(s *situation) { s.pool.Spec.Autoscaling = nil }),
			want: counts{1, 1, 10, 2, 0},
		},
		"one that leaves is replaced": {
			s:    scaledPool(1).vpod("a", 2, 1, 2).change(func(s *situation) { s.placeholders[0].DeletionTimestamp = &earlier }),
			want: counts{1, 1, 10, 2, 1},
		},
		"not ready keeps its capacity": {s: settled(2).unready(0, "x"), want: counts{2, 1, 20, 0, 0}},
		"cordoned has none": {
			s:    settled(2).place("a", "kafka-0", 3).change(func(s *situation) { s.nodes[0].Spec.Unschedulable = true }),
			want: counts{2, 2, 10, 3, 0},
		},
		"the capacity is the node's, not yet that of the spec": {
			s: settled(2).change(func(s *situation) { s.pool.Spec.Capacity = 5 }), want: counts{2, 2, 20, 0, 0},
		},
		"finished": {
			s:    settled(1).place("a", "kafka-0", 1).change(func(s *situation) { s.lastPod().Status.Phase = corev1.PodFailed }),
			want: counts{1, 1, 10, 0, 0},
		},
		"leaving holds its room": {
			s:    settled(1).place("a", "kafka-0", 1).change(func(s *situation) { s.lastPod().DeletionTimestamp = &earlier }),
			want: counts{1, 1, 10, 1, 0},
		},
		"leaving does not wait": {
			s:    settled(1).place("a", "", 1).change(func(s *situation) { s.lastPod().DeletionTimestamp = &earlier }),
			want: counts{1, 1, 10, 0, 0},
		},
		"on a node that is gone":        {s: settled(1).place("a", "kafka-7", 1), want: counts{1, 1, 10, 0, 0}},
		"on the node of another pool":   {s: settled(1).place("a", "other-0", 1), want: counts{1, 1, 10, 0, 0}},
		"on a node that is leaving":     {s: settled(2).place("a", "kafka-1", 1).change(func(s *situation) { s.members = s.members[:1] }), want: counts{2, 2, 20, 1, 0}},
		"a foreign node is not counted": {s: settled(2).takenBy(1, "").place("a", "kafka-1", 1), want: counts{1, 1, 10, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			got := status(tc.s.state, tc.s.count(), now)
			is := counts{int64(got.Adapters), int64(got.ReadyAdapters), got.Capacity, got.Used, got.Waiting}
			if diff := cmp.Diff(tc.want, is); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if got.ObservedGeneration != 7 {
				t.Errorf("it is about generation %d, want 7", got.ObservedGeneration)
			}
		})
	}
}

// C22.
func TestC22_ParallelPodManagement(t *testing.T) {
	for name, tc := range map[string]struct {
		s    *situation
		want metav1.ConditionStatus // none: no condition
		says string
	}{
		"Parallel":       {s: settled(1), want: metav1.ConditionTrue, says: "independently"},
		"OrderedReady":   {s: settled(1).change(func(s *situation) { s.set.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement }), want: metav1.ConditionFalse, says: "create it again with Parallel"},
		"no StatefulSet": {s: settled(0).change(func(s *situation) { s.set = nil })},
		"no more": {s: settled(0).change(func(s *situation) {
			s.pool.Status = status(s.state, s.count(), now)
			s.set = nil
		})},
	} {
		t.Run(name, func(t *testing.T) {
			got := meta.FindStatusCondition(status(tc.s.state, tc.s.count(), now).Conditions, v1alpha1.ConditionParallelPodManagement)
			if (got == nil) != (tc.want == "") || got != nil && (got.Status != tc.want || !strings.Contains(got.Message, tc.says)) {
				t.Errorf("got %+v, want %s that says %q", got, tc.want, tc.says)
			}
		})
	}
}

// The same state has the same status, or each look would cause the next.
func TestStatusSettles(t *testing.T) {
	s := settled(3).unready(1, "x").place("b", "kafka-0", 1).place("a", "kafka-0", 1)
	first := status(s.state, s.count(), now)
	if s.pool.Status.Conditions != nil {
		t.Fatal("the pool was changed")
	}
	s.pool.Status = first
	if diff := cmp.Diff(first, status(s.state, s.count(), now.Add(time.Hour))); diff != "" {
		t.Errorf("an hour later (-want +got):\n%s", diff)
	}
	s.nodes[1].Status.Conditions[0].Status = corev1.ConditionTrue
	later := meta.FindStatusCondition(status(s.state, s.count(), now.Add(time.Hour)).Conditions, v1alpha1.ConditionReady)
	if later.Status != metav1.ConditionTrue || !later.LastTransitionTime.Time.Equal(now.Add(time.Hour)) {
		t.Errorf("got %+v, want a transition", later)
	}
}

// An event holds 1,024 bytes, and who reads it wants the names.
func TestMessagesAreShort(t *testing.T) {
	s := settled(2000)
	s.pool.Spec.StatefulSetRef.Name = strings.Repeat("s", 52)
	for i := range s.nodes {
		s.unready(i, strings.Repeat("ä", 500))
	}
	message := meta.FindStatusCondition(status(s.state, s.count(), now).Conditions, v1alpha1.ConditionReady).Message
	if !strings.HasPrefix(message, "2000 of 2000 adapters are not ready: ssss") || !strings.HasSuffix(message, " and 1995 more") {
		t.Errorf("it says %q", message)
	}
}

func TestTenants(t *testing.T) {
	controlled := func(kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID(name), Controller: new(true)}}
	}
	pod := func(name string, labels map[string]string, owners []metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels, OwnerReferences: owners},
			Spec:       corev1.PodSpec{NodeName: "kafka-0"},
		}
	}
	s := settled(1)
	s.placeholders = []*corev1.Pod{
		pod("1", map[string]string{v1alpha1.LabelVPod: "z"}, controlled("VPod", "z")),
		pod("2", map[string]string{v1alpha1.LabelVPod: "z"}, nil),
		pod("3", nil, controlled("ReplicaSet", "plain")),
		pod("alone", nil, nil),
	}
	if diff := cmp.Diff([]string{"ns/alone", "ns/plain", "ns/z"}, s.load().tenants); diff != "" {
		t.Errorf("tenants (-want +got):\n%s", diff)
	}
}
