package placeholder

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestRunningPlaceholder(t *testing.T) {
	start := ago(0)
	want := corev1.PodStatus{
		Phase:     corev1.PodRunning,
		StartTime: &start,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(time.Minute)},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: start},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: start},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: start},
		},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "vreplica", Image: "none", Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}},
		}},
	}
	pod := bound("a", time.Minute)
	if diff := cmp.Diff(want, run(pod, kafka1(1).node, now)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// A placeholder that somebody bound by nodeName has no condition of a scheduler.
func TestBoundByHandIsScheduled(t *testing.T) {
	pod := bound("a", time.Minute)
	pod.Status.Conditions = nil
	status := run(pod, kafka1(1).node, now)
	want := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(0)}
	if diff := cmp.Diff(want, status.Conditions[0]); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
}

func TestReadinessFollowsTheAdapter(t *testing.T) {
	const since = time.Hour
	notReady := readyIs(kafka1(1), corev1.ConditionFalse).node
	pod := running("a", since)
	pod.Status = run(pod, notReady, now)
	want := corev1.PodCondition{
		Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(0),
		Reason: v1alpha1.PodAdapterNotReady, Message: "adapter kafka-1 is not ready; its node says why",
	}
	if diff := cmp.Diff(want, pod.Status.Conditions[3]); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	c := pod.Status.ContainerStatuses[0]
	if pod.Status.Phase != corev1.PodRunning || c.Ready || c.State.Running == nil || *pod.Status.StartTime != ago(since) {
		t.Errorf("want it to run as before, but not ready: %+v", pod.Status)
	}

	later := now.Add(time.Minute)
	pod.Status = run(pod, kafka1(1).node, later)
	if c := pod.Status.Conditions[3]; c.Status != corev1.ConditionTrue || c.Reason != "" || !c.LastTransitionTime.Time.Equal(later) {
		t.Errorf("want it ready again since %s: %+v", later, c)
	}
}

func TestRejectedPlaceholder(t *testing.T) {
	for name, pod := range map[string]*corev1.Pod{"newly bound": bound("a", 0), "running": running("a", time.Hour)} {
		t.Run(name, func(t *testing.T) {
			wasRunning := pod.Status.Phase == corev1.PodRunning
			status := reject(pod, v1alpha1.PodOutOfVReplicas, "no room", now).status
			if status.Phase != corev1.PodFailed || status.Reason != v1alpha1.PodOutOfVReplicas || status.Message != "no room" {
				t.Errorf("status %+v", status)
			}
			for _, c := range status.Conditions {
				isReadiness := c.Type == corev1.PodReady || c.Type == corev1.ContainersReady
				if isReadiness == (c.Status == corev1.ConditionTrue) {
					t.Errorf("condition %+v", c)
				}
			}
			if wasRunning != (len(status.ContainerStatuses) == 1 && status.ContainerStatuses[0].State.Terminated != nil) {
				t.Errorf("containers %+v", status.ContainerStatuses)
			}
		})
	}
}

func TestWhichChangesOfANodeMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		is   *corev1.Node
		want bool
	}{
		"nothing":   {is: kafka1(2).node},
		"readiness": {is: readyIs(kafka1(2), corev1.ConditionUnknown).node, want: true},
		"capacity":  {is: kafka1(1).node, want: true},
		"cordon":    {is: cordoned(kafka1(2)).node, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nodeMatters(kafka1(2).node, tc.is); got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
}
