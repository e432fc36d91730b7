package placeholder

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
)

// batch is the most placeholders whose status is written before the adapter is looked at again.
const batch = 50

// soon is when to try again what the cache will have caught up with by then.
const soon = time.Second

// reconciler sees to the placeholders on one virtual node after the other. A request names a node, which need not be
// virtual.
type reconciler struct {
	// client reads from the cache, live from the API server.
	client client.Client
	live   client.Reader
	events recorder.EventRecorder
	clock  clock.PassiveClock
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	id, ok := adapter.OfNodeName(request.Name)
	if !ok {
		return ctrl.Result{}, nil
	}
	s, err := observe(ctx, id, r.client, client.MatchingFields{informers.ByNode: request.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return ctrl.Result{}, err
	}
	d := decide(s, r.clock.Now())
	if len(d.rejected) > 0 {
		// Nothing brings back a pod that failed: what the cache says must hold on the API server, too.
		s, err = observe(ctx, id, r.live, client.HasLabels{v1alpha1.LabelPool},
			client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.nodeName", request.Name)})
		if err != nil {
			return ctrl.Result{}, err
		}
		d = decide(s, r.clock.Now())
	}
	return r.carryOut(ctx, id, d)
}

// observe reads a virtual node and its placeholders. It finds no placeholders on any other node: real ones have kubelets.
func observe(ctx context.Context, id adapter.ID, from client.Reader, on ...client.ListOption) (adapterState, error) {
	s := adapterState{id: id, node: new(corev1.Node)}
	err := from.Get(ctx, client.ObjectKey{Name: id.NodeName()}, s.node)
	if apierrors.IsNotFound(err) || err == nil && !id.Owns(s.node) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("reading the virtual node: %w", err)
	}
	var pods corev1.PodList
	if err := from.List(ctx, &pods, on...); err != nil {
		return s, fmt.Errorf("listing the placeholders: %w", err)
	}
	for i := range pods.Items {
		if adapter.IsPlaceholder(&pods.Items[i]) {
			s.placeholders = append(s.placeholders, &pods.Items[i])
		}
	}
	s.draining, err = isDraining(ctx, id, from)
	return s, err
}

// isDraining goes by the pool and not by the cordon of the node, which follows it: whoever shrinks the StatefulSet saw this
// same pool first, so nothing is admitted on an adapter that it found empty.
func isDraining(ctx context.Context, id adapter.ID, from client.Reader) (bool, error) {
	var pool v1alpha1.AdapterPool
	err := from.Get(ctx, client.ObjectKey{Name: id.Pool}, &pool, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && !adapter.IsAutoscaled(&pool) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the pool: %w", err)
	}
	var set appsv1.StatefulSet
	key := client.ObjectKey{Namespace: pool.Spec.StatefulSetRef.Namespace, Name: pool.Spec.StatefulSetRef.Name}
	err = from.Get(ctx, key, &set, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading StatefulSet %s: %w", key, err)
	}
	return err == nil && id.IsDraining(&pool, &set), nil
}

// carryOut writes each placeholder once. One that fails does not stop the others.
func (r *reconciler) carryOut(ctx context.Context, id adapter.ID, d decision) (ctrl.Result, error) {
	var errs []error
	isStale := false
	collect := func(pod *corev1.Pod, err error) {
		switch {
		case err == nil:
		case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
			isStale = true
		default:
			errs = append(errs, fmt.Errorf("placeholder %s/%s: %w", pod.Namespace, pod.Name, err))
		}
	}
	for _, rejection := range d.rejected {
		collect(rejection.pod, r.reject(ctx, id, rejection))
	}
	for _, pod := range d.gone {
		collect(pod, r.confirm(ctx, pod))
	}
	// A few at a time: the capacity may be lowered meanwhile, and then less has to run.
	some := d.changed[:min(batch, len(d.changed))]
	for _, change := range some {
		collect(change.pod, r.patch(ctx, change))
	}
	if len(some) > 0 {
		klog.FromContext(ctx).V(3).Info("Reported placeholders", "count", len(some))
	}
	result := ctrl.Result{RequeueAfter: d.after}
	switch {
	case isStale:
		result.RequeueAfter = soon
	case len(some) < len(d.changed):
		result.RequeueAfter = time.Millisecond
	}
	return result, errors.Join(errs...)
}

// patch writes a status. Lists are replaced as a whole, and a pod that has failed meanwhile must not run again, so others
// must not have written in between.
func (r *reconciler) patch(ctx context.Context, c change) error {
	pod := c.pod.DeepCopy()
	pod.Status = c.status
	err := r.client.Status().Patch(ctx, pod, client.MergeFromWithOptions(c.pod, client.MergeFromWithOptimisticLock{}))
	if err == nil && c.pod.Status.Phase != corev1.PodRunning && c.status.Phase == corev1.PodRunning {
		metrics.Admitted(pod.Labels[v1alpha1.LabelPool], r.clock.Since(pod.CreationTimestamp.Time))
	}
	return err
}

func (r *reconciler) reject(ctx context.Context, id adapter.ID, rejection rejection) error {
	if err := r.patch(ctx, rejection.change); err != nil {
		return err
	}
	metrics.Rejected(id.Pool, rejection.reason, rejection.vreplicas)
	klog.FromContext(ctx).Info("Failed a placeholder",
		"pod", klog.KObj(rejection.pod), "reason", rejection.reason, "message", rejection.message)
	r.events.Eventf(rejection.pod, nil, corev1.EventTypeWarning, rejection.reason, "Admit", "%s", rejection.message)
	return nil
}

// confirm ends a deletion that was given time to end by itself: there is nothing that could.
func (r *reconciler) confirm(ctx context.Context, pod *corev1.Pod) error {
	return r.client.Delete(ctx, pod.DeepCopy(), client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
}
