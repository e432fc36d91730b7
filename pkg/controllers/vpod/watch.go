package vpod

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
)

// vpodMatters leaves out changes of what is neither wanted nor published. The status counts: this controller compares it with
// what is, and the status that it has from its cache may be the one before its last write. What looked published already
// then is looked at again once that write has arrived.
func vpodMatters(was, is *v1alpha1.VPod) bool {
	return was.Generation != is.Generation || !apiequality.Semantic.DeepEqual(was.Status, is.Status)
}

// poolMatters leaves out the counts in a pool's status, which change with every placement.
func poolMatters(was, is *v1alpha1.AdapterPool) bool {
	return was.Generation != is.Generation || saysOfItself(was) != saysOfItself(is) || scaled(was) != scaled(is)
}

// saysOfItself is how a pool is, in its own words.
func saysOfItself(pool *v1alpha1.AdapterPool) (said struct{ reason, message string }) {
	if c := apimeta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		said.reason, said.message = c.Reason, c.Message
	}
	return said
}

// waitingForPool maps a pool to the VPods for which it makes a difference: those that are not placed. Where the others'
// vreplicas are, their placeholders tell.
func (r *reconciler) waitingForPool(ctx context.Context, pool client.Object) []reconcile.Request {
	var vpods v1alpha1.VPodList
	err := r.cached.List(ctx, &vpods, client.MatchingFields{informers.ByPool: pool.GetName()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "Could not list the VPods of a pool")
		return nil
	}
	var requests []reconcile.Request
	for i := range vpods.Items {
		if !apimeta.IsStatusConditionTrue(vpods.Items[i].Status.Conditions, v1alpha1.ConditionScheduled) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&vpods.Items[i])})
		}
	}
	return requests
}

// targetMatters is when adapters may begin to drain, or cease to.
func targetMatters(was, is *v1alpha1.AdapterPool) bool {
	return was.Generation != is.Generation || !ptr.Equal(was.Status.TargetAdapters, is.Status.TargetAdapters)
}

// servedOutOfUse maps a pool to the VPods that have a vreplica on an adapter that takes no more. The others of those that
// drain follow with their cordon.
func (r *reconciler) servedOutOfUse(ctx context.Context, pool client.Object) []reconcile.Request {
	var nodes corev1.NodeList
	err := r.cached.List(ctx, &nodes, client.MatchingFields{informers.ByPool: pool.GetName()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "Could not list the adapters of a pool")
		return nil
	}
	var requests []reconcile.Request
	for i := range nodes.Items {
		if nodes.Items[i].Spec.Unschedulable {
			requests = append(requests, r.servedByNode(ctx, &nodes.Items[i])...)
		}
	}
	return requests
}

// nodeMatters leaves out all changes that leave a node the adapter that it was: where the vreplicas are does not depend on
// them. A node whose labels were taken away by hand was none, until they are put back. From one that is taken out of use
// they may be about to move.
func nodeMatters(was, is *corev1.Node) bool {
	return was.Labels[v1alpha1.LabelPool] != is.Labels[v1alpha1.LabelPool] ||
		was.Labels[v1alpha1.LabelOrdinal] != is.Labels[v1alpha1.LabelOrdinal] ||
		was.Spec.Unschedulable != is.Spec.Unschedulable ||
		was.Annotations[v1alpha1.AnnotationCordon] != is.Annotations[v1alpha1.AnnotationCordon]
}

// servedByNode maps a node to the VPods that have a vreplica there, so that no status names an adapter that is gone.
func (r *reconciler) servedByNode(ctx context.Context, node client.Object) []reconcile.Request {
	var pods corev1.PodList
	err := r.cached.List(ctx, &pods, client.MatchingFields{informers.ByNode: node.GetName()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "Could not list the placeholders on a node")
		return nil
	}
	known := map[types.NamespacedName]bool{}
	var requests []reconcile.Request
	for i := range pods.Items {
		owner := metav1.GetControllerOfNoCopy(&pods.Items[i])
		if owner == nil || owner.Kind != v1alpha1.KindVPod {
			continue
		}
		key := types.NamespacedName{Namespace: pods.Items[i].Namespace, Name: owner.Name}
		if !known[key] {
			known[key] = true
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
	}
	return requests
}
