package rebalance

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// mapper finds the pool that an object concerns, if that pool is evened out.
type mapper struct {
	objects client.Reader
}

// ofPlaceholder: also in a pool that is not evened out any more, one that carries a mark may be left.
func (m mapper) ofPlaceholder(ctx context.Context, pod *corev1.Pod) string {
	pool := pod.Labels[v1alpha1.LabelPool]
	if isOurs(pod) {
		return pool
	}
	return m.ifOn(ctx, pool)
}

func (m mapper) ofNode(ctx context.Context, node *corev1.Node) string {
	return m.ifOn(ctx, node.Labels[v1alpha1.LabelPool])
}

func (m mapper) ofVPod(ctx context.Context, vpod *v1alpha1.VPod) string {
	return m.ifOn(ctx, vpod.Spec.PoolName)
}

// ifOn leaves out pools that are not evened out, so that they cost nothing.
func (m mapper) ifOn(ctx context.Context, name string) string {
	pool := &v1alpha1.AdapterPool{}
	err := m.objects.Get(ctx, client.ObjectKey{Name: name}, pool, client.UnsafeDisableDeepCopy)
	if err != nil || !isOn(pool) {
		return ""
	}
	return name
}

// poolMatters leaves out counts, which change with every placement.
func poolMatters(was, is *v1alpha1.AdapterPool) bool {
	return was.Generation != is.Generation || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
		!ptr.Equal(was.Status.TargetAdapters, is.Status.TargetAdapters) ||
		!ptr.Equal(was.Status.WantedAdapters, is.Status.WantedAdapters)
}

// podFacts is all that counts of a placeholder.
type podFacts struct {
	node, pool, vpod, move string
	phase                  corev1.PodPhase
	leaving                bool
}

func factsOf(pod *corev1.Pod) podFacts {
	return podFacts{
		node: pod.Spec.NodeName, pool: pod.Labels[v1alpha1.LabelPool], vpod: pod.Labels[v1alpha1.LabelVPod],
		move: pod.Annotations[v1alpha1.AnnotationMove], phase: pod.Status.Phase, leaving: pod.DeletionTimestamp != nil,
	}
}

func podMatters(was, is *corev1.Pod) bool { return factsOf(was) != factsOf(is) }

// nodeMatters leaves out heartbeats.
func nodeMatters(was, is *corev1.Node) bool {
	return was.Spec.Unschedulable != is.Spec.Unschedulable || adapter.IsNodeReady(was) != adapter.IsNodeReady(is) ||
		was.Annotations[v1alpha1.AnnotationCordon] != is.Annotations[v1alpha1.AnnotationCordon] ||
		!apiequality.Semantic.DeepEqual(was.Labels, is.Labels) ||
		!apiequality.Semantic.DeepEqual(was.Spec.Taints, is.Spec.Taints) ||
		!apiequality.Semantic.DeepEqual(was.Status.Allocatable, is.Status.Allocatable)
}

func vpodMatters(was, is *v1alpha1.VPod) bool {
	return was.Generation != is.Generation || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil)
}
