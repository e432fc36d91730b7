// Package rebalance evens out the vreplicas of pools that want it, one at a time.
//
// It decides which vreplica had better be elsewhere and when it may move, marks its placeholder, and looks at what became of
// it. The move itself is made by the controller of VPods, and the place is chosen by the scheduler: the dry run of package
// placement only foretells it.
//
// What matters is stored in the cluster: where the vreplicas are, and which of them carries the mark. What is remembered
// beside that is the order of turns, the rate and the VPods for which moving was of no use; to lose it costs an attempt.
package rebalance

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/watches"
)

// Config is what the controller needs beside the manager.
type Config struct {
	Clock clock.PassiveClock
}

// Add adds the controller to a manager, whose cache must have the indexes of package informers.
func Add(mgr ctrl.Manager, c Config) error {
	r := &reconciler{
		client: mgr.GetClient(),
		live:   mgr.GetAPIReader(),
		events: mgr.GetEventRecorder(v1alpha1.ControllerName),
		clock:  c.Clock,
		known:  map[string]*entry{},
	}
	m := mapper{objects: mgr.GetClient()}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("rebalance").
		// One pool after the other: the memory is not locked.
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, RateLimiter: retry.Limiter()}).
		For(&v1alpha1.AdapterPool{}, builder.WithPredicates(watches.Changes(poolMatters))).
		Watches(&corev1.Pod{}, requests(m.ofPlaceholder), builder.WithPredicates(watches.Changes(podMatters))).
		Watches(&corev1.Node{}, requests(m.ofNode), builder.WithPredicates(watches.Changes(nodeMatters))).
		Watches(&v1alpha1.VPod{}, requests(m.ofVPod), builder.WithPredicates(watches.Changes(vpodMatters))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller that evens out: %w", err)
	}
	return nil
}

// requests has an object ask for the pool that it concerns; "" is none.
func requests[T client.Object](pool func(context.Context, T) string) handler.EventHandler {
	return watches.Requests(func(ctx context.Context, o T) []string {
		if name := pool(ctx, o); name != "" {
			return []string{name}
		}
		return nil
	})
}
