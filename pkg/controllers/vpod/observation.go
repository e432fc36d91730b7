package vpod

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// observation is all that is known when something is decided about a VPod. Nothing in it is ever changed; it may be
// shared with the cache.
type observation struct {
	vpod *v1alpha1.VPod
	// pods are those that the VPod controls, those with its label, and those that were found to have a name that it wants.
	pods []*corev1.Pod
	// pool is nil if there is none. set is its StatefulSet, and nil unless the pool is scaled.
	pool *v1alpha1.AdapterPool
	set  *appsv1.StatefulSet
	// nodes are the pool's adapters that pods are on, by name; their ordinals are well formed. empty: it has none at all.
	nodes map[string]*corev1.Node
	empty bool
	// draining are those of the nodes that take no more vreplicas and lose those that they have, by name.
	draining map[string]bool
	// census is nil unless a vreplica waits and its scheduler said why, or some are stale.
	census *census
	// held is how many vreplicas were placed at best since some are being replaced; 0 if none are.
	held int
	// lacking is since when there has been no room for one more, while some are being replaced; zero: there is.
	lacking time.Time
	// tried is when the scheduler last found no room for one more, nor any by preemption.
	tried time.Time
	// shrinks: fewer are asked for than were, and those that are too many are not gone yet.
	shrinks bool
	// refusal is nil unless the API server refused to create a placeholder when it was last asked, eviction unless it refused
	// to evict one.
	refusal, eviction *refusal
	now               time.Time
}

// desired is the number of vreplicas asked for.
func desired(vpod *v1alpha1.VPod) int { return adapter.DesiredReplicas(vpod) }

// relation is whose a pod is.
type relation int

const (
	// foreign pods are left alone.
	foreign relation = iota
	// own pods are controlled by the VPod, or were until it was deleted without them and created again.
	own
	// inherited pods are controlled by a VPod that had the same name, and are about to be garbage collected.
	inherited
)

func (o observation) relationTo(pod *corev1.Pod) relation {
	if !adapter.IsPlaceholder(pod) {
		return foreign
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case owner == nil:
		if adapter.Adopts(o.vpod, pod) {
			return own
		}
		return foreign
	case owner.UID == o.vpod.UID:
		return own
	case owner.Kind == v1alpha1.KindVPod && owner.APIVersion == v1alpha1.GroupVersion.String() && owner.Name == o.vpod.Name:
		return inherited
	}
	return foreign
}

// alive are the placeholders that count: the VPod's own that are neither being deleted nor finished.
func (o observation) alive() []*corev1.Pod {
	var alive []*corev1.Pod
	for _, pod := range o.pods {
		if o.relationTo(pod) == own && pod.DeletionTimestamp == nil && !adapter.IsFinished(pod) && adapter.IsUnit(pod) {
			alive = append(alive, pod)
		}
	}
	return alive
}

func isWaiting(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }

// isAdmitted says whether a placeholder is on an adapter, and not about to be failed because there is no room.
func isAdmitted(pod *corev1.Pod) bool {
	return !isWaiting(pod) && pod.Status.Phase == corev1.PodRunning
}

// isRefused says whether the scheduler tried a placeholder that waits, and found nothing for it.
func isRefused(pod *corev1.Pod) bool {
	c := adapter.PodCondition(pod, corev1.PodScheduled)
	return isWaiting(pod) && c != nil && c.Status == corev1.ConditionFalse
}

// isUntried says whether no scheduler has said anything of a placeholder that waits.
func isUntried(pod *corev1.Pod) bool {
	return isWaiting(pod) && adapter.PodCondition(pod, corev1.PodScheduled) == nil
}

// filter returns the pods for which holds is true.
func filter(pods []*corev1.Pod, holds func(*corev1.Pod) bool) []*corev1.Pod {
	var some []*corev1.Pod
	for _, pod := range pods {
		if holds(pod) {
			some = append(some, pod)
		}
	}
	return some
}

// without returns the pods that are not among some others.
func without(pods, others []*corev1.Pod) []*corev1.Pod {
	excluded := make(map[*corev1.Pod]bool, len(others))
	for _, pod := range others {
		excluded[pod] = true
	}
	return filter(pods, func(pod *corev1.Pod) bool { return !excluded[pod] })
}
