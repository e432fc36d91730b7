package soak

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// mostSurge is how many more vreplicas than asked for there may be while others are moved.
const mostSurge = 10

// staleStatus is how long a status may still name an adapter that is gone, because who wrote it had not heard.
const staleStatus = 3 * time.Second

// placeholder follows one vreplica.
func (h *history) placeholder(e event, p *corev1.Pod) {
	was := h.pods[p.UID]
	if was != nil && isServed(was) && isAlive(was) && (e.gone || !isAlive(p)) {
		h.ends(e, was)
	}
	if was != nil && was.Spec.NodeName != "" && was.Spec.NodeName != p.Spec.NodeName {
		h.breach(e, "G4", "%s went from %s to %q", key(p), was.Spec.NodeName, p.Spec.NodeName)
	}
	if h.pods[p.UID] = p; e.gone {
		delete(h.pods, p.UID)
		return
	}
	h.marked(e, was, p)
	if was == nil {
		h.created(e, p)
	}
	if p.Spec.NodeName != "" && (was == nil || was.Spec.NodeName == "") {
		h.bound(e, p)
	}
	if isServed(p) && (was == nil || !isServed(was)) {
		if n := h.served(p.Spec.NodeName); n > h.limits[p.Spec.NodeName] {
			h.breach(e, "G1", "%s is served by %s as number %d, which has room for %d", key(p), p.Spec.NodeName, n, h.limits[p.Spec.NodeName])
		}
		if h.isGivenUp(p.Spec.NodeName) {
			h.breach(e, "G6", "%s is served by %s, which was removed", key(p), p.Spec.NodeName)
		}
	}
	if p.Status.Phase == corev1.PodFailed && p.Status.Reason == v1alpha1.PodOutOfVReplicas && (was == nil || !isFinished(was)) {
		if was != nil && isServed(was) {
			h.tally.surplus++
		} else {
			h.tally.rejected++
		}
	}
}

// created looks for more placeholders than anybody asked for.
func (h *history) created(e event, p *corev1.Pod) {
	vpod := h.vpods[owner(p)]
	if vpod == nil {
		return
	}
	// Each is replaced by one that is there before it goes.
	most, leaving := h.asked[vpod.UID], int32(len(h.leave(vpod, e.at)))
	if h.alive(p) > most && leaving > 0 {
		h.surges[p.UID] = true
	}
	if leaving == 0 && (h.reclassed[vpod.UID] || h.isOutdated(vpod)) {
		most++
	}
	most += min(leaving, mostSurge)
	switch n := h.alive(p); {
	case n <= most || h.expected.blind:
	case h.expected.twoLead:
		h.tally.excess++
	default:
		h.breach(e, "VPods", "%s is number %d of %s, which asks for %d at most", key(p), n, vpod.Name, most)
	}
}

// isOutdated says whether placeholders of a VPod have a PriorityClass that it had before.
func (h *history) isOutdated(vpod *v1alpha1.VPod) bool {
	return h.has(func(p *corev1.Pod) bool {
		return isPlaceholder(p) && owner(p) == vpod.UID && isAlive(p) && p.Spec.PriorityClassName != vpod.Spec.PriorityClassName
	})
}

// alive is how many placeholders there are of the same VPod, and serve how many of them are served.
func (h *history) alive(p *corev1.Pod) int32 {
	return h.siblings(p, func(*corev1.Pod) bool { return true })
}

func (h *history) serve(p *corev1.Pod) int32 { return h.siblings(p, isServed) }

func (h *history) siblings(p *corev1.Pod, counts func(*corev1.Pod) bool) int32 {
	n := int32(0)
	for _, o := range h.pods {
		if isPlaceholder(o) && owner(o) == owner(p) && isAlive(o) && counts(o) {
			n++
		}
	}
	return n
}

