package soak

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// lossEarly is how much too early the end of an adapter's timeout may seem to be: the API counts in whole seconds.
const lossEarly = 1500 * time.Millisecond

// excuse says why a vreplica that was served may go; "" if nothing explains it. The state is that right before.
func (h *history) excuse(e event, was *corev1.Pod) string {
	name, _, _ := split(was.Spec.NodeName)
	pool := h.pools[name]
	switch now := e.object.(*corev1.Pod); {
	case h.expected.pods[was.UID]:
		return "by hand"
	case pool == nil || pool.DeletionTimestamp != nil:
		return "pool deleted"
	case now.Status.Phase != corev1.PodFailed:
		wish, trouble := h.wish(e, was), h.trouble(e, was, pool)
		if wish == notMoved {
			return cmp.Or(trouble, wish)
		}
		return cmp.Or(wish, trouble)
	case now.Status.Reason == v1alpha1.PodOutOfVReplicas && h.served(was.Spec.NodeName) > h.room(pool, was.Spec.NodeName):
		return "capacity lowered"
	}
	return ""
}

// wish is what a tenant wants of a vreplica that goes, or who has it moved. One that was made by hand has no tenant. The
// state is that right before, so what goes is counted.
func (h *history) wish(e event, was *corev1.Pod) string {
	vpod := h.vpods[owner(was)]
	switch {
	case vpod == nil && owner(was) == "":
		return ""
	case vpod == nil || vpod.DeletionTimestamp != nil:
		return "VPod deleted"
	}
	isOneTooMany, isOutdated := h.alive(was) > wants(vpod), was.Spec.PriorityClassName != vpod.Spec.PriorityClassName
	// Of those that were to take the place of others, some may just have been lost, which nobody knew.
	isReplaced := h.serve(was)+h.lost(vpod, e.at) > wants(vpod)
	switch leaving := h.leaving(was, e.at); {
	case isReplaced && !h.isLeaving(was) && h.isSurge(was):
		return notMoved
	case isReplaced && leaving != "":
		return leaving
	case (isOneTooMany || h.expected.blind) && h.asked[vpod.UID] > wants(vpod):
		return "scaled down"
	case isOneTooMany && h.expected.twoLead:
		return "one too many"
	case isOutdated && (isOneTooMany || h.expected.blind || h.hasSuccessor(vpod)), isOneTooMany && h.reclassed[vpod.UID]:
		return "other priority"
	case leaving != "" && h.isConfined(vpod, e.at):
		return leaving + atLimit
	}
	return ""
}

const (
	atLimit = ", at its limit"
	// notMoved: one that was to take the place of another goes instead of it, because that stays.
	notMoved = "not moved after all"
)

// isMove says whether an excuse is that of a move that could have been left undone.
func isMove(why string) bool {
	switch strings.TrimSuffix(why, atLimit) {
	case "drained", "rebalanced", "moved by request":
		return true
	}
	return false
}

// hasSuccessor says whether a vreplica of the class that the VPod has now waits for the room of one of another class.
func (h *history) hasSuccessor(vpod *v1alpha1.VPod) bool {
	return h.has(func(p *corev1.Pod) bool {
		return isPlaceholder(p) && owner(p) == vpod.UID && isAlive(p) && !isServed(p) && p.Spec.PriorityClassName == vpod.Spec.PriorityClassName
	})
}

// trouble is what happened to the adapter of a vreplica, or to the vreplica on it.
func (h *history) trouble(e event, was *corev1.Pod, pool *v1alpha1.AdapterPool) string {
	_, ordinal, _ := split(was.Spec.NodeName)
	ref := pool.Spec.StatefulSetRef
	adapter := v1alpha1.NodeName(ref.Namespace+"/"+ref.Name, ordinal)
	since, isNotReady := h.outages.since[adapter]
	isLost := isNotReady && e.at.Sub(since) >= pool.Spec.EvictionTimeout.Duration-lossEarly
	c := podCondition(was, corev1.DisruptionTarget)
	isPreempted := c != nil && c.Reason == corev1.PodReasonPreemptionByScheduler
	switch {
	case h.outages.isRemovedByHand(adapter, e.at):
		return "adapter removed"
	case isLost && (h.hasReady(ref.Namespace+"/"+ref.Name) || h.expected.blind):
		return "adapter lost"
	case (isPreempted || h.expected.blind) && h.hasHigher(was):
		return "preempted"
	}
	return ""
}

// hasReady says whether an adapter of a StatefulSet is ready. Else a vreplica would be no better off anywhere.
func (h *history) hasReady(set string) bool {
	return h.has(func(p *corev1.Pod) bool {
		name, _, ok := split(key(p))
		return ok && name == set && isPodReady(p)
	})
}

func (h *history) has(holds func(*corev1.Pod) bool) bool {
	for _, p := range h.pods {
		if holds(p) {
			return true
		}
	}
	return false
}

// room is what a node has room for at this moment. The pool says it first.
func (h *history) room(pool *v1alpha1.AdapterPool, node string) int64 {
	room := int64(pool.Spec.Capacity)
	if n := h.nodes[node]; n != nil {
		room = min(room, capacity(n))
	}
	return room
}

// hasHigher says whether there is a vreplica that may push another one out.
func (h *history) hasHigher(than *corev1.Pod) bool {
	return h.has(func(p *corev1.Pod) bool {
		isSamePool := p.Labels[v1alpha1.LabelPool] == than.Labels[v1alpha1.LabelPool]
		return isPlaceholder(p) && isAlive(p) && isSamePool && priority(p) > priority(than)
	})
}
