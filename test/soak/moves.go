package soak

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// What is moved though nothing is wrong with its adapter: because the pool is to do without that, because another one is
// better, or because a person asked for it. Each such move puts another vreplica in its place first.

// leaving says why a vreplica is to be served elsewhere; "" if it is not.
func (h *history) leaving(p *corev1.Pod, at time.Time) string {
	isDrained := h.isDrained(p.Spec.NodeName, at)
	mark, isMarked := p.Annotations[v1alpha1.AnnotationMove]
	unmarked, wasMarked := h.unmarked[p.UID]
	switch {
	case isDrained:
		return "drained"
	case isMarked && mark == v1alpha1.MoveRebalance:
		return "rebalanced"
	case isMarked, wasMarked && at.Sub(unmarked) <= late:
		return "moved by request"
	}
	return ""
}

// isDrained says whether an adapter is to be emptied, or was a moment ago.
func (h *history) isDrained(node string, at time.Time) bool {
	since, is := h.drained[node]
	return is && at.Sub(since) <= late
}

// isLeaving says whether a vreplica is to be served elsewhere at this moment.
func (h *history) isLeaving(p *corev1.Pod) bool {
	_, isMarked := p.Annotations[v1alpha1.AnnotationMove]
	name, ordinal, _ := split(p.Spec.NodeName)
	pool := h.pools[name]
	return isMarked || pool != nil && slices.Contains(drained(pool, h.outages.sets[setKey(pool)]), ordinal)
}

// isSurge says whether a vreplica was made to take the place of another, or is on the same adapter as one that was: of those,
// either may go.
func (h *history) isSurge(p *corev1.Pod) bool {
	return h.surges[p.UID] || h.has(func(o *corev1.Pod) bool {
		return h.surges[o.UID] && isAlive(o) && owner(o) == owner(p) && o.Spec.NodeName == p.Spec.NodeName
	})
}

// leave are the vreplicas of a VPod that are to be served elsewhere.
func (h *history) leave(vpod *v1alpha1.VPod, at time.Time) (leaving []*corev1.Pod) {
	for _, p := range h.pods {
		if isPlaceholder(p) && owner(p) == vpod.UID && isAlive(p) && isServed(p) && h.leaving(p, at) != "" {
			leaving = append(leaving, p)
		}
	}
	return leaving
}

// isConfined says whether a VPod may use no further adapter, and has had no room on those that it uses: then some have to
// go before others can be placed. Where there has been room for a while, they need not.
func (h *history) isConfined(vpod *v1alpha1.VPod, at time.Time) bool {
	if vpod.Spec.MaxAdapters == nil {
		return false
	}
	used := map[string]bool{}
	for _, p := range h.pods {
		if isPlaceholder(p) && owner(p) == vpod.UID && isAlive(p) && p.Spec.NodeName != "" {
			used[p.Spec.NodeName] = true
		}
	}
	if len(used) < int(*vpod.Spec.MaxAdapters) {
		return false
	}
	for node := range used {
		since, hasRoom := h.roomy[node]
		if hasRoom && !h.isDrained(node, at) && at.Sub(since) > late {
			return false
		}
	}
	return true
}

// measureRoom notes since when which adapters have room, and are in use.
func (h *history) measureRoom(e event, w *world) {
	held := map[string]int64{}
	for _, p := range w.pods {
		if isPlaceholder(p) && !isFinished(p) {
			held[p.Spec.NodeName]++
		}
	}
	for name := range h.roomy {
		if h.nodes[name] == nil {
			delete(h.roomy, name)
		}
	}
	for _, n := range w.nodes {
		_, had := h.roomy[n.Name]
		switch has := isVirtual(n) && !n.Spec.Unschedulable && held[n.Name] < capacity(n); {
		case !has:
			delete(h.roomy, n.Name)
		case !had:
			h.roomy[n.Name] = e.at
		}
	}
}

// marked looks at who may be moved to even out what is placed.
func (h *history) marked(e event, was, p *corev1.Pod) {
	is, before := p.Annotations[v1alpha1.AnnotationMove], ""
	if was != nil {
		before = was.Annotations[v1alpha1.AnnotationMove]
	}
	if is == "" && before != "" {
		h.unmarked[p.UID] = e.at
	}
	pool := h.pools[p.Labels[v1alpha1.LabelPool]]
	if pool == nil || h.expected.blind || before != "" || is != v1alpha1.MoveRebalance {
		return
	}
	h.tally.marked++
	s := h.scalesOf(pool)
	if evens := s.evens.since(e.at.Add(-late)); !slices.Contains(evens, true) {
		h.breach(e, "rebalance", "%s is to be moved, and nothing is evened out", key(p))
	}
	if drains := s.drains.since(e.at.Add(-late)); !slices.Contains(drains, false) {
		h.breach(e, "rebalance", "%s is to be moved, while adapters are drained", key(p))
	}
}

