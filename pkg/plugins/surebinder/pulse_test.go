package surebinder

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestPulse(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPulse(func() time.Time { return now })
	for i, step := range []struct {
		after time.Duration
		want  bool
	}{
		{beat, false}, {longPause, false}, {beat, false},
		{longPause + 1, true}, {recovery/2 - 1, true}, {recovery / 2, true}, {1, false},
		{20 * time.Second, true}, {longPause, true}, {longPause, false},
	} {
		now = now.Add(step.after)
		if got := p.recovering(); got != step.want {
			t.Errorf("step %d, %v later: recovering %v, want %v", i, step.after, got, step.want)
		}
	}
}

// G1: a leader that stood still does not bind what it decided before.
func TestG1_NothingIsBoundAfterALongPause(t *testing.T) {
	now := time.Unix(1000, 0)
	client := fake.NewClientset()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x", UID: "first"}}
	client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	b := &SureBinder{client: client, pauses: wait.Backoff{Steps: 1}, pulse: newPulse(func() time.Time { return now })}
	now = now.Add(time.Minute)
	status := b.Bind(t.Context(), nil, pod, "a-0")
	if status.IsSuccess() || len(client.Actions()) != 0 {
		t.Errorf("bound with status %v and %d requests, want a refusal without any", status, len(client.Actions()))
	}
	now = now.Add(time.Second)
	b.pulse.recovering()
	now = now.Add(time.Second)
	b.pulse.recovering()
	now = now.Add(time.Second)
	b.Bind(t.Context(), nil, pod, "a-0")
	if len(client.Actions()) == 0 {
		t.Error("nothing is bound after the recovery")
	}
}
