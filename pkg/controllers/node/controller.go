package node

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/watches"
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
		Watches(&corev1.Node{}, watches.Requests(m.ofNode), builder.WithPredicates(watches.Changes(nodeMatters))).
		Watches(&corev1.Pod{}, watches.Requests(ofPlaceholder), builder.WithPredicates(watches.Changes(placeholderMatters))).
		Watches(&v1alpha1.AdapterPool{}, watches.Requests(m.ofPool), builder.WithPredicates(watches.Changes(poolMatters))).
		Watches(&appsv1.StatefulSet{}, watches.Requests(m.ofStatefulSet), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(watches.Source(c.AdapterPods.GetCache(), &corev1.Pod{}, m.ofAdapterPod, adapterPodMatters)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of virtual nodes: %w", err)
	}
	return nil
}
