package soak

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// checkConditions looks at what a tenant is told.
func (w *world) checkConditions(f *findings, v *v1alpha1.VPod, is v1alpha1.VPodStatus) {
	scheduled := conditionOf(v.Status.Conditions, v1alpha1.ConditionScheduled)
	ready := conditionOf(v.Status.Conditions, v1alpha1.ConditionReady)
	isScheduled := is.ScheduledReplicas == wants(v)
	isReady := is.ReadyReplicas == wants(v)
	for _, c := range []struct {
		metav1.Condition
		want bool
	}{{scheduled, isScheduled}, {ready, isReady}} {
		if (c.Status == metav1.ConditionTrue) != c.want || c.Status == "" {
			f.add("status", "%s: condition %s is %q, want %t", key(v), c.Type, c.Status, c.want)
		}
		if c.ObservedGeneration != v.Generation {
			f.add("status", "%s: condition %s is about generation %d of %d", key(v), c.Type, c.ObservedGeneration, v.Generation)
		}
		if c.Reason == "" || c.Message == "" {
			f.add("G9", "%s: condition %s does not say why: %q, %q", key(v), c.Type, c.Reason, c.Message)
		}
	}
	if isScheduled {
		if scheduled.Reason != v1alpha1.ReasonAllScheduled {
			f.add("G9", "%s: all are placed, and the reason is %s", key(v), scheduled.Reason)
		}
		return
	}
	if why := w.possibleReasons(v); !slices.Contains(why, scheduled.Reason) {
		f.add("G9", "%s waits because of %s (%s), want one of %v", key(v), scheduled.Reason, scheduled.Message, why)
	}
}

// possibleReasons are those that may be true of a VPod some of whose vreplicas wait, once the scheduler has tried.
func (w *world) possibleReasons(v *v1alpha1.VPod) []string {
	pool := w.pools[v.Spec.PoolName]
	if pool == nil {
		return []string{v1alpha1.ReasonPoolNotFound}
	}
	nodes := slices.DeleteFunc(w.adapters(pool), func(a *adapter) bool { return a.node == nil })
	if len(nodes) == 0 {
		return []string{v1alpha1.ReasonPoolNotReady}
	}
	used := len(w.crowd().counts[key(v)])
	if limit := v.Spec.MaxAdapters; limit != nil && used >= int(*limit) {
		return []string{v1alpha1.ReasonAdapterLimit}
	}
	return []string{v1alpha1.ReasonNoRoom}
}

// crowd is how vreplicas are spread, for deciding where one more could be.
type crowd struct {
	*world
	// held is the room of each node that is taken, and counts the vreplicas of each vpod on each node.
	held   map[string]int64
	counts map[string]map[string]int
}

func (w *world) crowd() crowd {
	c := crowd{world: w, held: map[string]int64{}, counts: map[string]map[string]int{}}
	for _, p := range w.pods {
		if !isPlaceholder(p) || p.Spec.NodeName == "" || isFinished(p) {
			continue
		}
		c.held[p.Spec.NodeName]++
		if p.DeletionTimestamp == nil {
			vpod := vpodOf(p)
			if c.counts[vpod] == nil {
				c.counts[vpod] = map[string]int{}
			}
			c.counts[vpod][p.Spec.NodeName]++
		}
	}
	return c
}

// vpodOf tells the vpods apart that placeholders count for.
func vpodOf(p *corev1.Pod) string {
	if name := p.Labels[v1alpha1.LabelVPod]; name != "" {
		return p.Namespace + "/" + name
	}
	return p.Namespace + " without VPod"
}

// checkWaiting looks for vreplicas that wait in vain, or are not told why.
func (w *world) checkWaiting(f *findings) {
	c := w.crowd()
	for _, p := range w.pods {
		if !isPlaceholder(p) || p.Spec.NodeName != "" || !isAlive(p) {
			continue
		}
		said := podCondition(p, corev1.PodScheduled)
		if said == nil || said.Status != corev1.ConditionFalse || said.Message == "" {
			f.add("G9", "%s waits and is not told why", key(p))
			continue
		}
		for _, n := range w.nodes {
			if why := c.eligible(p, n); why != "" {
				f.add("G2", "%s waits although %s %s: %s", key(p), n.Name, why, said.Message)
			}
		}
	}
}

// eligible says why a node could take a vreplica; "" if it cannot.
func (c crowd) eligible(p *corev1.Pod, n *corev1.Node) string {
	if n.Labels[v1alpha1.LabelPool] != p.Labels[v1alpha1.LabelPool] || n.Spec.Unschedulable || !tolerated(p, n) {
		return ""
	}
	counts := c.counts[vpodOf(p)]
	var limit int
	if text := p.Annotations[v1alpha1.AnnotationMaxAdapters]; text != "" {
		if _, err := fmt.Sscan(text, &limit); err != nil {
			return ""
		}
	}
	if limit > 0 && counts[n.Name] == 0 && len(counts) >= limit {
		return ""
	}
	free := capacity(n) - c.held[n.Name]
	for _, o := range c.pods { // One that waits for its victims to go holds room, except against higher ones.
		if o != p && o.Spec.NodeName == "" && o.Status.NominatedNodeName == n.Name && isAlive(o) && priority(o) >= priority(p) {
			free--
		}
	}
	if free > 0 {
		return fmt.Sprintf("has room for %d", free)
	}
	if p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == corev1.PreemptNever {
		return ""
	}
	for _, o := range c.pods {
		if isPlaceholder(o) && o.Spec.NodeName == n.Name && isAlive(o) && priority(o) < priority(p) && vpodOf(o) != vpodOf(p) {
			return fmt.Sprintf("serves %s of lower priority", key(o))
		}
	}
	return ""
}
