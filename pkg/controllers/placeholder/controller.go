package placeholder

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
)

// workers is how many virtual nodes are seen to at once.
const workers = 8

// Config is what the controller needs beside the manager.
type Config struct {
	Clock clock.PassiveClock
}

// Add adds the controller to a manager, whose cache must have the indexes of package informers.
func Add(mgr ctrl.Manager, c Config) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named("placeholder").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: retry.Limiter()}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(nodeOf), builder.WithPredicates(predicate.Funcs{
			// One that is gone leaves nothing to do: those that did not fit beside it have failed for good.
			DeleteFunc: func(event.DeleteEvent) bool { return false },
		})).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(virtual), builder.WithPredicates(predicate.Funcs{
			UpdateFunc: func(e event.UpdateEvent) bool {
				return nodeMatters(e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node))
			},
			DeleteFunc: func(event.DeleteEvent) bool { return false },
		})).
		Complete(&reconciler{
			client: mgr.GetClient(),
			live:   mgr.GetAPIReader(),
			events: mgr.GetEventRecorder(v1alpha1.ControllerName),
			clock:  c.Clock,
		})
	if err != nil {
		return fmt.Errorf("adding the controller of placeholders: %w", err)
	}
	return nil
}

// nodeOf is the node that a placeholder is bound to.
func nodeOf(_ context.Context, o client.Object) []reconcile.Request {
	pod := o.(*corev1.Pod)
	if pod.Spec.NodeName == "" || !adapter.IsPlaceholder(pod) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: pod.Spec.NodeName}}}
}

// virtual is the node itself, if it is virtual.
func virtual(_ context.Context, o client.Object) []reconcile.Request {
	if !v1alpha1.IsVirtual(o.(*corev1.Node).Spec.ProviderID) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
}

// nodeMatters when its adapter becomes ready or ceases to be, when it has room for more or for less, or when it is taken out
// of use or put back: it may be draining.
func nodeMatters(was, is *corev1.Node) bool {
	return readiness(was) != readiness(is) ||
		was.Annotations[v1alpha1.AnnotationCordon] != is.Annotations[v1alpha1.AnnotationCordon] ||
		!apiequality.Semantic.DeepEqual(was.Status.Allocatable, is.Status.Allocatable)
}
