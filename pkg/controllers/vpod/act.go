package vpod

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// parallel is the most requests that are under way at once for one VPod.
const parallel = 10

// act carries a plan out and returns what is known afterwards, also if it failed half-way. The plan is made again where a
// name that was to be created turned out to be taken.
func (r *reconciler) act(ctx context.Context, o observation, p plan) (observation, error) {
	for {
		var err error
		if o, err = r.remove(ctx, o, p.remove); err != nil {
			return o, err
		}
		if o, err = r.mend(ctx, o, p.mend); err != nil {
			return o, err
		}
		var made creations
		if made, err = r.create(ctx, o, p.create); len(made.pods)+len(made.met) > 0 {
			o.pods = slices.Concat(o.pods, made.pods, made.met)
		}
		if err != nil || len(made.met) == 0 {
			return o, err
		}
		p = decide(o)
	}
}

// remove deletes each pod as it was when it was decided on: one that was bound since is looked at again.
func (r *reconciler) remove(ctx context.Context, o observation, pods []*corev1.Pod) (observation, error) {
	gone := make([]*corev1.Pod, len(pods))
	err := each(pods, func(i int, pod *corev1.Pod) error {
		is := client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}
		if err := r.writer.Delete(ctx, pod, is); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("removing placeholder %s: %w", pod.Name, err)
		}
		gone[i] = pod
		return nil
	})
	gone = slices.DeleteFunc(gone, isNil)
	o.pods = without(o.pods, gone)
	if len(gone) > 0 {
		removed.Add(float64(len(gone)))
		klog.FromContext(ctx).V(3).Info("Removed placeholders", "count", len(gone), "first", klog.KObj(gone[0]))
	}
	return o, err
}

// mend brings labels and annotations up to date.
func (r *reconciler) mend(ctx context.Context, o observation, pods []*corev1.Pod) (observation, error) {
	mended := make([]*corev1.Pod, len(pods))
	err := each(pods, func(i int, pod *corev1.Pod) error {
		is := pod.DeepCopy()
		mend(o.vpod, is)
		patch := client.MergeFromWithOptions(pod, client.MergeFromWithOptimisticLock{})
		switch err := r.writer.Patch(ctx, is, patch); {
		case err == nil:
			mended[i] = is
		case client.IgnoreNotFound(err) != nil:
			return fmt.Errorf("mending placeholder %s: %w", pod.Name, err)
		}
		return nil
	})
	if err == nil {
		o.pods = slices.Concat(without(o.pods, pods), slices.DeleteFunc(mended, isNil))
	}
	return o, err
}

// creations is what became of placeholders that were to be created.
type creations struct {
	pods []*corev1.Pod
	// met are pods that had the names.
	met []*corev1.Pod
}

// create stops at the first failure: what the API server refuses once, it refuses again.
func (r *reconciler) create(ctx context.Context, o observation, indices []int) (creations, error) {
	var failed atomic.Bool
	pods, errs := make([]*corev1.Pod, len(indices)), make([]error, len(indices))
	_ = each(indices, func(i int, index int) error {
		if !failed.Load() {
			pods[i] = placeholder(o.vpod, index)
			errs[i] = r.writer.Create(ctx, pods[i])
			failed.Store(errs[i] != nil && !apierrors.IsAlreadyExists(errs[i]))
		}
		return nil
	})
	var made creations
	var first error
	for i, pod := range pods {
		switch {
		case pod == nil:
		case apierrors.IsAlreadyExists(errs[i]):
			there := &corev1.Pod{}
			if err := r.live.Get(ctx, client.ObjectKeyFromObject(pod), there); err == nil {
				made.met = append(made.met, there)
			} else if first == nil {
				first = fmt.Errorf("creating placeholder: %w, and reading it: %v", errs[i], err)
			}
		case errs[i] == nil:
			made.pods = append(made.pods, pod)
		case first == nil:
			first = creationError(errs[i])
		}
	}
	if len(made.pods) > 0 {
		created.Add(float64(len(made.pods)))
		klog.FromContext(ctx).V(3).Info("Created placeholders", "count", len(made.pods), "first", klog.KObj(made.pods[0]))
	}
	return made, first
}

func creationError(err error) error {
	if isRefusal(err) && !isOver(err) {
		return &refusedError{err}
	}
	return fmt.Errorf("creating placeholder: %w", err)
}

func isNil(pod *corev1.Pod) bool { return pod == nil }

// each calls do for all items, a few at once, and returns the first error.
func each[T any](items []T, do func(i int, item T) error) error {
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, item := range items {
		group.Go(func() error { return do(i, item) })
	}
	return group.Wait()
}
