package placeholder

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// now is when every test decides; durations below are counted back from it.
var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// kafka1 is an adapter that is ready, with the placeholders given.
func kafka1(capacity int64, placeholders ...*corev1.Pod) adapterState {
	return adapterState{
		id: adapter.ID{Pool: "kafka", Ordinal: 1},
		node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "kafka-1"},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{v1alpha1.ResourceVReplicas: *resource.NewQuantity(capacity, resource.DecimalSI)},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		},
		placeholders: placeholders,
	}
}

func drained(s adapterState) adapterState {
	s.draining = true
	return s
}

func readyIs(s adapterState, status corev1.ConditionStatus) adapterState {
	s.node.Status.Conditions[0].Status = status
	return s
}

func cordoned(s adapterState) adapterState {
	s.node.Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonDraining}
	return s
}

// bound is a placeholder that was bound so long ago and is not running yet.
func bound(uid string, since time.Duration, edits ...func(*corev1.Pod)) *corev1.Pod {
	one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "tenant", Name: uid, UID: types.UID(uid), CreationTimestamp: ago(since + time.Second),
			Labels: map[string]string{v1alpha1.LabelPool: "kafka"},
		},
		Spec: corev1.PodSpec{NodeName: "kafka-1", Containers: []corev1.Container{
			{Name: "vreplica", Image: "none", Resources: corev1.ResourceRequirements{Requests: one}},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(since)},
		}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

// running is a placeholder that runs since so long ago on an adapter that is ready.
func running(uid string, since time.Duration, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := bound(uid, since)
	pod.Status = run(pod, kafka1(1).node, now.Add(-since))
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

// Edits of a placeholder.
var (
	failed    = func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	succeeded = func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	otherPool = func(p *corev1.Pod) { p.Labels[v1alpha1.LabelPool] = "other" }
	leaving   = func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(ago(0)), new(int64(30))
	}
	confirmed = func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(ago(0)), new(int64(0))
	}
	held           = func(p *corev1.Pod) { p.Finalizers = []string{"example.org/held"} }
	brokenOff      = func(p *corev1.Pod) { confirmed(p); p.DeletionTimestamp = new(ago(brokenOffAge)) }
	markedNotReady = func(p *corev1.Pod) { // by kube-controller-manager
		i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
		p.Status.Conditions[i].Status = corev1.ConditionFalse
	}
)