// moved looks at one that was moved though it could have stayed: budgets hold for it.
func (h *history) moved(e event, was *corev1.Pod) {
	if !isPodReady(was) {
		return
	}
	for _, b := range h.budgets {
		isNew := e.at.Sub(b.CreationTimestamp.Time) < late
		if _, isCounted := b.Status.DisruptedPods[was.Name]; covers(b, was) && !isCounted && !isNew {
			h.breach(e, "budgets", "%s was moved, and budget %s was not asked", key(was), b.Name)
		}
	}
}

// loss is how many vreplicas were taken from a VPod, and when it was last.
type loss struct {
	vreplicas int32
	at        time.Time
}

// loses notes that a vreplica was taken from its VPod, and not to be moved: from then on its status may place fewer.
func (h *history) loses(p *corev1.Pod, at time.Time) {
	if o := owner(p); o != "" {
		h.losses[o] = loss{h.losses[o].vreplicas + 1, at}
	}
}

// lost is how many that were.
func (h *history) lost(vpod *v1alpha1.VPod, at time.Time) int32 {
	if l := h.losses[vpod.UID]; at.Sub(l.at) <= late {
		return l.vreplicas
	}
	return 0
}

// unseats notes so of all that a node serves.
func (h *history) unseats(node string, at time.Time) {
	for _, p := range h.pods {
		if isPlaceholder(p) && p.Spec.NodeName == node && isAlive(p) && isServed(p) {
			h.loses(p, at)
		}
	}
}

// dips looks for a status that places fewer vreplicas than the one before, though the VPod asks for as many as before, and
// none was taken from it but those that are moved.
func (h *history) dips(e event, was, v *v1alpha1.VPod) {
	isAnother := was.Status.ObservedGeneration != v.Status.ObservedGeneration || v.Status.ObservedGeneration != v.Generation
	dip := placed(was) - placed(v)
	if isAnother || dip <= 0 || h.expected.blind || h.expected.twoLead || h.reclassed[v.UID] || h.isOutdated(v) {
		return
	}
	allowed := h.losses[v.UID].vreplicas
	if leaving := h.leave(v, e.at); h.isConfined(v, e.at) {
		allowed += int32(len(leaving))
	}
	if dip > allowed {
		h.breach(e, "G4", "the status of %s places %d vreplicas after %d, and %d were taken from it",
			key(v), placed(v), placed(was), allowed)
	}
	h.losses[v.UID] = loss{max(0, h.losses[v.UID].vreplicas-dip), h.losses[v.UID].at}
}

// placed is how many vreplicas the status of a VPod places.
func placed(v *v1alpha1.VPod) (sum int32) {
	for _, p := range v.Status.Placements {
		sum += p.VReplicas
	}
	return sum
}

// stirs looks for movement while nobody does anything. Where an adapter is about to be taken for lost, time alone is a reason.
func (h *history) stirs(e event) {
	if !h.expected.rest || h.isWaitingForTime(e.at) {
		return
	}
	switch o := e.object.(type) {
	case *corev1.Pod:
		was := h.pods[o.UID]
		isNew := e.gone || was == nil
		if isPlaceholder(o) && (isNew || was.Spec.NodeName != o.Spec.NodeName || isAlive(was) != isAlive(o)) {
			h.breach(e, "rest", "%s moves on %q, gone: %t, and nothing has happened", key(o), o.Spec.NodeName, e.gone)
		}
	case *appsv1.StatefulSet:
		if was := h.outages.sets[key(o)]; was != nil && *was.Spec.Replicas != *o.Spec.Replicas {
			h.breach(e, "rest", "%s is scaled from %d to %d, and nothing has happened", key(o), *was.Spec.Replicas, *o.Spec.Replicas)
		}
	case *v1alpha1.VPod:
		if was := h.vpods[o.UID]; was != nil && !slices.Equal(was.Status.Placements, o.Status.Placements) {
			h.breach(e, "rest", "the status of %s places other vreplicas than before, and nothing has happened", key(o))
		}
	}
}

func (h *history) isWaitingForTime(at time.Time) bool {
	for adapter, since := range h.outages.since {
		if h.outages.hasAdapter(adapter) && at.Sub(since) < evictionTimeout+late+quietFor {
			return true
		}
	}
	return false
}

// isBlocked says whether a pool would have fewer adapters if it could. It tries again from time to time.
func isBlocked(pool *v1alpha1.AdapterPool) bool {
	return conditionOf(pool.Status.Conditions, v1alpha1.ConditionScaled).Reason == v1alpha1.ReasonDrainBlocked
}
