package soak

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// checkScale says whether a pool has as many adapters as it needs, once that has come to rest: nothing is drained any more,
// and neither is there one too many without a reason.
func (w *world) checkScale(f *findings, pool *v1alpha1.AdapterPool, adapters []*adapter) {
	status, said := pool.Status, conditionOf(pool.Status.Conditions, v1alpha1.ConditionScaled)
	tell := func(n *int32) string {
		if n == nil {
			return "none"
		}
		return fmt.Sprint(*n)
	}
	wantWanted, wantTarget, wantReason := "none", "none", ""
	set := w.set(pool)
	if pool.Spec.Autoscaling != nil {
		if set == nil {
			f.add("lab", "pool %s has no StatefulSet", pool.Name)
			return
		}
		wantWanted, wantReason = fmt.Sprint(w.size(pool).wanted), v1alpha1.ReasonAutoscalingOff
	}
	if isAuto(pool) {
		wantTarget, wantReason = fmt.Sprint(*set.Spec.Replicas), w.checkReplicas(f, pool, adapters)
	}
	if wanted := tell(status.WantedAdapters); wanted != wantWanted {
		f.add("scale", "pool %s wants %s adapters, true is %s", pool.Name, wanted, wantWanted)
	}
	if target := tell(status.TargetAdapters); target != wantTarget {
		f.add("scale", "pool %s is held at %s adapters, and its StatefulSet at %s", pool.Name, target, wantTarget)
	}
	checkScaled(f, pool, said, wantReason)
}

// checkScaled looks at what is said about the size.
func checkScaled(f *findings, pool *v1alpha1.AdapterPool, said metav1.Condition, reason string) {
	want := metav1.ConditionFalse
	switch reason {
	case "":
		want = ""
	case v1alpha1.ReasonWantedSize:
		want = metav1.ConditionTrue
	}
	if said.Reason != reason || said.Status != want {
		f.add("G9", "pool %s says of its size %q, %q, true is %q: %s", pool.Name, said.Status, said.Reason, reason, said.Message)
	}
	if reason != "" && (said.Message == "" || said.ObservedGeneration != pool.Generation) {
		f.add("G9", "pool %s does not say why it has this size: %+v", pool.Name, said)
	}
}

// checkReplicas compares the number of adapters with the one that is needed, and returns the reason that the pool has to
// give for it.
func (w *world) checkReplicas(f *findings, pool *v1alpha1.AdapterPool, adapters []*adapter) (reason string) {
	has, need := *w.set(pool).Spec.Replicas, w.size(pool)
	bounds := pool.Spec.Autoscaling
	isBlocked := has > need.wanted && w.blocked(pool, adapters, int(need.wanted)) != ""
	if has < *bounds.MinReplicas || has > bounds.MaxReplicas && !isBlocked {
		f.add("scale", "pool %s has %d adapters, and is to have %d to %d",
			pool.Name, has, *bounds.MinReplicas, bounds.MaxReplicas)
	}
	if has != need.wanted && !isBlocked {
		f.add("scale", "pool %s has %d adapters, needs %d and may want %d of them", pool.Name, has, need.needed, need.wanted)
	}
	isHomeless := slices.ContainsFunc(adapters, func(a *adapter) bool { return a.wanted && !a.hasHost() })
	w.checkRoomToGrow(f, pool, has < bounds.MaxReplicas && !isHomeless)
	switch {
	case isBlocked:
		return v1alpha1.ReasonDrainBlocked
	case need.needed > bounds.MaxReplicas:
		return v1alpha1.ReasonMaxReplicas
	case isHomeless:
		return v1alpha1.ReasonScalingUp
	}
	return v1alpha1.ReasonWantedSize
}

// checkRoomToGrow looks for vreplicas that wait for room while the pool could grow, and all adapters that it has are there.
func (w *world) checkRoomToGrow(f *findings, pool *v1alpha1.AdapterPool, couldGrow bool) {
	c := w.crowd()
	for _, p := range w.pods {
		vpod := w.vpods[owner(p)]
		waits := isPlaceholder(p) && isAlive(p) && p.Spec.NodeName == ""
		if !couldGrow || !waits || vpod == nil || vpod.Spec.PoolName != pool.Name {
			continue
		}
		if limit := vpod.Spec.MaxAdapters; limit == nil || len(c.counts[key(vpod)]) < int(*limit) {
			f.add("G2", "%s waits, and pool %s could have more adapters", key(p), pool.Name)
		}
	}
}

// blocked says what may keep a pool from having fewer adapters, though not from having fewer than a number; "" if nothing
// does.
func (w *world) blocked(pool *v1alpha1.AdapterPool, adapters []*adapter, wanted int) string {
	kept := slices.DeleteFunc(slices.Clone(adapters), func(a *adapter) bool { return !a.wanted })
	if len(kept) == 0 || len(kept) <= wanted {
		return ""
	}
	for _, a := range kept[wanted:] {
		for _, p := range a.bound {
			if b := w.forbids(p); b != nil {
				return fmt.Sprintf("%s does not let go of %s", key(b), key(p))
			}
		}
	}
	top, free := kept[len(kept)-1], int64(0)
	for _, a := range kept[:len(kept)-1] {
		if a.node != nil && !a.node.Spec.Unschedulable {
			free += max(0, capacity(a.node)-int64(len(a.bound)))
		}
	}
	if int64(len(top.bound)) > free {
		return fmt.Sprintf("%s has %d, and below it is room for %d", top.podName(), len(top.bound), free)
	}
	for _, p := range top.bound {
		vpod := w.vpods[owner(p)]
		if vpod == nil {
			return key(p) + " is nobody's"
		}
		if vpod.Spec.MaxAdapters == nil {
			continue
		}
		if leaving, room := w.roomWithin(vpod, kept); int64(len(top.bound)) > room { // Others there may come first.
			return fmt.Sprintf("%s has %d on %s, and may use room for %d", key(vpod), leaving, top.podName(), room)
		}
	}
	return ""
}

// roomWithin is how many vreplicas of a VPod are on the last of some adapters, and for how many there is room at least on
// those of the others that its limit lets it use then, whichever these are.
func (w *world) roomWithin(vpod *v1alpha1.VPod, adapters []*adapter) (leaving, room int64) {
	c, last := w.crowd(), len(adapters)-1
	var unused []int64
	used := 0
	for i, a := range adapters {
		if a.node == nil {
			continue
		}
		n, free := c.counts[key(vpod)][a.node.Name], max(0, capacity(a.node)-c.held[a.node.Name])
		if a.node.Spec.Unschedulable {
			free = 0
		}
		switch {
		case i == last:
			leaving = int64(n)
		case n > 0:
			used++
			room += free
		case free > 0:
			unused = append(unused, free)
		}
	}
	slices.Sort(unused)
	for _, free := range unused[:min(len(unused), max(0, int(*vpod.Spec.MaxAdapters)-used))] {
		room += free
	}
	return leaving, room
}

// forbids returns a budget that lets nothing go of what it covers, which is a vreplica among others.
func (w *world) forbids(p *corev1.Pod) *policyv1.PodDisruptionBudget {
	for _, b := range w.budgets {
		if b.Status.DisruptionsAllowed == 0 && covers(b, p) {
			return b
		}
	}
	return nil
}

func covers(b *policyv1.PodDisruptionBudget, p *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
}
