package soak

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// isAuto says whether the number of a pool's adapters is the controller's to set.
func isAuto(pool *v1alpha1.AdapterPool) bool {
	a := pool.Spec.Autoscaling
	return pool.DeletionTimestamp == nil && a != nil && a.Mode == v1alpha1.AutoscalingAuto
}

// drained are the ordinals of the adapters that a pool is about to do without.
func drained(pool *v1alpha1.AdapterPool, set *appsv1.StatefulSet) (ordinals []int) {
	if set == nil || !isAuto(pool) || pool.Status.TargetAdapters == nil {
		return nil
	}
	for i := int(*pool.Status.TargetAdapters); i < int(*set.Spec.Replicas); i++ {
		ordinals = append(ordinals, i)
	}
	return ordinals
}

func (w *world) drained(pool *v1alpha1.AdapterPool) []int { return drained(pool, w.set(pool)) }

func (w *world) set(pool *v1alpha1.AdapterPool) *appsv1.StatefulSet { return w.sets[setKey(pool)] }

func setKey(pool *v1alpha1.AdapterPool) string {
	return pool.Spec.StatefulSetRef.Namespace + "/" + pool.Spec.StatefulSetRef.Name
}

// size is how many adapters are needed, and how many of them the bounds of the pool let it want.
type size struct{ needed, wanted int32 }

// size is the fewest adapters, from the first on, that can be counted on for all that VPods ask for and more adapters could
// give them.
func (w *world) size(pool *v1alpha1.AdapterPool) size {
	c := w.crowd()
	var s size
	adapters := w.adapters(pool)
	left := c.demand(pool, adapters)
	for left > 0 {
		if int(s.needed) < len(adapters) && adapters[s.needed].wanted {
			left -= c.reliable(adapters[s.needed])
		} else {
			left -= int64(pool.Spec.Capacity)
		}
		s.needed++
	}
	bounds := pool.Spec.Autoscaling
	s.wanted = min(max(s.needed, *bounds.MinReplicas), bounds.MaxReplicas)
	return s
}

// demand is what the VPods of a pool ask for, without what their limits withhold from them, however many adapters there are.
func (c crowd) demand(pool *v1alpha1.AdapterPool, adapters []*adapter) (sum int64) {
	for _, v := range c.vpods {
		if v.Spec.PoolName != pool.Name || v.DeletionTimestamp != nil {
			continue
		}
		n := int64(wants(v))
		if limit := v.Spec.MaxAdapters; limit != nil {
			n = min(n, int64(*limit)*int64(pool.Spec.Capacity))
			if used, reach := c.reach(v, adapters); used >= int(*limit) {
				n = min(n, reach)
			}
		}
		sum += n
	}
	return sum
}

// reach is how many adapters a VPod uses, and how many vreplicas it has there, or has room for.
func (c crowd) reach(v *v1alpha1.VPod, adapters []*adapter) (used int, reach int64) {
	for _, a := range adapters {
		if a.node == nil || !a.wanted || isLost(a.node) {
			continue
		}
		n := c.counts[key(v)][a.node.Name]
		if n == 0 {
			continue
		}
		used++
		reach += int64(n)
		if !isShut(a.node) {
			reach += max(0, capacity(a.node)-c.held[a.node.Name])
		}
	}
	return used, reach
}

// reliable is how many vreplicas of VPods an adapter can be counted on for.
func (c crowd) reliable(a *adapter) int64 {
	own, others := int64(0), int64(0)
	for _, p := range a.bound {
		if c.vpods[owner(p)] != nil {
			own++
		} else {
			others++
		}
	}
	room := max(0, int64(a.pool.Spec.Capacity)-others)
	switch {
	case a.node == nil:
		return room
	case isLost(a.node):
		return 0
	case isShut(a.node):
		return min(own, room)
	}
	return room
}

// isLost says whether an adapter was not ready for too long, by what its node says; checkCordon sees whether it says so
// rightly.
func isLost(node *corev1.Node) bool {
	return node.Spec.Unschedulable && node.Annotations[v1alpha1.AnnotationCordon] == v1alpha1.CordonLost
}

// isShut says whether an adapter takes no vreplicas, and will not soon: one that is still to get its host will, and one that
// is to be removed would as soon as it is needed.
func isShut(node *corev1.Node) bool {
	switch node.Annotations[v1alpha1.AnnotationCordon] {
	case v1alpha1.CordonNoHost, v1alpha1.CordonDraining:
		return false
	}
	return node.Spec.Unschedulable
}
