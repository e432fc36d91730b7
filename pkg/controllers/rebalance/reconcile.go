package rebalance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
)

// reconciler sees to one pool after the other.
type reconciler struct {
	// client reads from the cache; live reads from the API server.
	client client.Client
	live   client.Reader
	events recorder.EventRecorder
	clock  clock.PassiveClock
	known  map[string]*entry
}

// entry is what is known of a pool, when it was looked at last, and how long that took.
type entry struct {
	looked time.Time
	took   time.Duration
	memory memory
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pool := &v1alpha1.AdapterPool{}
	if err := r.client.Get(ctx, request.NamespacedName, pool); apierrors.IsNotFound(err) {
		delete(r.known, request.Name) // Its marks were taken off while it was being deleted.
		return ctrl.Result{}, nil
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading the pool: %w", err)
	}
	e := r.known[request.Name]
	if e == nil {
		e = &entry{}
		r.known[request.Name] = e
	}
	now := r.clock.Now()
	// A clock that is set back makes nobody wait longer.
	if wait := min(pause(e.took), e.looked.Add(pause(e.took)).Sub(now)); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	e.looked = now
	s, err := r.observe(ctx, pool)
	if err != nil {
		return ctrl.Result{}, err
	}
	p, m := decide(s, e.memory, now)
	e.took = r.clock.Since(now)
	e.memory, err = r.act(ctx, p, m, now)
	if isStale(err) {
		klog.FromContext(ctx).V(3).Info("Trying again, because something changed meanwhile", "reason", err.Error())
		return ctrl.Result{RequeueAfter: interval}, nil
	}
	return ctrl.Result{RequeueAfter: p.after}, err
}

// isStale says whether something failed because the cache is behind, or the decision is of no use any more.
func isStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, errOutdated) || errors.Is(err, errNotNow)
}

// observe reads the cache, and shares what it reads with it.
func (r *reconciler) observe(ctx context.Context, pool *v1alpha1.AdapterPool) (state, error) {
	s := state{pool: pool}
	var (
		nodes corev1.NodeList
		pods  corev1.PodList
		vpods v1alpha1.VPodList
	)
	for _, list := range []client.ObjectList{&nodes, &pods, &vpods} {
		err := r.client.List(ctx, list, client.MatchingFields{informers.ByPool: pool.Name}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return s, fmt.Errorf("listing %T of the pool: %w", list, err)
		}
	}
	s.nodes, s.vpods = pointers(nodes.Items), pointers(vpods.Items)
	s.pods = slices.DeleteFunc(pointers(pods.Items), func(pod *corev1.Pod) bool { return !adapter.IsPlaceholder(pod) })
	key := client.ObjectKey{Namespace: pool.Spec.StatefulSetRef.Namespace, Name: pool.Spec.StatefulSetRef.Name}
	set := &appsv1.StatefulSet{}
	switch err := r.client.Get(ctx, key, set, client.UnsafeDisableDeepCopy); {
	case err == nil:
		s.set = set
	case !apierrors.IsNotFound(err):
		return s, fmt.Errorf("reading the StatefulSet: %w", err)
	}
	return s, nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
