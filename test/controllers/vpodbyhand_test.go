package controllers

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// Deleting a VPod takes its placeholders along, whatever state they are in and however it is deleted; a new one of the same
// name starts afresh.
func TestDeletedVPodTakesItsPlaceholdersAlong(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]metav1.DeletionPropagation{
		"in the background": metav1.DeletePropagationBackground, "in the foreground": metav1.DeletePropagationForeground,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newPool(t, 2, "", "")
			p.adapterReady(1, false)
			p.run("x", 6, "2/2+2")
			before := p.uids("x")
			p.must(p.Objects().Delete(t.Context(), p.vpod("x", 0), client.PropagationPolicy(policy)))
			p.eventually("x is gone", func(ctx context.Context) error {
				_, err := p.get(ctx, "x")
				if apierrors.IsNotFound(err) {
					return nil
				}
				return fmt.Errorf("it is there: %v", err)
			})
			p.create(p.vpod("x", 3))
			p.settledOneOf("x", "2/1", "1/2")
			for uid := range p.uids("x") {
				if _, old := before[uid]; old {
					t.Errorf("placeholder %s is still there", uid)
				}
			}
			p.must(p.Objects().Delete(t.Context(), p.vpod("x", 0), client.PropagationPolicy(policy)))
			p.noneLeft("x")
		})
	}
}

// noneLeft waits until the garbage collector has removed the placeholders of a VPod. It looks only twice a minute for kinds
// that are new.
func (p *pool) noneLeft(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 3*labtest.Patience)
	defer cancel()
	p.must(lab.Wait(ctx, "no placeholder is left", func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, name)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("there are %d", len(pods))
		}
		return err
	}))
}

// A VPod that is deleted without its placeholders, and created again, has them as they were.
func TestG4_OrphanedPlaceholdersAreAdopted(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "", "")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	p.must(p.Objects().Delete(t.Context(), p.vpod("x", 0), client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	p.eventually("x is gone", func(ctx context.Context) error {
		if _, err := p.get(ctx, "x"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %v", err)
		}
		return nil
	})
	p.run("x", 5, "3/2")
	p.stayed("x", before)
}

// A namespace with VPods in it can be deleted.
func TestNamespaceCanBeDeleted(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 2, "")
	namespace := p.name + "-tenant"
	p.must(p.CreateNamespace(t.Context(), namespace))
	v := p.vpod("x", 4)
	v.Namespace = namespace
	p.create(v)
	p.eventually("x is placed", func(ctx context.Context) error {
		err := p.Objects().Get(ctx, client.ObjectKeyFromObject(v), v)
		if err == nil && v.Status.ScheduledReplicas != 2 {
			err = fmt.Errorf("status %+v", v.Status)
		}
		return err
	})
	p.must(p.Client().CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}))
	p.eventually("the namespace is gone", func(ctx context.Context) error {
		is, err := p.Client().CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %+v %w", is.Status, err)
	})
}

// What somebody does to placeholders by hand is put right, and nothing else moves.
func TestPlaceholdersChangedByHand(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(p *pool)
		// same: the very placeholder stays.
		same bool
	}{
		"deleted":        {change: func(p *pool) { p.deletePod("x-vreplica-1") }},
		"failed":         {change: func(p *pool) { p.patch("pod", "x-vreplica-1", `{"status":{"phase":"Failed"}}`, "--subresource=status") }},
		"another vpod's": {change: func(p *pool) { p.patch("pod", "x-vreplica-1", `{"metadata":{"labels":{"vpod.dev/vpod":"y"}}}`) }, same: true},
		"nobody's":       {change: func(p *pool) { p.patch("pod", "x-vreplica-1", `{"metadata":{"ownerReferences":null}}`) }, same: true},
		"of another limit": {change: func(p *pool) {
			p.patch("pod", "x-vreplica-1", `{"metadata":{"annotations":{"vpod.dev/max-adapters":"1"}}}`)
		}, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newPool(t, 10, "")
			p.run("x", 3, "3", func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = new(int32(2)) })
			changed, err := p.Client().CoreV1().Pods(p.name).Get(t.Context(), "x-vreplica-1", metav1.GetOptions{})
			p.must(err)
			before := p.uids("x")
			if !tc.same {
				delete(before, changed.UID)
			}
			tc.change(p)
			p.eventually("all is as it was", func(ctx context.Context) error { return p.isWhole(ctx, changed.UID, tc.same) })
			p.settled("x", "3")
			p.stayed("x", before)
		})
	}
}

// isWhole holds for x with 3 placeholders as they should be, with a certain one among them or not.
func (p *pool) isWhole(ctx context.Context, uid types.UID, wanted bool) error {
	v, err := p.get(ctx, "x")
	if err != nil {
		return err
	}
	pods, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{
		LabelSelector: v1alpha1.LabelVPod + "=x," + v1alpha1.LabelPool + "=" + p.name,
	})
	if err != nil {
		return err
	}
	found := false
	for _, pod := range pods.Items {
		found = found || pod.UID == uid
		if !metav1.IsControlledBy(&pod, v) || pod.Annotations[v1alpha1.AnnotationMaxAdapters] != "2" || pod.Spec.NodeName == "" {
			return fmt.Errorf("%s is not as it should be: %+v", pod.Name, pod.ObjectMeta)
		}
	}
	if len(pods.Items) != 3 || found != wanted {
		return fmt.Errorf("there are %d, the changed one among them: %t", len(pods.Items), found)
	}
	return nil
}

func (p *pool) deletePod(name string) {
	p.t.Helper()
	p.must(p.Client().CoreV1().Pods(p.name).Delete(p.t.Context(), name, metav1.DeleteOptions{}))
}

// A pod of somebody else that has the name of a placeholder is left alone.
func TestG8_PodThatHasTheName(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "")
	stranger, err := p.Client().CoreV1().Pods(p.name).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "x-vreplica-1"},
		Spec:       corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}, metav1.CreateOptions{})
	p.must(err)
	p.run("x", 3, "3")
	after, err := p.Client().CoreV1().Pods(p.name).Get(t.Context(), stranger.Name, metav1.GetOptions{})
	p.must(err)
	if after.ResourceVersion != stranger.ResourceVersion {
		t.Errorf("it was changed: %+v", after)
	}
}