func size(n int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[v1alpha1.ResourceVReplicas] = *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// summary tells a decision by the names of the pods.
func summary(d decision) []string {
	var lines []string
	for _, pod := range d.gone {
		lines = append(lines, pod.Name+" gone")
	}
	for _, r := range d.rejected {
		lines = append(lines, fmt.Sprintf("%s %s: %s", r.pod.Name, r.status.Reason, r.status.Message))
	}
	for _, c := range d.changed {
		lines = append(lines, fmt.Sprintf("%s %s", c.pod.Name, c.status.Phase))
	}
	if d.after != 0 {
		lines = append(lines, fmt.Sprintf("after %s", d.after))
	}
	slices.Sort(lines)
	return lines
}

func TestDecide(t *testing.T) {
	const minute = time.Minute
	full := func(pod string, free, capacity int) string {
		return fmt.Sprintf("%s OutOfVReplicas: adapter kafka-1 has no room: requested vreplicas: 1, free: %d, capacity: %d", pod, free, capacity)
	}
	for name, tc := range map[string]struct {
		state adapterState
		want  []string
	}{
		"nobody":                  {state: kafka1(3)},
		"settled":                 {state: kafka1(3, running("a", minute), running("b", minute))},
		"newly bound":             {state: kafka1(3, running("a", minute), bound("b", 0)), want: []string{"b Running"}},
		"adapter not ready":       {state: readyIs(kafka1(3, running("a", minute), bound("b", 0)), corev1.ConditionFalse), want: []string{"a Running", "b Running"}},
		"unknown changes nothing": {state: readyIs(kafka1(3, running("a", minute), bound("b", 0)), corev1.ConditionUnknown)},
		"C45: repaired":           {state: kafka1(3, running("a", minute, markedNotReady)), want: []string{"a Running"}},
		"C45: not while unknown":  {state: readyIs(kafka1(3, running("a", minute, markedNotReady)), corev1.ConditionUnknown)},
		"finished ones stay":      {state: kafka1(0, running("a", minute, failed), bound("b", 0, succeeded), bound("c", 0, failed))},

		"C3: bound beyond the capacity":     {state: kafka1(1, running("a", minute), bound("b", 0)), want: []string{full("b", 0, 1)}},
		"C3: two at once, the later goes":   {state: kafka1(1, bound("a", 2*minute), bound("b", minute)), want: []string{"a Running", full("b", 0, 1)}},
		"C3: at the same time, by UID":      {state: kafka1(1, bound("b", minute), bound("a", minute)), want: []string{"a Running", full("b", 0, 1)}},
		"admitted before bound earlier":     {state: kafka1(1, running("a", minute), bound("b", 2*minute)), want: []string{full("b", 0, 1)}},
		"C8: capacity lowered, newest go":   {state: kafka1(2, running("a", 3*minute), running("b", minute), running("c", 2*minute)), want: []string{full("b", 0, 2)}},
		"capacity 0":                        {state: kafka1(0, running("a", minute)), want: []string{full("a", 0, 0)}},
		"finished ones hold nothing":        {state: kafka1(1, running("a", minute, failed), bound("b", 0)), want: []string{"b Running"}},
		"leaving ones hold their room":      {state: kafka1(1, running("a", minute, confirmed), bound("b", 0)), want: []string{"after 2s", full("b", 0, 1)}},
		"leaving ones cannot fail":          {state: kafka1(0, running("a", minute, confirmed)), want: []string{"after 2s"}},
		"of another pool":                   {state: kafka1(3, bound("a", 0, otherPool)), want: []string{"a OtherPool: the pod is for adapters of pool other, and was bound to kafka-1"}},
		"of another pool takes no room":     {state: kafka1(1, bound("a", minute, otherPool), bound("b", 0)), want: []string{"a OtherPool: the pod is for adapters of pool other, and was bound to kafka-1", "b Running"}},
		"of another pool, unless finished":  {state: kafka1(3, bound("a", 0, otherPool, failed))},
		"a larger one goes, a smaller fits": {state: kafka1(3, running("a", 3*minute, size(2)), bound("b", 2*minute, size(2)), bound("c", minute)), want: []string{"b OutOfVReplicas: adapter kafka-1 has no room: requested vreplicas: 2, free: 1, capacity: 3", "c Running"}},

		"draining: what is served goes on": {state: drained(kafka1(3, running("a", minute), running("b", minute, markedNotReady))), want: []string{"b Running"}},
		"draining: who comes late is failed": {
			state: drained(kafka1(3, running("a", minute), bound("b", 0))),
			want:  []string{"b AdapterDraining: adapter kafka-1 takes no more vreplicas, because AdapterPool kafka is about to do without it"},
		},
		"draining: also while nothing is known of it": {
			state: drained(readyIs(kafka1(3, running("a", minute), bound("b", 0)), corev1.ConditionUnknown)),
			want:  []string{"b AdapterDraining: adapter kafka-1 takes no more vreplicas, because AdapterPool kafka is about to do without it"},
		},
		"draining: capacity lowered as well": {state: drained(kafka1(1, running("a", 2*minute), running("b", minute))), want: []string{full("b", 0, 1)}},
		"draining: who is deleted just goes": {state: drained(kafka1(3, bound("a", 0, leaving))), want: []string{"a gone"}},

		"deleted with time to spare":          {state: kafka1(3, running("a", minute, leaving)), want: []string{"a gone"}},
		"same, while nothing is known":        {state: readyIs(kafka1(3, running("a", minute, leaving)), corev1.ConditionUnknown), want: []string{"a gone"}},
		"same, of another pool":               {state: kafka1(3, running("a", minute, leaving, otherPool)), want: []string{"a gone"}},
		"deleted, a finalizer holds it":       {state: kafka1(3, running("a", minute, brokenOff, held))},
		"deleted at once, as usual":           {state: kafka1(3, running("a", minute, confirmed)), want: []string{"after 2s"}},
		"deleted, and the API server ended":   {state: kafka1(3, running("a", minute, brokenOff)), want: []string{"a gone"}},
		"one of each does not stop the other": {state: kafka1(1, running("a", minute, leaving), bound("b", 0, otherPool), bound("c", 0)), want: []string{"a gone", "b OtherPool: the pod is for adapters of pool other, and was bound to kafka-1", full("c", 0, 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, summary(decide(tc.state, now))); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// C8: a node that does not say what it has room for fails nothing, and lets nothing in.
func TestResourceMissing(t *testing.T) {
	s := kafka1(0, running("a", time.Minute), bound("b", 0), running("c", 0, leaving))
	s.node.Status.Allocatable = nil
	if diff := cmp.Diff([]string{"c gone"}, summary(decide(s, now))); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

func TestDecideChangesNothingThatItIsGiven(t *testing.T) {
	state := func() adapterState {
		return readyIs(kafka1(2, running("a", time.Minute), running("b", time.Minute), bound("c", 0), bound("d", 0, otherPool)), corev1.ConditionFalse)
	}
	s := state()
	decide(s, now)
	if diff := cmp.Diff(state(), s, cmp.AllowUnexported(adapterState{})); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
}

// What is decided is final: decided again on its own outcome, there is nothing left to do, and nothing flaps.
func TestDecisionsSettle(t *testing.T) {
	for i, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue} {
		s := readyIs(kafka1(2, bound("a", time.Minute), bound("b", 0), bound("c", 0), bound("d", 0, otherPool)), status)
		s.draining = i == 2
		for _, pod := range s.placeholders {
			d := decide(s, now)
			for _, c := range d.changed {
				if c.pod == pod {
					pod.Status = c.status
				}
			}
			for _, r := range d.rejected {
				if r.pod == pod {
					pod.Status = r.status
				}
			}
		}
		if got := summary(decide(s, now.Add(time.Minute))); got != nil {
			t.Errorf("ready %s: decided once more: %v", status, got)
		}
	}
}

// C8: capacity lowered while many are bound and few of them run: those are failed first that are served.
func TestServedSurplusIsFailedFirst(t *testing.T) {
	d := decide(kafka1(1, bound("a", 0), running("b", time.Minute), bound("c", 0), running("d", time.Second)), now)
	var order []string
	for _, r := range d.rejected {
		order = append(order, r.pod.Name)
	}
	if diff := cmp.Diff([]string{"d", "a", "c"}, order); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
}
