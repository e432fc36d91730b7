package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// observed is the action of events about how a pool is.
const observed = "Observe"

// reconciler sees to one pool after the other.
type reconciler struct {
	// client reads from the cache, and knows placeholders; adapterPods is the cache of adapter pods. live reads from the API
	// server.
	client            client.Client
	adapterPods, live client.Reader
	events            recorder.EventRecorder
	clock             clock.PassiveClock
	pace              *pace
	memories          *memories
	// patience is how long a drain may make no progress.
	patience time.Duration
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pool := &v1alpha1.AdapterPool{}
	if err := r.client.Get(ctx, request.NamespacedName, pool); apierrors.IsNotFound(err) {
		r.pace.forget(request.Name)
		r.memories.forget(request.Name)
		return ctrl.Result{}, nil
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading the pool: %w", err)
	}
	if wait := r.wait(pool); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	after, err := r.reconcile(ctx, pool)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, errBehind) {
		klog.FromContext(ctx).V(3).Info("The cache is behind", "err", err)
		return ctrl.Result{RequeueAfter: interval}, nil
	}
	return ctrl.Result{RequeueAfter: after}, err
}

// wait is how long a pool has to wait. One that its user changed does not.
func (r *reconciler) wait(pool *v1alpha1.AdapterPool) time.Duration {
	now := r.clock.Now()
	if pool.Status.ObservedGeneration != pool.Generation {
		r.pace.looked(pool.Name, now)
		return 0
	}
	return r.pace.wait(pool.Name, now)
}

func (r *reconciler) reconcile(ctx context.Context, pool *v1alpha1.AdapterPool) (time.Duration, error) {
	isDeleted, isKept := pool.DeletionTimestamp != nil, controllerutil.ContainsFinalizer(pool, v1alpha1.FinalizerPool)
	switch {
	case isDeleted && !isKept:
		return 0, nil // What else keeps it is not ours.
	case !isDeleted && !isKept:
		// Before it has adapters, which it could not leave empty otherwise.
		if err := r.setFinalizer(ctx, pool, true); err != nil {
			return 0, err
		}
	}
	s, err := r.observe(ctx, pool)
	if err != nil {
		return 0, err
	}
	if isDeleted && len(s.nodes) == 0 {
		return r.release(ctx, pool)
	}
	return r.settle(ctx, s)
}

// release lets go of a pool that has no virtual nodes any more. The cache may not have seen all of them yet; the pool is
// what keeps vreplicas on them.
func (r *reconciler) release(ctx context.Context, pool *v1alpha1.AdapterPool) (time.Duration, error) {
	var nodes corev1.NodeList
	if err := r.live.List(ctx, &nodes, client.MatchingLabels{v1alpha1.LabelPool: pool.Name}); err != nil {
		return 0, fmt.Errorf("listing the virtual nodes: %w", err)
	}
	if len(owned(pool, nodes.Items)) > 0 {
		klog.FromContext(ctx).V(3).Info("The cache is behind: there are virtual nodes")
		return interval, nil
	}
	return 0, r.setFinalizer(ctx, pool, false)
}

// setFinalizer adds our finalizer or takes it away. The list is replaced as a whole, so others must not have written.
func (r *reconciler) setFinalizer(ctx context.Context, pool *v1alpha1.AdapterPool, want bool) error {
	before := client.MergeFromWithOptions(pool.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if want {
		controllerutil.AddFinalizer(pool, v1alpha1.FinalizerPool)
	} else {
		controllerutil.RemoveFinalizer(pool, v1alpha1.FinalizerPool)
	}
	if err := r.client.Patch(ctx, pool, before); err != nil {
		return fmt.Errorf("setting the finalizers: %w", err)
	}
	klog.FromContext(ctx).Info("Set the finalizer of the pool", "kept", want)
	return nil
}

// publish writes the status if it differs, and tells of a new reason to be ready or not, and to be in trouble with scaling.
func (r *reconciler) publish(ctx context.Context, pool *v1alpha1.AdapterPool, want v1alpha1.AdapterPoolStatus) error {
	if apiequality.Semantic.DeepEqual(pool.Status, want) {
		return nil
	}
	was := pool.DeepCopy()
	pool.Status = want
	err := r.client.Status().Patch(ctx, pool, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	if is, isNew := transition(was, pool, v1alpha1.ConditionReady); isNew {
		kind := corev1.EventTypeWarning
		if is.Status == metav1.ConditionTrue {
			kind = corev1.EventTypeNormal
		}
		klog.FromContext(ctx).Info("The pool has changed", "ready", is.Status, "reason", is.Reason, "why", is.Message)
		r.tell(pool, news{kind, is.Reason, is.Message, observed})
	}
	if is, isNew := transition(was, pool, v1alpha1.ConditionScaled); isNew {
		klog.FromContext(ctx).Info("The pool has changed", "scaled", is.Status, "reason", is.Reason, "why", is.Message)
		if slices.Contains(troubles, is.Reason) {
			r.tell(pool, news{corev1.EventTypeWarning, is.Reason, is.Message, observed})
		}
	}
	return nil
}

// troubles are the reasons of the condition Scaled that somebody has to do something about.
var troubles = []string{v1alpha1.ReasonMaxReplicas, v1alpha1.ReasonDrainBlocked, v1alpha1.ReasonStatefulSetStuck}

// transition is a condition that has another reason than before.
func transition(was, is *v1alpha1.AdapterPool, kind string) (c *metav1.Condition, isNew bool) {
	before := meta.FindStatusCondition(was.Status.Conditions, kind)
	after := meta.FindStatusCondition(is.Status.Conditions, kind)
	return after, after != nil && (before == nil || before.Reason != after.Reason)
}

// news is what an event says.
type news struct {
	kind, reason, note string
	// action tells events apart that happen to have the same reason: of those alike, only the first note would be kept.
	action string
}

// tell makes an event about a pool.
func (r *reconciler) tell(pool *v1alpha1.AdapterPool, n news) {
	r.events.Eventf(pool, nil, n.kind, n.reason, n.action, "%s", wording.Cut(n.note, wording.MaxNote))
}
