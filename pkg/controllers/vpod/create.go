package vpod

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
)

// create makes placeholders with these indices, and returns those, and the pods that it met under their names. It stops at
// the first failure: what the API server refuses once, it refuses again.
func (r *reconciler) create(ctx context.Context, o observation, indices []int) (created, met []*corev1.Pod, err error) {
	created, met = make([]*corev1.Pod, len(indices)), make([]*corev1.Pod, len(indices))
	var failed atomic.Bool
	err = each(indices, func(i int, index int) (err error) {
		if failed.Load() {
			return nil
		}
		if created[i], met[i], err = r.createOne(ctx, o, index); err != nil {
			failed.Store(true)
		}
		return err
	})
	created, met = slices.DeleteFunc(created, isNil), slices.DeleteFunc(met, isNil)
	if len(created) > 0 {
		metrics.Created(len(created))
		klog.FromContext(ctx).V(3).Info("Created placeholders", "count", len(created), "first", klog.KObj(created[0]))
	}
	return created, met, err
}

func (r *reconciler) createOne(ctx context.Context, o observation, index int) (created, met *corev1.Pod, err error) {
	if r.isOutdated(o) {
		return nil, nil, errOutdated
	}
	pod := placeholder(o.vpod, index)
	switch err = r.writer.Create(ctx, pod); {
	case err == nil:
		return pod, nil, nil
	case apierrors.IsAlreadyExists(err):
		met = &corev1.Pod{}
		if problem := r.live.Get(ctx, client.ObjectKeyFromObject(pod), met); problem != nil {
			return nil, nil, fmt.Errorf("creating placeholder: %w; reading it: %v", err, problem)
		}
		return nil, met, nil
	case retry.IsRefusal(err):
		return nil, nil, &refusedError{err}
	case apierrors.IsConflict(err):
		// Such as of two creations that count against one ResourceQuota. It is not our cache that is behind.
		return nil, nil, fmt.Errorf("creating placeholder: %v", err)
	}
	return nil, nil, fmt.Errorf("creating placeholder: %w", err)
}
