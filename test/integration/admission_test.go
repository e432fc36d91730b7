package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

const needsPool = "a pod that requests vpod.dev/vreplicas needs, and keeps, the label vpod.dev/pool"

// refusedWith waits until a request is refused with these words: a new policy is in force a little after it was applied.
func refusedWith(t *testing.T, words string, request func(context.Context) error) {
	t.Helper()
	err := lab.Wait(labtest.TimeLimit(t), "the request is refused", func(ctx context.Context) error {
		err := request(ctx)
		if err == nil {
			return errors.New("it is not")
		}
		if !strings.Contains(err.Error(), words) {
			return fmt.Errorf("it is refused with %w, want %q", err, words)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The controller guards the pods that have the label, so none that takes room may be without.
func TestG1_NoVreplicaEscapesTheGuard(t *testing.T) {
	t.Parallel()
	p := newPool(t, sharedLab(t))
	pods := p.Client().CoreV1().Pods(p.name)
	dryRun := []string{metav1.DryRunAll}
	for name, edit := range map[string]func(*corev1.Pod){
		"no labels":            withoutLabels,
		"an empty label":       func(pod *corev1.Pod) { pod.Labels[v1alpha1.LabelPool] = "" },
		"bound by hand":        all(withoutLabels, func(pod *corev1.Pod) { pod.Spec.NodeName = "any" }),
		"in an init container": all(withoutLabels, initially),
	} {
		t.Run(name, func(t *testing.T) {
			refusedWith(t, needsPool, func(ctx context.Context) error {
				pod := p.vpod("x").Pod(0)
				edit(pod)
				_, err := pods.Create(ctx, pod, metav1.CreateOptions{DryRun: dryRun})
				return err
			})
		})
	}
	p.grow(p.vpod("plain"), 1, all(withoutLabels, requestingNothing))

	pod := p.grow(p.vpod("x"), 1)[0]
	patch := func(ctx context.Context, value any, subresources ...string) error {
		data := encode(t, object{"metadata": object{"labels": object{v1alpha1.LabelPool: value}}})
		_, err := pods.Patch(ctx, pod.Name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
		return err
	}
	refusedWith(t, needsPool, func(ctx context.Context) error { return patch(ctx, nil) })
	if err := patch(t.Context(), "other"); err != nil {
		t.Errorf("changing the pool: %v", err)
	}
	// One that is older than the policy can still be changed, or its finalizers would never go.
	if err := patch(t.Context(), nil, "status"); err != nil {
		t.Fatal(err)
	}
	p.patchPod(pod.Name, metadata("annotations", "changed", "yes"))
}

// initially moves the request to an init container.
func initially(pod *corev1.Pod) {
	pod.Spec.InitContainers = []corev1.Container{*pod.Spec.Containers[0].DeepCopy()}
	pod.Spec.InitContainers[0].Name = "init"
	requestingNothing(pod)
}

// Preemption needs the right to delete pods and to write their status, of which RBAC cannot say whose.
func TestG8_TheSchedulerMayNotTouchForeignPods(t *testing.T) {
	t.Parallel()
	p := newPool(t, sharedLab(t))
	config, err := p.ServiceAccountConfig(t.Context(), v1alpha1.Namespace, v1alpha1.SchedulerName)
	if err != nil {
		t.Fatal(err)
	}
	account, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	pods := account.CoreV1().Pods(p.name)
	remove := func(ctx context.Context, pod *corev1.Pod) error {
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	}
	write := func(ctx context.Context, pod *corev1.Pod) error {
		data := encode(t, object{"status": object{"nominatedNodeName": "any"}})
		_, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status")
		return err
	}
	const refusal = "is not a placeholder, which has the label vpod.dev/pool; vpod-scheduler may neither preempt it nor change it"

	foreign := p.grow(p.vpod("foreign"), 1, plain)[0]
	refusedWith(t, refusal, func(ctx context.Context) error { return remove(ctx, foreign) })
	refusedWith(t, refusal, func(ctx context.Context) error { return write(ctx, foreign) })
	misled := p.grow(p.vpod("misled"), 1, ordinary)[0] // It names our scheduler, which says in its status what is wrong.
	refusedWith(t, refusal, func(ctx context.Context) error { return remove(ctx, misled) })
	for _, may := range []error{write(t.Context(), misled), remove(t.Context(), p.grow(p.vpod("x"), 1)[0])} {
		if may != nil {
			t.Error(may)
		}
	}
}
