package soak

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// scales is how a pool was scaled of late.
type scales struct {
	// wanted are the numbers of adapters that the status named, right those that it might have, and replicas those of the
	// StatefulSet.
	wanted, right, replicas timeline[int32]
	bounds                  timeline[bounds]
	// drains: adapters were to be emptied. evens: what is placed was evened out.
	drains, evens timeline[bool]
}

// bounds are those of the spec. auto: they are in force.
type bounds struct {
	auto  bool
	most  int32
	delay time.Duration
}

// early is how much too early the end of a delay may seem to be: the witness hears of things at times of its own.
const early = 1500 * time.Millisecond

func boundsOf(pool *v1alpha1.AdapterPool) bounds {
	a := pool.Spec.Autoscaling
	if a == nil {
		return bounds{}
	}
	return bounds{auto: isAuto(pool), most: a.MaxReplicas, delay: a.ScaleDownDelay.Duration}
}

// measure notes what is right now, after an event.
func (h *history) measure(e event) {
	w := h.world()
	for _, pool := range h.pools {
		s := h.scalesOf(pool)
		s.bounds.becomes(boundsOf(pool), e.at)
		s.evens.becomes(isRebalanced(pool), e.at)
		s.drains.becomes(len(w.drained(pool)) > 0, e.at)
		if pool.Spec.Autoscaling != nil {
			s.right.becomes(w.size(pool).wanted, e.at)
		}
		if set := w.set(pool); set != nil {
			s.replicas.becomes(*set.Spec.Replicas, e.at)
		}
		for _, i := range w.drained(pool) {
			h.drained[v1alpha1.NodeName(pool.Name, i)] = e.at
		}
	}
	h.measureRoom(e, w)
}

func (h *history) scalesOf(pool *v1alpha1.AdapterPool) *scales {
	if h.scales[pool.Name] == nil {
		h.scales[pool.Name] = &scales{}
	}
	return h.scales[pool.Name]
}

// world is what there is at the moment.
func (h *history) world() *world {
	w := &world{nodes: h.nodes, vpods: h.vpods, pools: h.pools, sets: h.outages.sets}
	for _, p := range h.pods {
		w.pods = append(w.pods, p)
	}
	return w
}

// pool follows how many adapters a pool wants, and is held at.
func (h *history) pool(e event, p *v1alpha1.AdapterPool) {
	was := h.pools[p.Name]
	if h.pools[p.Name] = p; e.gone {
		delete(h.pools, p.Name)
		return
	}
	if was == nil {
		return
	}
	for _, i := range drained(was, h.outages.sets[setKey(was)]) {
		h.drained[v1alpha1.NodeName(p.Name, i)] = e.at
	}
	s, is := h.scalesOf(p), p.Status
	if is.WantedAdapters == nil {
		return
	}
	wanted := *is.WantedAdapters
	s.wanted.becomes(wanted, e.at)
	if h.expected.blind || h.expected.twoLead {
		return
	}
	right := s.right.since(e.at.Add(-late))
	if isNew := was.Status.WantedAdapters == nil || *was.Status.WantedAdapters != wanted; isNew && len(right) > 0 &&
		(wanted < slices.Min(right) || wanted > slices.Max(right)) {
		h.breach(e, "scale", "pool %s wants %d adapters, and of late %v were right", p.Name, wanted, right)
	}
	if is.TargetAdapters != nil {
		h.target(e, was, p)
	}
}

// target looks at the number that a pool is held at, when it changes.
func (h *history) target(e event, was, p *v1alpha1.AdapterPool) {
	s, to, wanted := h.scalesOf(p), *p.Status.TargetAdapters, *p.Status.WantedAdapters
	most := wanted
	if replicas := s.replicas.since(e.at.Add(-late)); len(replicas) > 0 {
		most = max(most, slices.Max(replicas))
	}
	from := most
	if was.Status.TargetAdapters != nil {
		from = *was.Status.TargetAdapters
	}
	switch {
	case to < wanted:
		h.breach(e, "scale", "pool %s is held at %d adapters, and wants %d", p.Name, to, wanted)
	case to > from && to > most:
		h.breach(e, "scale", "pool %s is to have %d adapters instead of %d, and wants %d", p.Name, to, from, wanted)
	case to < from && to < s.lowest(e.at):
		h.breach(e, "scale", "pool %s is to have %d adapters instead of %d, and wanted %d within its delay",
			p.Name, to, from, s.lowest(e.at))
	}
}

// lowest is the least that the number of adapters may go down to: what was wanted within the delay, as far as it is allowed.
func (s *scales) lowest(at time.Time) int32 {
	all := s.bounds.since(at.Add(-late))
	delay, most := all[0].delay, all[0].most
	for _, b := range all {
		delay, most = min(delay, b.delay), min(most, b.most)
	}
	return min(most, slices.Max(s.wanted.since(at.Add(min(0, early-delay)))))
}

// set follows the number of replicas, and who wrote it.
func (h *history) set(e event, set *appsv1.StatefulSet) {
	was := h.outages.sets[key(set)]
	var pool *v1alpha1.AdapterPool
	for _, p := range h.pools {
		if setKey(p) == key(set) {
			pool = p
		}
	}
	isKnown := !e.gone && was != nil && pool != nil && was.UID == set.UID && !h.expected.blind
	if isKnown && *was.Spec.Replicas != *set.Spec.Replicas {
		h.scaled(e, pool, was, set)
	}
}

// scaled looks at another number of replicas.
func (h *history) scaled(e event, pool *v1alpha1.AdapterPool, was, set *appsv1.StatefulSet) {
	for _, i := range drained(pool, was) {
		h.drained[v1alpha1.NodeName(pool.Name, i)] = e.at
	}
	from, to := *was.Spec.Replicas, *set.Spec.Replicas
	if !isScaledByUs(set) {
		return
	}
	h.tally.scaled++
	target := pool.Status.TargetAdapters
	switch {
	case !slices.ContainsFunc(h.scalesOf(pool).bounds.since(e.at.Add(-late)), func(b bounds) bool { return b.auto }):
		h.breach(e, "scale", "%s was scaled from %d to %d, and pool %s is not autoscaled", key(set), from, to, pool.Name)
		return
	case target == nil: // Somebody has just switched it off.
	case to > from && to > *target, to < from && to < *target:
		h.breach(e, "scale", "%s was scaled from %d to %d, and pool %s is held at %d", key(set), from, to, pool.Name, *target)
	}
	for i := to; i < from; i++ {
		node := v1alpha1.NodeName(pool.Name, int(i))
		h.has(func(p *corev1.Pod) bool {
			if isPlaceholder(p) && p.Spec.NodeName == node && isAlive(p) && isServed(p) {
				h.breach(e, "G6", "adapter %s was removed, and served %s", node, key(p))
			}
			return false
		})
	}
}

// isScaledByUs says whether the number of replicas is the controller's.
func isScaledByUs(set *appsv1.StatefulSet) bool {
	for _, m := range set.ManagedFields {
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		if _, has := fields.Spec["f:replicas"]; has {
			return strings.HasPrefix(m.Manager, v1alpha1.ControllerName)
		}
	}
	return false
}

// isGivenUp says whether the controller has removed an adapter, by the name of its virtual node.
func (h *history) isGivenUp(node string) bool {
	name, ordinal, _ := split(node)
	pool := h.pools[name]
	if pool == nil {
		return false
	}
	set := h.outages.sets[setKey(pool)]
	return set != nil && ordinal >= int(*set.Spec.Replicas) && isScaledByUs(set)
}
