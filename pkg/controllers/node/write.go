package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
)

// write makes a virtual node what it should be, and returns it. nil stands for no node.
func (r *reconciler) write(ctx context.Context, is, want *corev1.Node) (*corev1.Node, error) {
	logger := klog.FromContext(ctx)
	switch {
	case is == nil && want == nil:
		return nil, nil
	case is == nil:
		// Creation keeps the status, so the node is never seen without its capacity.
		if err := r.client.Create(ctx, want); err != nil {
			return nil, fmt.Errorf("creating the virtual node: %w", err)
		}
		logger.Info("Created the virtual node", "host", want.Labels[v1alpha1.LabelHost])
		r.tell(nil, want)
		return want, nil
	case want == nil:
		// Only as it was read: somebody may have bound something to it, or made it anew.
		preconditions := client.Preconditions{UID: &is.UID, ResourceVersion: &is.ResourceVersion}
		if err := r.client.Delete(ctx, is, preconditions); err != nil {
			return nil, fmt.Errorf("deleting the virtual node: %w", err)
		}
		logger.Info("Deleted the virtual node")
		return nil, nil
	}
	return r.patch(ctx, is, want)
}

// patch writes what differs, the cordon and the labels before the status. Lists are replaced as a whole, so others must not
// have written in between.
func (r *reconciler) patch(ctx context.Context, is, want *corev1.Node) (*corev1.Node, error) {
	node := is.DeepCopy()
	node.ObjectMeta, node.Spec = *want.ObjectMeta.DeepCopy(), *want.Spec.DeepCopy()
	if !apiequality.Semantic.DeepEqual(is, node) {
		if err := r.client.Patch(ctx, node, client.MergeFromWithOptions(is, client.MergeFromWithOptimisticLock{})); err != nil {
			return nil, fmt.Errorf("patching the virtual node: %w", err)
		}
		klog.FromContext(ctx).Info("Changed the virtual node", "cordon", node.Annotations[v1alpha1.AnnotationCordon])
		r.tell(is, node)
	}
	if apiequality.Semantic.DeepEqual(is.Status, want.Status) {
		return node, nil
	}
	base := is.DeepCopy()
	base.ResourceVersion = node.ResourceVersion
	node = base.DeepCopy()
	node.Status = *want.Status.DeepCopy()
	err := r.client.Status().Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return nil, fmt.Errorf("patching the status of the virtual node: %w", err)
	}
	klog.FromContext(ctx).Info("Changed the status of the virtual node", "ready", adapter.IsNodeReady(node))
	return node, nil
}

// cordonWords say in an event what a Cordon reason means.
var cordonWords = map[string]string{
	v1alpha1.CordonRemoved:      "its StatefulSet does not have it any more, or its pool is being deleted",
	v1alpha1.CordonDraining:     "its pool is about to do without it, and its vreplicas move to others",
	v1alpha1.CordonMarked:       "its pod has the annotation " + v1alpha1.AnnotationUnschedulable,
	v1alpha1.CordonNoHost:       "its pod is missing, or waits for a host",
	v1alpha1.CordonHostCordoned: "its host is cordoned",
	v1alpha1.CordonHostNotReady: "its host is not ready",
	v1alpha1.CordonLost:         "it was not ready for longer than its pool's evictionTimeout",
}

// tell records that an adapter was taken out of use by us, or back into it.
func (r *reconciler) tell(was, is *corev1.Node) {
	before := ""
	if was != nil && was.Spec.Unschedulable {
		before = was.Annotations[v1alpha1.AnnotationCordon]
	}
	switch reason := is.Annotations[v1alpha1.AnnotationCordon]; {
	case reason == before:
	case reason == "":
		r.events.Eventf(is, nil, corev1.EventTypeNormal, v1alpha1.EventUncordoned, "Uncordon", "The adapter is in use again")
	default:
		r.events.Eventf(is, nil, corev1.EventTypeNormal, v1alpha1.EventCordoned, "Cordon",
			"The adapter takes no more vreplicas: %s", cordonWords[reason])
	}
}

var errOutdated = errors.New("what was decided is too old to be carried out")

// move deletes placeholders, as was decided at a time, so that they are placed elsewhere. One that cannot be deleted does not stop the others.
func (r *reconciler) move(ctx context.Context, id adapter.ID, node *corev1.Node, d decision, decided time.Time) error {
	moved := 0
	var errs []error
	for _, pod := range d.move {
		if r.clock.Since(decided) > retry.PlanLife {
			errs = append(errs, errOutdated)
			break
		}
		err := r.client.Delete(ctx, pod.DeepCopy(), client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
		switch {
		case err == nil:
			if pod.DeletionTimestamp == nil && !adapter.IsFinished(pod) {
				moved++
				metrics.Evicted(id.Pool, d.because)
			}
		case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err): // Gone, and perhaps another one has its name.
			errs = append(errs, fmt.Errorf("deleting placeholder %s/%s: %w", pod.Namespace, pod.Name, err))
		}
	}
	if moved > 0 {
		klog.FromContext(ctx).Info("Took vreplicas off the adapter", "count", moved, "reason", d.because)
		if node != nil {
			r.events.Eventf(node, nil, corev1.EventTypeWarning, v1alpha1.EventMoved, "Move",
				"Took %d vreplicas off the adapter, for others to serve: %s", moved, cordonWords[d.because])
		}
	}
	return errors.Join(errs...)
}
