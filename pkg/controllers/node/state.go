// Package node keeps a virtual node for each adapter, which mirrors the adapter's pod and the real node under it, and takes
// vreplicas off adapters that are lost or removed.
//
// An adapter is open for vreplicas from the moment that its pod has a host; it need not be ready, and nothing that an
// adapter needs to start may depend on a placement. Where it did, adapters would wait for vreplicas and vreplicas for
// adapters. An adapter that does not become ready within the pool's evictionTimeout is taken out of use again.
package node

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// defaultEvictionTimeout is that of a pool that does not say.
const defaultEvictionTimeout = 5 * time.Minute

// state is what is known of one adapter. What is nil does not exist. Nothing in it is changed.
type state struct {
	id adapter.ID
	// pool is the one that the name of the node says; holds: it has its StatefulSet, and no other pool does.
	pool  *v1alpha1.AdapterPool
	holds bool
	set   *appsv1.StatefulSet
	// pod has the adapter's name. Whether it is the adapter, adapter() says.
	pod *corev1.Pod
	// host is the real node that the pod is on.
	host *corev1.Node
	// node has the name of the virtual node.
	node *corev1.Node
	// bound are the placeholders on a node of that name.
	bound []*corev1.Pod
	// othersReady: another adapter of the pool is ready, and takes vreplicas.
	othersReady bool
}

// decision is what to do about an adapter.
type decision struct {
	// node is the virtual node as it should be. nil: there should be none.
	node *corev1.Node
	// move are the placeholders to delete, so that they are placed elsewhere, and because says why: CordonRemoved or
	// CordonLost.
	move    []*corev1.Pod
	because string
	// after is when to look again, even if nothing happens until then. 0: not.
	after time.Duration
}

// fate is what becomes of an adapter.
type fate int

const (
	// inUse: the pool has the adapter.
	inUse fate = iota
	// retired: it gets no more vreplicas and keeps those that it has, because it goes on serving them.
	retired
	// removed: there will be no such adapter, and its vreplicas go at once.
	removed
)

// decide is everything that this controller knows about its job. It depends on nothing but its arguments.
func decide(s state, version string, now time.Time) decision {
	if s.node != nil && !s.id.Owns(s.node) {
		// The pool cannot have this adapter, and its own controller says so.
		return decision{node: s.node}
	}
	s.pod, s.bound = s.adapter(), s.placeholders()
	f, h := s.fate(), s.health(now)
	var d decision
	switch {
	case f == removed:
		d.move, d.because = s.bound, v1alpha1.CordonRemoved
	case f == inUse && h.lost && s.othersReady:
		// Without another adapter that is ready and open they would be no better off: an outage of everything, or of our view of it,
		// moves nothing.
		d.move, d.because = unfinished(s.bound), v1alpha1.CordonLost
	}
	if s.hasNode(f, h) {
		d.node = s.shape(s.cordon(f, h), h, version, now)
		if s.isPool() && !h.ready && !h.lost {
			d.after = h.since.Add(s.timeout()).Sub(now)
		}
	}
	return d
}

// adapter is the pod if it is the adapter: that of the StatefulSet, or what a StatefulSet that was deleted left behind
// running. The latter is how to replace one without its pods, and the next one adopts them.
func (s state) adapter() *corev1.Pod {
	if s.pod == nil {
		return nil
	}
	owner := metav1.GetControllerOfNoCopy(s.pod)
	isOfSet := s.set != nil && owner != nil && owner.UID == s.set.UID
	isLeftBehind := s.isSetGone() && (owner == nil || owner.Kind == adapter.KindStatefulSet)
	if isOfSet || isLeftBehind {
		return s.pod
	}
	return nil
}

// placeholders are those bound to the node. While there is none, a name alone does not make a pod this pool's.
func (s state) placeholders() []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range s.bound {
		if s.node != nil || pod.Labels[v1alpha1.LabelPool] == s.id.Pool {
			all = append(all, pod)
		}
	}
	return all
}

func unfinished(pods []*corev1.Pod) []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range pods {
		if !adapter.IsFinished(pod) {
			all = append(all, pod)
		}
	}
	return all
}

func (s state) fate() fate {
	switch {
	case s.pool == nil:
		return removed
	case s.isSetGone():
		if s.pod != nil && s.pod.DeletionTimestamp == nil {
			return retired
		}
		return removed
	case !s.id.In(s.set):
		return removed
	case !s.isPool():
		return retired
	}
	return inUse
}

func (s state) isSetGone() bool { return s.set == nil || s.set.DeletionTimestamp != nil }

// isPool says whether the pool has adapters, if its StatefulSet does.
func (s state) isPool() bool { return s.pool != nil && s.pool.DeletionTimestamp == nil && s.holds }

// hasHost is the test of whether an adapter can have vreplicas.
func (s state) hasHost() bool { return s.pod != nil && s.pod.Spec.NodeName != "" }

// hasNode says whether the virtual node should be there.
func (s state) hasNode(f fate, h health) bool {
	holdsVReplicas := len(unfinished(s.bound)) > 0
	switch {
	case f == removed:
		return s.node != nil && holdsVReplicas
	case holdsVReplicas:
		// Else kube-controller-manager would delete them as pods of a node that is gone.
		return true
	case !s.isPool():
		return false
	case s.hasHost():
		return true
	}
	return s.node != nil && !h.lost
}

// timeout is how long the adapter may be gone or not ready.
func (s state) timeout() time.Duration {
	if t := s.pool.Spec.EvictionTimeout; t != nil {
		return t.Duration
	}
	return defaultEvictionTimeout
}
