package placeholder

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// run is the status of a placeholder that its adapter serves. It is ready as the adapter is; when that is unknown, since
// kube-controller-manager missed our heartbeats, it stays what it is, and a placeholder that is new waits.
func run(pod *corev1.Pod, node *corev1.Node, now time.Time) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	is := readiness(node)
	if is == corev1.ConditionUnknown {
		return status
	}
	status.Phase = corev1.PodRunning
	if status.StartTime == nil {
		status.StartTime = &metav1.Time{Time: now}
	}
	ready := corev1.PodCondition{Status: is}
	if is != corev1.ConditionTrue {
		ready.Reason = v1alpha1.PodAdapterNotReady
		// Why, the node says. It may change its mind about that several times in a restart, and there may be thousands of
		// placeholders.
		ready.Message = fmt.Sprintf("adapter %s is not ready; its node says why", node.Name)
	}
	set(&status, corev1.PodScheduled, corev1.PodCondition{Status: corev1.ConditionTrue}, now)
	set(&status, corev1.PodInitialized, corev1.PodCondition{Status: corev1.ConditionTrue}, now)
	set(&status, corev1.ContainersReady, ready, now)
	set(&status, corev1.PodReady, ready, now)
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *status.StartTime}}
	status.ContainerStatuses = containers(pod, running, is == corev1.ConditionTrue)
	return status
}

// readiness is the adapter's, as far as it is known.
func readiness(node *corev1.Node) corev1.ConditionStatus {
	if c := adapter.NodeCondition(node, corev1.NodeReady); c != nil {
		return c.Status
	}
	return corev1.ConditionUnknown
}

// reject fails a placeholder; whoever owns it replaces it.
func reject(pod *corev1.Pod, reason, message string, now time.Time) rejection {
	status := *pod.Status.DeepCopy()
	status.Phase, status.Reason, status.Message = corev1.PodFailed, reason, message
	not := corev1.PodCondition{Status: corev1.ConditionFalse, Reason: reason, Message: message}
	set(&status, corev1.ContainersReady, not, now)
	set(&status, corev1.PodReady, not, now)
	if status.StartTime != nil {
		ended := &corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: reason, Message: message, StartedAt: *status.StartTime, FinishedAt: metav1.NewTime(now),
		}
		status.ContainerStatuses = containers(pod, corev1.ContainerState{Terminated: ended}, false)
	}
	return rejection{
		change: change{pod: pod, status: status}, reason: reason, message: message,
		vreplicas: snapshot.Requested(pod, v1alpha1.ResourceVReplicas),
	}
}

// set makes a condition what it should be; it has changed when its status has.
func set(status *corev1.PodStatus, kind corev1.PodConditionType, want corev1.PodCondition, now time.Time) {
	want.Type, want.LastTransitionTime = kind, metav1.NewTime(now)
	i := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		status.Conditions = append(status.Conditions, want)
		return
	}
	is := &status.Conditions[i]
	if is.Status != want.Status {
		is.LastTransitionTime = want.LastTransitionTime
	}
	is.Status, is.Reason, is.Message = want.Status, want.Reason, want.Message
}

// containers have no image and no process: the state is all that there is to them.
func containers(pod *corev1.Pod, state corev1.ContainerState, ready bool) []corev1.ContainerStatus {
	all := make([]corev1.ContainerStatus, len(pod.Spec.Containers))
	for i, c := range pod.Spec.Containers {
		all[i] = corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, State: *state.DeepCopy(), Ready: ready, Started: new(state.Running != nil),
		}
	}
	return all
}
