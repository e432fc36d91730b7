package pool

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
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
		Watches(&v1alpha1.AdapterPool{}, requests(m.siblings), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&appsv1.StatefulSet{}, requests(m.ofStatefulSet), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Node{}, requests(ofNode), builder.WithPredicates(changes(nodeMatters))).
		Watches(&corev1.Node{}, requests(m.ofRealNode), builder.WithPredicates(changes(realNodeMatters))).
		Watches(&v1alpha1.VPod{}, requests(ofVPod), builder.WithPredicates(changes(vpodMatters))).
		Watches(&corev1.Pod{}, requests(ofPlaceholder), builder.WithPredicates(changes(podMatters))).
		WatchesRawSource(source.Kind(c.AdapterPods.GetCache(), &corev1.Pod{},
			handler.TypedEnqueueRequestsFromMapFunc(
				func(ctx context.Context, pod *corev1.Pod) []reconcile.Request { return named(m.ofAdapterPod(ctx, pod)) }),
			predicate.TypedFuncs[*corev1.Pod]{UpdateFunc: adapterMatters},
		)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of AdapterPools: %w", err)
	}
	return nil
}
