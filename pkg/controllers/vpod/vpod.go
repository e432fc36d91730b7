// Package vpod keeps the placeholder pods of each VPod, one for each vreplica, and publishes where the scheduler put them.
//
// A reconcile reads, decides, acts, and writes the status at most once. What is decided on is exact without a memory of
// what was done before: as long as the cache says that nothing is to be done, it is right or about to be followed by an
// event. If it says otherwise, the VPod and its placeholders are read from the API server, and the decision is made again.
// Placeholders have names that follow from what is there, so a creation that was already made, by this controller or by one
// that led before it, is found out by its name; a removal names the version of the pod that was looked at. So neither a
// cache that lags behind nor a change of leader makes a vreplica too many, or takes away one that was placed meanwhile.
package vpod

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/watches"
)

const (
	name = "vpod"
	// workers is how many VPods are reconciled at once: one that creates thousands of placeholders holds up no other.
	workers = 8
)

// Config is what the controller needs beside the manager.
type Config struct {
	// AdapterPods sees the pods of StatefulSets.
	AdapterPods cluster.Cluster
	Clock       clock.PassiveClock
}

// reconciler does the work.
type reconciler struct {
	// cached reads what may be late, live what is.
	cached, live client.Reader
	writer       client.Client
	// pods asks for evictions.
	pods     rest.Interface
	censuses censuses
	events   recorder.EventRecorder
	clock    clock.PassiveClock
	memories memories
}

// Add has the manager run the controller.
func Add(mgr ctrl.Manager, c Config) error {
	core, err := corev1client.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making the client for evictions: %w", err)
	}
	r := &reconciler{
		cached:   mgr.GetClient(),
		live:     mgr.GetAPIReader(),
		writer:   mgr.GetClient(),
		pods:     core.RESTClient(),
		censuses: censuses{cached: mgr.GetClient(), adapterPods: c.AdapterPods.GetClient()},
		events:   mgr.GetEventRecorder(v1alpha1.ControllerName),
		clock:    c.Clock,
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(&v1alpha1.VPod{}, builder.WithPredicates(watches.Changes(vpodMatters))).
		Owns(&corev1.Pod{}).
		Watches(&v1alpha1.AdapterPool{}, handler.EnqueueRequestsFromMapFunc(r.waitingForPool),
			builder.WithPredicates(watches.Changes(poolMatters))).
		Watches(&v1alpha1.AdapterPool{}, handler.EnqueueRequestsFromMapFunc(r.servedOutOfUse),
			builder.WithPredicates(watches.Changes(targetMatters))).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.servedByNode), builder.WithPredicates(watches.Changes(nodeMatters))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             retry.Limiter(),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of VPods: %w", err)
	}
	return nil
}

// Reconcile makes what is of one VPod what is wanted.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	vpod := &v1alpha1.VPod{}
	if err := r.cached.Get(ctx, request.NamespacedName, vpod); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("reading the VPod: %w", err)
	} else if err != nil {
		r.memories.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	return r.reconcile(ctx, vpod)
}
