// Package watches says in terms of types what wakes a controller up, and for what.
package watches

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Requests has an object of type T ask for the cluster-scoped objects that it concerns, by name.
func Requests[T client.Object](names func(context.Context, T) []string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		return Named(names(ctx, o.(T)))
	})
}

// Named are the requests for cluster-scoped objects.
func Named(names []string) []reconcile.Request {
	all := make([]reconcile.Request, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

// Changes lets only those updates of an object of type T pass that matter, and all that is new or gone.
func Changes[T client.Object](matters func(was, is T) bool) predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return matters(e.ObjectOld.(T), e.ObjectNew.(T))
	}}
}

// Source does both for the objects of a cache that is not the manager's.
func Source[T client.Object](c cache.Cache, o T, names func(context.Context, T) []string, matters func(was, is T) bool) source.Source {
	return source.Kind(c, o,
		handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, o T) []reconcile.Request { return Named(names(ctx, o)) }),
		predicate.TypedFuncs[T]{UpdateFunc: func(e event.TypedUpdateEvent[T]) bool { return matters(e.ObjectOld, e.ObjectNew) }},
	)
}
