package pool

import (
	"context"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
)

// mapper finds pools by their StatefulSet.
type mapper struct {
	objects client.Reader
}

func (m mapper) ofStatefulSet(ctx context.Context, set *appsv1.StatefulSet) []string {
	return m.pools(ctx, set.Namespace, set.Name)
}

// siblings are the pools that refer to the same StatefulSet, one of which may have it once another goes.
func (m mapper) siblings(ctx context.Context, pool *v1alpha1.AdapterPool) []string {
	return m.pools(ctx, pool.Spec.StatefulSetRef.Namespace, pool.Spec.StatefulSetRef.Name)
}

func (m mapper) ofAdapterPod(ctx context.Context, pod *corev1.Pod) []string {
	set, _, ok := adapter.Parse(pod.Name)
	if !ok {
		return nil
	}
	return m.pools(ctx, pod.Namespace, set)
}

func (m mapper) pools(ctx context.Context, namespace, set string) []string {
	var pools v1alpha1.AdapterPoolList
	field := client.MatchingFields{informers.ByStatefulSet: informers.StatefulSetKey(namespace, set)}
	if err := m.objects.List(ctx, &pools, field, client.UnsafeDisableDeepCopy); err != nil {
		// The cache does not run; everything is looked at again once it does.
		klog.FromContext(ctx).Error(err, "Listing pools from the cache failed")
	}
	var names []string
	for _, pool := range pools.Items {
		names = append(names, pool.Name)
	}
	return names
}

// ofNode: the pool whose virtual node it is, or which wants its name for one.
func ofNode(_ context.Context, node *corev1.Node) []string {
	if id, ok := adapter.OfNodeName(node.Name); ok {
		return []string{id.Pool}
	}
	return nil
}

// ofRealNode: those pools whose number of adapters depends on the number of nodes or zones.
func (m mapper) ofRealNode(ctx context.Context, node *corev1.Node) []string {
	if isVirtual(node) {
		return nil
	}
	var pools v1alpha1.AdapterPoolList
	if err := m.objects.List(ctx, &pools, client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Listing pools from the cache failed")
	}
	var names []string
	for i := range pools.Items {
		if hasUnit(&pools.Items[i]) {
			names = append(names, pools.Items[i].Name)
		}
	}
	return names
}

// ofVPod: the pool that serves it.
func ofVPod(_ context.Context, vpod *v1alpha1.VPod) []string { return []string{vpod.Spec.PoolName} }

// ofPlaceholder: the pool that it asks for, and the one that it is on, should that be another.
func ofPlaceholder(_ context.Context, pod *corev1.Pod) []string {
	pools := []string{pod.Labels[v1alpha1.LabelPool]}
	if id, ok := adapter.OfNodeName(pod.Spec.NodeName); ok && id.Pool != pools[0] {
		pools = append(pools, id.Pool)
	}
	return pools
}

// nodeFacts is all that a pool tells of one of its virtual nodes.
type nodeFacts struct {
	ready            bool
	reason, message  string
	cordoned, barred bool
	because, pool    string
	allocatable      int64
	notReadySinceSec int64
}

func factsOf(node *corev1.Node) nodeFacts {
	f := nodeFacts{
		cordoned: node.Spec.Unschedulable, barred: isBarred(node), because: node.Annotations[v1alpha1.AnnotationCordon],
		pool: node.Labels[v1alpha1.LabelPool], allocatable: capacityOf(node),
	}
	if c := adapter.NodeCondition(node, corev1.NodeReady); c != nil {
		f.ready, f.reason, f.message = c.Status == corev1.ConditionTrue, c.Reason, c.Message
		f.notReadySinceSec = c.LastTransitionTime.Unix()
	}
	return f
}

// nodeMatters leaves out what kubelets report of real nodes.
func nodeMatters(was, is *corev1.Node) bool {
	return was.Spec.ProviderID != is.Spec.ProviderID || isVirtual(is) && factsOf(was) != factsOf(is)
}

// realNodeMatters when other pods may run on it than before, or it is in another zone.
func realNodeMatters(was, is *corev1.Node) bool {
	return was.Spec.ProviderID != is.Spec.ProviderID || !isVirtual(is) &&
		(!maps.Equal(was.Labels, is.Labels) || !slices.EqualFunc(lasting(was), lasting(is), sameTaint))
}

func sameTaint(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }

// vpodMatters leaves out what is published of a VPod, except that its controller knows how many it asks for, and that no
// more placeholders can be made for it.
func vpodMatters(was, is *v1alpha1.VPod) bool {
	return seen(was) != seen(is) || limitOf(was) != limitOf(is) ||
		isRefused(was) != isRefused(is) || rulesOf(was) != rulesOf(is) ||
		(was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil)
}

// adapterMatters also when the scheduler has more to say of an adapter that waits for a host.
func adapterMatters(was, is *corev1.Pod) bool {
	return podMatters(was, is) || unscheduled(was) != unscheduled(is)
}

// podMatters when a placeholder finds no room, is bound, begins to go or holds room no more, and when an adapter gets its host.
func podMatters(was, is *corev1.Pod) bool {
	return was.Spec.NodeName != is.Spec.NodeName || waitsForRoom(was) != waitsForRoom(is) ||
		adapter.IsFinished(was) != adapter.IsFinished(is) ||
		(was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
		was.Labels[v1alpha1.LabelPool] != is.Labels[v1alpha1.LabelPool]
}
