package lab

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

const pollInterval = 50 * time.Millisecond

// Wait returns when holds returns nil, or with an error once ctx ends. What holds returns says what is missing; the
// last of it is part of the error. A failed API call counts as missing too, so that waiting survives a restart of the
// API server.
func Wait(ctx context.Context, what string, holds func(context.Context) error) error {
	var missing error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		err := holds(ctx)
		if err != nil && ctx.Err() == nil {
			missing = err // Not the context's own end: that hides what was missing before.
		}
		return err == nil, nil
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if missing == nil {
		return fmt.Errorf("waiting until %s: %w", what, err)
	}
	return fmt.Errorf("waiting until %s: %w: %w", what, err, missing)
}

// WaitForPods returns a namespace's pods as soon as holds is content with them, sorted by name.
func (l *Lab) WaitForPods(
	ctx context.Context, namespace string, holds func([]corev1.Pod) error,
) ([]corev1.Pod, error) {
	var pods []corev1.Pod
	err := Wait(ctx, "the pods of "+namespace+" are as wanted", func(ctx context.Context) error {
		list, err := l.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		pods = list.Items
		return holds(pods)
	})
	return pods, err
}

// Scheduled holds when exactly so many pods have a node, and so many more have been refused one.
func Scheduled(bound, refused int) func([]corev1.Pod) error {
	return func(pods []corev1.Pod) error {
		var haveBound, haveRefused int
		for i := range pods {
			switch {
			case pods[i].Spec.NodeName != "":
				haveBound++
			case Reason(&pods[i]) != "":
				haveRefused++
			}
		}
		if haveBound != bound || haveRefused != refused {
			return fmt.Errorf("of %d pods %d have a node and %d are refused one, want %d and %d",
				len(pods), haveBound, haveRefused, bound, refused)
		}
		return nil
	}
}

// Reason is why the pod waits, in its scheduler's words; empty for a pod that has a node or was not tried yet.
func Reason(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}