// bound counts bindings, and those that the rules do not allow. They are no breach as long as the adapter does not serve
// them.
func (h *history) bound(e event, p *corev1.Pod) {
	h.tally.placed++
	node := h.nodes[p.Spec.NodeName]
	if node != nil && !isVirtual(node) {
		h.breach(e, "C38", "%s was put on the real node %s", key(p), node.Name)
	}
	isFull := h.held(p.Spec.NodeName) > h.limits[p.Spec.NodeName]
	isBeyondLimit := h.isBeyondLimit(p)
	when := fmt.Sprintf("version %d, %s", e.version, e.at.Format("15:04:05.000"))
	switch isByHand := h.expected.bound[p.UID] || p.Namespace == guests; {
	case (isFull || isBeyondLimit) && isByHand:
		h.tally.byHand++
	case isFull:
		h.tally.beyondRoom++
		h.tally.notes.add("room", "%s to %s, which has %d of %d, at %s",
			key(p), p.Spec.NodeName, h.held(p.Spec.NodeName), h.limits[p.Spec.NodeName], when)
	case isBeyondLimit:
		h.tally.beyondLimit++
		h.tally.notes.add("limit", "%s to %s, at %s", key(p), p.Spec.NodeName, when)
	}
}

// isBeyondLimit says whether a VPod has come to use more adapters than it may.
func (h *history) isBeyondLimit(p *corev1.Pod) bool {
	vpod := h.vpods[owner(p)]
	if vpod == nil || vpod.Spec.MaxAdapters == nil {
		return false
	}
	used := map[string]bool{}
	for _, o := range h.pods {
		if isPlaceholder(o) && owner(o) == vpod.UID && isAlive(o) && o.Spec.NodeName != "" && o.UID != p.UID {
			used[o.Spec.NodeName] = true
		}
	}
	return !used[p.Spec.NodeName] && len(used) >= int(*vpod.Spec.MaxAdapters)
}

// ends asks why a vreplica is not served any more.
func (h *history) ends(e event, was *corev1.Pod) {
	why := h.excuse(e, was)
	switch {
	case isMove(why):
		h.moved(e, was)
	case why != notMoved:
		h.loses(was, e.at)
	}
	if e.missed || why == "" && h.expected.blind {
		h.unseen = append(h.unseen, end{e, was})
		return
	}
	if why == "" {
		now := e.object.(*corev1.Pod)
		h.breach(e, "G4", "%s was served by %s, and is deleted (%t) or %s (%s %s), and nothing explains it",
			key(was), was.Spec.NodeName, now.DeletionTimestamp != nil || e.gone, now.Status.Phase, now.Status.Reason, now.Status.Message)
	}
	h.tally.moved[why]++
}

// vpod follows what a VPod asks for, and what is published.
func (h *history) vpod(e event, v *v1alpha1.VPod) {
	was := h.vpods[v.UID]
	if h.vpods[v.UID] = v; e.gone {
		delete(h.vpods, v.UID)
		return
	}
	h.asked[v.UID] = max(h.asked[v.UID], wants(v))
	if h.askedAt[v.UID] == nil {
		h.askedAt[v.UID] = map[int64]int32{}
	}
	h.askedAt[v.UID][v.Generation] = wants(v)
	if was == nil {
		return
	}
	if was.Spec.PriorityClassName != v.Spec.PriorityClassName {
		h.reclassed[v.UID] = true
	}
	if was.Generation == v.Generation && was.DeletionTimestamp.Equal(v.DeletionTimestamp) {
		h.published(e, v)
		h.dips(e, was, v)
	}
}

// published looks at a status that has just been written. Writes of the spec make another generation.
func (h *history) published(e event, v *v1alpha1.VPod) {
	pool, sum := h.pools[v.Spec.PoolName], int32(0)
	for _, p := range v.Status.Placements {
		sum += p.VReplicas
		if pool == nil {
			continue
		}
		_, ordinal, _ := split(p.PodName)
		name := v1alpha1.NodeName(pool.Name, ordinal)
		gone, isGone := h.nodeGone[name]
		if isGone && e.at.Sub(gone) > staleStatus && !h.hasPod(pool.Spec.StatefulSetRef.Namespace+"/"+p.PodName) {
			h.breach(e, "G6", "the status of %s names %s, which has been gone since %s", key(v), p.PodName, gone.Format("15:04:05.000"))
		}
	}
	if most, known := h.askedAt[v.UID][v.Status.ObservedGeneration]; known && sum > most {
		h.breach(e, "status", "the status of %s places %d vreplicas, and it asked for %d", key(v), sum, most)
	}
}

func (h *history) hasPod(name string) bool {
	return h.has(func(p *corev1.Pod) bool { return key(p) == name })
}
