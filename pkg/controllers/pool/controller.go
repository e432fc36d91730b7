package pool

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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

// Config is what the controller needs beside the manager.
type Config struct {
	// AdapterPods sees the pods of StatefulSets.
	AdapterPods cluster.Cluster
	Clock       clock.PassiveClock
	// DrainPatience is how long the draining of adapters may make no progress before it is given up for a while.
	DrainPatience time.Duration
}

// Add adds the controller to a manager, whose cache must have the indexes of package informers.
func Add(mgr ctrl.Manager, c Config) error {
	r := &reconciler{
		client:      mgr.GetClient(),
		adapterPods: c.AdapterPods.GetClient(),
		live:        mgr.GetAPIReader(),
		events:      mgr.GetEventRecorder(v1alpha1.ControllerName),
		clock:       c.Clock,
		pace:        newPace(),
		memories:    newMemories(),
		patience:    c.DrainPatience,
	}
	m := mapper{objects: mgr.GetClient()}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("pool").
		WithOptions(controller.Options{RateLimiter: retry.Limiter()}).
		For(&v1alpha1.AdapterPool{}).
		Watches(&v1alpha1.AdapterPool{}, watches.Requests(m.siblings), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&appsv1.StatefulSet{}, watches.Requests(m.ofStatefulSet), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Node{}, watches.Requests(ofNode), builder.WithPredicates(watches.Changes(nodeMatters))).
		Watches(&corev1.Node{}, watches.Requests(m.ofRealNode), builder.WithPredicates(watches.Changes(realNodeMatters))).
		Watches(&v1alpha1.VPod{}, watches.Requests(ofVPod), builder.WithPredicates(watches.Changes(vpodMatters))).
		Watches(&corev1.Pod{}, watches.Requests(ofPlaceholder), builder.WithPredicates(watches.Changes(podMatters))).
		WatchesRawSource(watches.Source(c.AdapterPods.GetCache(), &corev1.Pod{}, m.ofAdapterPod, adapterMatters)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of AdapterPools: %w", err)
	}
	return nil
}
