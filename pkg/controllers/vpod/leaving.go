package vpod

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// drainingNodes are those of the nodes that their pool is about to do without, and that take no more vreplicas: until then,
// a replacement might go where the one that it replaces comes from. Who cordoned them does not matter.
func drainingNodes(pool *v1alpha1.AdapterPool, set *appsv1.StatefulSet, nodes map[string]*corev1.Node) map[string]bool {
	if pool == nil || set == nil {
		return nil
	}
	var draining map[string]bool
	for name, node := range nodes {
		id := adapter.ID{Pool: pool.Name, Ordinal: ordinalOf(node)}
		if node.Spec.Unschedulable && id.Owns(node) && id.IsDraining(pool, set) {
			if draining == nil {
				draining = map[string]bool{}
			}
			draining[name] = true
		}
	}
	return draining
}

// isLeaving says whether a vreplica that is placed is to be served elsewhere: its adapter is draining, or somebody wants it
// moved.
func (o observation) isLeaving(pod *corev1.Pod) bool {
	node := pod.Spec.NodeName
	return o.pool != nil && isAdmitted(pod) && o.nodes[node] != nil && (o.draining[node] || isToMove(pod))
}

func isToMove(pod *corev1.Pod) bool {
	_, is := pod.Annotations[v1alpha1.AnnotationMove]
	return is
}

// departures are the leaving ones among some placeholders, in the order in which they go: the adapters that drain before
// what else is to be moved, and the highest ordinal first, because a StatefulSet shrinks from there.
func (o observation) departures(pods []*corev1.Pod) []*corev1.Pod {
	leaving := filter(pods, o.isLeaving)
	slices.SortFunc(leaving, func(a, b *corev1.Pod) int {
		x, y := o.nodes[a.Spec.NodeName], o.nodes[b.Spec.NodeName]
		return cmp.Or(compareBools(o.draining[y.Name], o.draining[x.Name]), compareAdapters(y, x), o.compareIndices(a, b))
	})
	return leaving
}

// transfer picks one that is leaving and finds room elsewhere.
func (o observation) transfer(stale []*corev1.Pod) plan {
	for _, group := range o.departuresByNode(stale) {
		if one := group[:1]; o.fits(one) {
			return plan{evict: one}
		}
	}
	return plan{}
}

// evacuate picks all that an adapter serves, if they are leaving and find room elsewhere: once they are gone, the VPod may
// use another adapter instead.
func (o observation) evacuate(alive, stale []*corev1.Pod) plan {
	served := byNode(alive)
	for _, group := range o.departuresByNode(stale) {
		if len(group) == len(served[group[0].Spec.NodeName]) && o.fits(group) {
			return plan{evict: group, together: true}
		}
	}
	return plan{}
}

// departuresByNode are the departures of each adapter. There are none while nobody counts the room elsewhere, or the API
// server just refused to evict one.
func (o observation) departuresByNode(stale []*corev1.Pod) [][]*corev1.Pod {
	if o.census == nil || o.eviction.holds(o.now) {
		return nil
	}
	leaving := o.departures(stale)
	on := byNode(leaving)
	var groups [][]*corev1.Pod
	for _, pod := range leaving {
		if group := on[pod.Spec.NodeName]; group[0] == pod {
			groups = append(groups, group)
		}
	}
	return groups
}

func byNode(pods []*corev1.Pod) map[string][]*corev1.Pod {
	on := map[string][]*corev1.Pod{}
	for _, pod := range pods {
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
	}
	return on
}

// isCalledOff says whether a placeholder that somebody wants moved is not to be any more: it is not placed at all, or has
// waited too long. What an adapter loses that drains, its pool decides.
func (o observation) isCalledOff(pod *corev1.Pod) bool {
	return isToMove(pod) && (isWaiting(pod) || o.isLeaving(pod) && !o.draining[pod.Spec.NodeName] && o.isHopeless())
}

// isHopeless says whether what is to be replaced found no other place, or was not let go from its own, for a minute.
func (o observation) isHopeless() bool {
	pending := o.pending()
	return o.refusal.lasts(patience, o.now) || o.eviction.lasts(patience, o.now) ||
		!o.lacking.IsZero() && len(pending) == 0 && o.now.Sub(o.lacking) >= patience ||
		len(pending) > 0 && areRefused(pending) && o.age(youngest(pending)) >= patience
}

// pending are the placeholders that have not arrived, while others are to be replaced.
func (o observation) pending() []*corev1.Pod {
	alive := o.alive()
	if !slices.ContainsFunc(alive, o.isStale) {
		return nil
	}
	return filter(alive, func(pod *corev1.Pod) bool { return !o.hasArrived(pod) && !o.isStale(pod) })
}

// hindrance says what keeps vreplicas on adapters that they are to leave, or "".
func (o observation) hindrance() string {
	leaving := o.departures(o.alive())
	if len(leaving) == 0 {
		return ""
	}
	var names []string
	for _, pod := range leaving {
		names = append(names, o.podName(ordinalOf(o.nodes[pod.Spec.NodeName])))
	}
	slices.SortFunc(names, compareOrdinals)
	return o.obstacleTo(fmt.Sprintf("%s to leave %s", thoseThatAre(len(leaving)), wording.List(slices.Compact(names), mostNames)))
}

func thoseThatAre(n int) string {
	if n == 1 {
		return "1 that is"
	}
	return fmt.Sprintf("%d that are", n)
}

// obstacleTo says what is in the way of those that are to leave.
func (o observation) obstacleTo(those string) string {
	pending := o.pending()
	silent := o.silent(pending)
	switch {
	case o.eviction.lasts(untold, o.now):
		return fmt.Sprintf(". The API server does not let go of %s: %s", those, o.eviction.message)
	case len(silent) > 0:
		return fmt.Sprintf(". No scheduler has tried to place %s for %.0f s, which is to replace one of %s",
			silent[0].Name, patience.Seconds(), those)
	case len(pending) > 0 && !o.isStuck(pending), len(pending) == 0 && (len(o.alive()) > desired(o.vpod) || !o.lacksRoom()):
		return ""
	}
	r := o.room()
	switch {
	case r.isLimit(o.vpod):
		return fmt.Sprintf(". There is no adapter with room for %s, within spec.maxAdapters, which is %d",
			those, *o.vpod.Spec.MaxAdapters)
	case r.eligible > 0:
		return fmt.Sprintf(". None of the adapters with room is found for %s%s", those, said(pending))
	}
	return ". There is no adapter with room for " + those
}
