package node

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
)

// workers is how many virtual nodes are seen to at once.
const workers = 8

// Config is what the controller needs beside the manager.
type Config struct {
	// AdapterPods sees the pods of StatefulSets.
	AdapterPods cluster.Cluster
	Clock       clock.WithTicker
	// Version is that of this program, without a prefix.
	Version string
	// Heartbeat renews leases, one for each virtual node in each HeartbeatInterval. Its rate limit must allow for that.
	Heartbeat         kubernetes.Interface
	HeartbeatInterval time.Duration
}

// Add adds the controller to a manager, whose cache must have the indexes of package informers.
func Add(mgr ctrl.Manager, c Config) error {
	beats := newHeartbeats(c.Heartbeat, c.HeartbeatInterval, c.Clock)
	if err := mgr.Add(beats); err != nil {
		return fmt.Errorf("adding the heartbeats: %w", err)
	}
	r := &reconciler{
		client:      mgr.GetClient(),
		adapterPods: c.AdapterPods.GetClient(),
		live:        mgr.GetAPIReader(),
		events:      mgr.GetEventRecorder(v1alpha1.ControllerName),
		beats:       beats,
		clock:       c.Clock,
		version:     c.Version,
	}
	m := mapper{objects: mgr.GetClient(), adapterPods: c.AdapterPods.GetClient()}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("node").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: retry.Limiter()}).
		Watches(&corev1.Node{}, requests(m.ofNode), builder.WithPredicates(changes(nodeMatters))).
		Watches(&corev1.Pod{}, requests(ofPlaceholder), builder.WithPredicates(changes(placeholderMatters))).
		Watches(&v1alpha1.AdapterPool{}, requests(m.ofPool), builder.WithPredicates(changes(poolMatters))).
		Watches(&appsv1.StatefulSet{}, requests(m.ofStatefulSet), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Kind(c.AdapterPods.GetCache(), &corev1.Pod{},
			handler.TypedEnqueueRequestsFromMapFunc(
				func(ctx context.Context, pod *corev1.Pod) []reconcile.Request { return named(m.ofAdapterPod(ctx, pod)) }),
			predicate.TypedFuncs[*corev1.Pod]{UpdateFunc: adapterPodMatters},
		)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of virtual nodes: %w", err)
	}
	return nil
}

// requests has an object ask for the nodes that it concerns, by name.
func requests[T client.Object](nodes func(context.Context, T) []string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		return named(nodes(ctx, o.(T)))
	})
}

func named(nodes []string) []reconcile.Request {
	all := make([]reconcile.Request, len(nodes))
	for i, name := range nodes {
		all[i].Name = name
	}
	return all
}

// changes lets only those updates pass that matter.
func changes[T client.Object](matters func(was, is T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e updateEvent) bool { return matters(e.ObjectOld.(T), e.ObjectNew.(T)) }}
}
