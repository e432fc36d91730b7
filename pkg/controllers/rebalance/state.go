package rebalance

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// state is all that is known of a pool. Nothing in it is changed; it is shared with the cache.
type state struct {
	pool *v1alpha1.AdapterPool
	// set is nil if there is none.
	set *appsv1.StatefulSet
	// nodes are the adapters as the scheduler sees them: those with the pool's label, whoever keeps them.
	nodes []*corev1.Node
	// pods are the placeholders that ask for the pool.
	pods  []*corev1.Pod
	vpods []*v1alpha1.VPod
}

// isOn says whether a pool is evened out.
func isOn(pool *v1alpha1.AdapterPool) bool {
	return pool.DeletionTimestamp == nil && pool.Spec.Descheduling != nil && pool.Spec.Descheduling.Rebalance != nil &&
		pool.Spec.Descheduling.Rebalance.Mode == v1alpha1.RebalanceOn
}

// isDraining says whether the pool is about to do without some of its adapters. The nodes alone may not say so yet.
func (s state) isDraining() bool {
	return slices.ContainsFunc(s.nodes, func(node *corev1.Node) bool {
		id, ok := adapter.OfNodeName(node.Name)
		return node.Annotations[v1alpha1.AnnotationCordon] == v1alpha1.CordonDraining ||
			ok && s.set != nil && id.Owns(node) && id.IsDraining(s.pool, s.set)
	})
}

// marked are the placeholders that carry our mark.
func (s state) marked() []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range s.pods {
		if isAlive(pod) && isOurs(pod) {
			all = append(all, pod)
		}
	}
	return all
}

// isOurs says whether a placeholder carries the mark of this controller, and isMoving whether it carries anybody's.
func isOurs(pod *corev1.Pod) bool {
	return pod.Annotations[v1alpha1.AnnotationMove] == v1alpha1.MoveRebalance
}

func isMoving(pod *corev1.Pod) bool { return pod.Annotations[v1alpha1.AnnotationMove] != "" }

func isAlive(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !adapter.IsFinished(pod) }

func isAdmitted(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodRunning
}

// view is a state, counted.
type view struct {
	state
	// adapters are what the scheduler sees; open and ready say by slot which of them take vreplicas, and which are ready.
	adapters    *placement.Pool
	open, ready []bool
	// own are the placeholders of each VPod that are there to stay.
	own map[types.UID][]*corev1.Pod
}

func (s state) count() view {
	v := view{state: s, adapters: snapshot.PoolOf(s.nodes, s.pods), own: map[types.UID][]*corev1.Pod{}}
	v.open, v.ready = make([]bool, v.adapters.Len()), make([]bool, v.adapters.Len())
	for _, node := range s.nodes {
		if slot, ok := v.adapters.Slot(node.Name); ok {
			v.open[slot], v.ready[slot] = isOpen(node), adapter.IsNodeReady(node)
		}
	}
	for _, pod := range s.pods {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.Kind == v1alpha1.KindVPod && isAlive(pod) {
			v.own[owner.UID] = append(v.own[owner.UID], pod)
		}
	}
	return v
}

// isOpen says whether an adapter takes vreplicas. Those that are not ready do, by the tolerations of placeholders.
func isOpen(node *corev1.Node) bool {
	return !node.Spec.Unschedulable && !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		switch taint.Key {
		case v1alpha1.TaintPool, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
			return false
		}
		return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
	})
}

// request is one more vreplica of a VPod.
func (v view) request(vpod *v1alpha1.VPod) placement.Request {
	r := placement.Request{VPod: idOf(vpod), Size: 1, Open: v.isOpen}
	if vpod.Spec.MaxAdapters != nil {
		r.Limit = int(*vpod.Spec.MaxAdapters)
	}
	return r
}

func (v view) isOpen(slot int) bool { return v.open[slot] }

// idOf is a VPod as placement knows it.
func idOf(vpod *v1alpha1.VPod) placement.VPod {
	return placement.VPod{Namespace: vpod.Namespace, Kind: v1alpha1.KindVPod, Name: vpod.Name}
}

// isSettled says whether each vreplica of a VPod is served, and none is about to move.
func (v view) isSettled(vpod *v1alpha1.VPod) bool {
	own := v.own[vpod.UID]
	return len(own) == adapter.DesiredReplicas(vpod) &&
		!slices.ContainsFunc(own, func(pod *corev1.Pod) bool { return !isAdmitted(pod) || isMoving(pod) })
}
