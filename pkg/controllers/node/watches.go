package node

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
)

// mapper says which virtual nodes an object concerns, by name. It reads from caches, which fail only when they are not
// running; then everything is looked at again once they are.
type mapper struct {
	objects, adapterPods client.Reader
}

// ofNode: a node itself, if it has an adapter's name, and the adapters on it, if it is a real one. A virtual one that takes
// vreplicas again concerns those of its pool that are not ready as well, whose vreplicas may now have somewhere to go.
func (m mapper) ofNode(ctx context.Context, node *corev1.Node) []string {
	var nodes []string
	id, ok := adapter.OfNodeName(node.Name)
	if ok {
		nodes = append(nodes, node.Name)
	}
	if v1alpha1.IsVirtual(node.Spec.ProviderID) {
		if ok && adapter.IsNodeReady(node) && !node.Spec.Unschedulable {
			nodes = append(nodes, m.notReady(ctx, id)...)
		}
		return nodes
	}
	for _, pod := range m.pods(ctx, client.MatchingFields{informers.ByNode: node.Name}) {
		nodes = append(nodes, m.ofAdapter(ctx, &pod)...)
	}
	return nodes
}

// ofPlaceholder: the node that it is bound to.
func ofPlaceholder(_ context.Context, pod *corev1.Pod) []string {
	if pod.Spec.NodeName == "" || !adapter.IsPlaceholder(pod) {
		return nil
	}
	return []string{pod.Spec.NodeName}
}

// ofAdapterPod: the adapter, and once it is ready also those of its pool that are not: its node may have been open, and
// called ready, all the time.
func (m mapper) ofAdapterPod(ctx context.Context, pod *corev1.Pod) []string {
	nodes := m.ofAdapter(ctx, pod)
	if !isServing(pod) {
		return nodes
	}
	for _, node := range nodes[:len(nodes):len(nodes)] {
		id, _ := adapter.OfNodeName(node)
		nodes = append(nodes, m.notReady(ctx, id)...)
	}
	return nodes
}

// notReady are the other adapters of a pool that are not ready.
func (m mapper) notReady(ctx context.Context, id adapter.ID) []string {
	var nodes []string
	for _, other := range m.nodes(ctx, id.Pool) {
		if !adapter.IsNodeReady(&other) && other.Name != id.NodeName() {
			nodes = append(nodes, other.Name)
		}
	}
	return nodes
}

// ofAdapter: the node of the adapter that has the pod's name, in each pool that refers to its StatefulSet.
func (m mapper) ofAdapter(ctx context.Context, pod *corev1.Pod) []string {
	set, ordinal, ok := adapter.Parse(pod.Name)
	if !ok {
		return nil
	}
	var nodes []string
	for _, pool := range m.pools(ctx, pod.Namespace, set) {
		nodes = append(nodes, v1alpha1.NodeName(pool.Name, ordinal))
	}
	return nodes
}

// ofPool: all of its adapters, and those of the pools that have the same StatefulSet once it is gone.
func (m mapper) ofPool(ctx context.Context, pool *v1alpha1.AdapterPool) []string {
	ref := pool.Spec.StatefulSetRef
	nodes := m.ofStatefulSet(ctx, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}})
	for _, node := range m.nodes(ctx, pool.Name) {
		nodes = append(nodes, node.Name)
	}
	return nodes
}

// ofStatefulSet: the nodes that there are, and those that there should be, of its pools.
func (m mapper) ofStatefulSet(ctx context.Context, set *appsv1.StatefulSet) []string {
	var nodes []string
	key := informers.StatefulSetKey(set.Namespace, set.Name)
	pods := m.pods(ctx, client.MatchingFields{informers.ByStatefulSet: key})
	for _, pool := range m.pools(ctx, set.Namespace, set.Name) {
		for _, node := range m.nodes(ctx, pool.Name) {
			nodes = append(nodes, node.Name)
		}
		for _, pod := range pods {
			if _, ordinal, ok := adapter.Parse(pod.Name); ok {
				nodes = append(nodes, v1alpha1.NodeName(pool.Name, ordinal))
			}
		}
	}
	return nodes
}

func (m mapper) pools(ctx context.Context, namespace, set string) []v1alpha1.AdapterPool {
	var pools v1alpha1.AdapterPoolList
	m.list(ctx, m.objects, &pools, client.MatchingFields{informers.ByStatefulSet: informers.StatefulSetKey(namespace, set)})
	return pools.Items
}

func (m mapper) nodes(ctx context.Context, pool string) []corev1.Node {
	var nodes corev1.NodeList
	m.list(ctx, m.objects, &nodes, client.MatchingFields{informers.ByPool: pool})
	return nodes.Items
}

func (m mapper) pods(ctx context.Context, which client.MatchingFields) []corev1.Pod {
	var pods corev1.PodList
	m.list(ctx, m.adapterPods, &pods, which)
	return pods.Items
}

// list does not copy: nothing here changes an object, and there may be thousands.
func (m mapper) list(ctx context.Context, from client.Reader, into client.ObjectList, which client.MatchingFields) {
	if err := from.List(ctx, into, which, client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Listing from the cache failed")
	}
}

// nodeMatters leaves out what kubelets report of real nodes all the time. Of a virtual node nothing is left out, so that
// what others change is put back.
func nodeMatters(was, is *corev1.Node) bool {
	return v1alpha1.IsVirtual(is.Spec.ProviderID) || factsOf(was) != factsOf(is)
}

// poolMatters when its user changed it, or when other adapters are draining now. Its counts change with every placement.
func poolMatters(was, is *v1alpha1.AdapterPool) bool {
	return was.Generation != is.Generation || !ptr.Equal(was.Status.TargetAdapters, is.Status.TargetAdapters)
}

// placeholderMatters when it is bound, or holds room no more; when it is gone there is no update.
func placeholderMatters(was, is *corev1.Pod) bool {
	return was.Spec.NodeName != is.Spec.NodeName || adapter.IsFinished(was) != adapter.IsFinished(is) ||
		was.Labels[v1alpha1.LabelPool] != is.Labels[v1alpha1.LabelPool]
}

// podFacts is all that a virtual node has of its adapter's pod.
type podFacts struct {
	uid, owner       types.UID
	node, marked     string
	ready, leaving   bool
	finished         bool
	message          string
	notReadySinceSec int64
}

func factsOfPod(pod *corev1.Pod) podFacts {
	facts := podFacts{
		uid: pod.UID, node: pod.Spec.NodeName, marked: pod.Annotations[v1alpha1.AnnotationUnschedulable],
		leaving: pod.DeletionTimestamp != nil, finished: adapter.IsFinished(pod),
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		facts.owner = owner.UID
	}
	if c := adapter.PodCondition(pod, corev1.PodReady); c != nil {
		facts.ready = c.Status == corev1.ConditionTrue
		facts.message, facts.notReadySinceSec = c.Message, c.LastTransitionTime.Unix()
	}
	return facts
}

func adapterPodMatters(was, is *corev1.Pod) bool {
	return factsOfPod(was) != factsOfPod(is)
}
