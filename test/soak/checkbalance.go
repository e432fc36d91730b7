package soak

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func isRebalanced(pool *v1alpha1.AdapterPool) bool {
	d := pool.Spec.Descheduling
	return pool.DeletionTimestamp == nil && d != nil && d.Rebalance != nil && d.Rebalance.Mode == v1alpha1.RebalanceOn
}

// checkBalance says whether a pool that is evened out has come to where no move makes anything better. Nothing is moved of a
// VPod that has a vreplica which waits, or is on an adapter that is not ready, nor what a budget does not let go, nor to an
// adapter that the pool would rather be without. What waits beside room for it, and holds up all others, breaks G2.
func (w *world) checkBalance(f *findings, pool *v1alpha1.AdapterPool, adapters []*adapter) {
	isUnsettled := func(p *corev1.Pod) bool {
		isOfPool := isPlaceholder(p) && p.Labels[v1alpha1.LabelPool] == pool.Name
		return isOfPool && (p.DeletionTimestamp != nil || isAlive(p) && !isServed(p) && p.Spec.NodeName != "")
	}
	if !isRebalanced(pool) || slices.ContainsFunc(w.pods, isUnsettled) || len(w.drained(pool)) > 0 {
		return
	}
	c := w.crowd()
	for _, v := range w.vpods {
		if v.Spec.PoolName != pool.Name || v.DeletionTimestamp != nil {
			continue
		}
		seats := c.seats(v, adapters)
		from, to, ok := seats.better(v)
		isUnready := func(s seat) bool { return s.count > 0 && !isNodeReady(s.node) }
		stays := func(p *corev1.Pod) bool {
			return owner(p) == v.UID && isAlive(p) && (p.Spec.NodeName == "" || w.forbids(p) != nil)
		}
		if ok && isNodeReady(to.node) && w.isKept(to.adapter) && !slices.ContainsFunc(seats, isUnready) && !slices.ContainsFunc(w.pods, stays) {
			f.add("rebalance", "a vreplica of %s on %s would be better on %s", key(v), from.node.Name, to.node.Name)
		}
	}
}

// isKept says whether a pool wants an adapter that it has.
func (w *world) isKept(a *adapter) bool {
	return !isAuto(a.pool) || a.ordinal < int(w.size(a.pool).wanted)
}

// seat is an adapter as one VPod sees it.
type seat struct {
	*adapter
	zone, host string
	count      int
	free       int64
}

type seats []seat

func (c crowd) seats(v *v1alpha1.VPod, adapters []*adapter) (all seats) {
	for _, a := range adapters {
		if a.node != nil && a.wanted {
			all = append(all, seat{
				adapter: a, zone: a.node.Labels[corev1.LabelTopologyZone], host: a.node.Labels[v1alpha1.LabelHost],
				count: c.counts[key(v)][a.node.Name], free: capacity(a.node) - c.held[a.node.Name],
			})
		}
	}
	return all
}

// better finds a vreplica that would be strictly better placed if it were placed now, with the others where they are.
func (all seats) better(v *v1alpha1.VPod) (from, to seat, ok bool) {
	used := len(only(all, func(s seat) bool { return s.count > 0 }))
	eligible := only(all, func(s seat) bool {
		isWithinLimit := s.count > 0 || v.Spec.MaxAdapters == nil || used < int(*v.Spec.MaxAdapters)
		return s.free > 0 && !s.node.Spec.Unschedulable && isWithinLimit
	})
	if len(eligible) == 0 {
		return from, to, false
	}
	packs := v.Spec.SchedulerName == v1alpha1.SchedulerNameMaxFillUp
	least := slices.MinFunc(eligible, func(a, b seat) int { return a.count - b.count }).count
	if !packs { // No adapter may get ahead of the others.
		eligible = only(eligible, func(s seat) bool { return s.count == least })
	}
	compare := all.compare
	if packs {
		compare = comparePacked
	}
	to = slices.MinFunc(eligible, compare)
	for i, s := range all {
		if s.count == 0 || s.ordinal == to.ordinal || s.node.Spec.Unschedulable {
			continue
		}
		without := slices.Clone(all)
		without[i].count--
		there := without[slices.IndexFunc(all, func(o seat) bool { return o.ordinal == to.ordinal })]
		compare := without.compare
		if packs {
			compare = comparePacked
		}
		isAhead := !packs && there.count > min(least, without[i].count)
		if compare(there, without[i]) < 0 && !isAhead {
			return s, to, true
		}
	}
	return from, to, false
}

// compare says which of two adapters the profile that spreads prefers.
func (all seats) compare(a, b seat) int {
	zones, hosts := map[string]int{}, map[string]int{}
	for _, s := range all {
		zones[s.zone] += s.count
		hosts[s.host] += s.count
	}
	return cmp.Or(zones[a.zone]-zones[b.zone], hosts[a.host]-hosts[b.host], a.count-b.count, a.ordinal-b.ordinal)
}

// comparePacked says which of two adapters the profile that packs prefers.
func comparePacked(a, b seat) int {
	serves := func(s seat) int { return min(1, s.count) }
	return cmp.Or(serves(b)-serves(a), a.ordinal-b.ordinal)
}
