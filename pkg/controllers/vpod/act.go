package vpod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
)

// parallel is the most requests that are under way at once for one VPod.
const parallel = 10

var errOutdated = errors.New("the plan is too old to be carried out")

func (r *reconciler) isOutdated(o observation) bool { return r.clock.Since(o.now) > retry.PlanLife }

// act carries a plan out and returns what is known afterwards, also if it failed half-way. The plan is made again where a
// name that was to be created turned out to be taken.
func (r *reconciler) act(ctx context.Context, o observation, p plan) (observation, error) {
	for {
		// What cannot be removed or mended holds up no creation.
		o, err := r.remove(ctx, o, p.remove)
		o, evictErr := r.evict(ctx, o, p.evict)
		o, mendErr := r.mend(ctx, o, p.mend)
		created, met, createErr := r.create(ctx, o, p.create)
		o.pods = slices.Concat(o.pods, created, met)
		if err = errors.Join(err, evictErr, mendErr, createErr); err != nil || len(met) == 0 {
			return o, err
		}
		p = decide(o)
		// Those that are served are published before they go, and so have to wait for the next time.
		p.remove, p.evict = filter(p.remove, func(pod *corev1.Pod) bool { return !isAdmitted(pod) }), nil
	}
}

// remove deletes each pod as it was when it was decided on: one that was bound since is looked at again.
func (r *reconciler) remove(ctx context.Context, o observation, pods []*corev1.Pod) (observation, error) {
	gone := make([]*corev1.Pod, len(pods))
	err := each(pods, func(i int, pod *corev1.Pod) error {
		if r.isOutdated(o) {
			return errOutdated
		}
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
		metrics.Removed(len(gone))
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
		if o.isCalledOff(pod) {
			delete(is.Annotations, v1alpha1.AnnotationMove)
		}
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

func isNil(pod *corev1.Pod) bool { return pod == nil }

// each calls do for all items, a few at once, and returns the error of the first item that has one.
func each[T any](items []T, do func(i int, item T) error) error {
	errs := make([]error, len(items))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, item := range items {
		group.Go(func() error {
			errs[i] = do(i, item)
			return nil
		})
	}
	_ = group.Wait()
	return cmp.Or(errs...)
}
