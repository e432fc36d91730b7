// Package soak has random things happen to a whole installation, and checks what is promised by what the API server has and
// had. Of our code it knows the names alone: what a promise means is said here a second time.
package soak

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// findings are what is not as promised, each with the promise that it is about.
type findings []string

func (f *findings) add(promise, format string, args ...any) {
	*f = append(*f, promise+": "+fmt.Sprintf(format, args...))
}

// check says what is not as it has to be once all have done what they had to do.
func check(w *world) findings {
	var f findings
	w.checkSurroundings(&f)
	for _, pool := range w.pools {
		adapters := w.adapters(pool)
		for _, a := range adapters {
			w.checkNode(&f, a)
			w.checkCordon(&f, a)
			w.checkLoad(&f, a, adapters)
		}
		w.checkPool(&f, pool, adapters)
		w.checkScale(&f, pool, adapters)
		w.checkBalance(&f, pool, adapters)
	}
	w.checkLeases(&f)
	w.checkPlaceholders(&f)
	w.checkWaiting(&f)
	for _, v := range w.vpods {
		w.checkVPod(&f, v)
	}
	slices.Sort(f)
	return f
}

// checkPlaceholders looks at each placeholder by itself.
func (w *world) checkPlaceholders(f *findings) {
	for _, p := range w.pods {
		if !isPlaceholder(p) {
			continue
		}
		vpod := w.vpods[owner(p)]
		if mark, isMarked := p.Annotations[v1alpha1.AnnotationMove]; isMarked && isAlive(p) {
			f.add("moves", "%s is still to be moved: %q", key(p), mark)
		}
		switch {
		case p.DeletionTimestamp != nil:
			f.add("placeholders", "%s is deleted and not gone", key(p))
		case vpod == nil && owner(p) != "":
			f.add("placeholders", "%s has no VPod any more", key(p))
		case vpod != nil && isFinished(p):
			f.add("placeholders", "%s is %s and was not replaced", key(p), p.Status.Phase)
		case vpod != nil:
			checkShape(f, vpod, p)
			w.checkClass(f, vpod, p)
		}
		if p.Spec.NodeName != "" && !isFinished(p) {
			w.checkServed(f, p)
		}
	}
}

// checkShape compares a placeholder with what its VPod says.
func checkShape(f *findings, vpod *v1alpha1.VPod, p *corev1.Pod) {
	limit := ""
	if vpod.Spec.MaxAdapters != nil {
		limit = strconv.Itoa(int(*vpod.Spec.MaxAdapters))
	}
	index, isNamed := strings.CutPrefix(p.Name, vpod.Name+"-vreplica-")
	if _, err := strconv.Atoi(index); err != nil || !isNamed {
		f.add("placeholders", "%s does not have the name of one of %s", key(p), vpod.Name)
	}
	if p.Labels[v1alpha1.LabelVPod] != vpod.Name || p.Labels[v1alpha1.LabelPool] != vpod.Spec.PoolName {
		f.add("placeholders", "%s has the labels %v", key(p), p.Labels)
	}
	if p.Annotations[v1alpha1.AnnotationMaxAdapters] != limit {
		f.add("placeholders", "%s has the limit %q, its VPod %q", key(p), p.Annotations[v1alpha1.AnnotationMaxAdapters], limit)
	}
	if p.Spec.NodeName == "" && p.Spec.SchedulerName != vpod.Spec.SchedulerName {
		f.add("placeholders", "%s waits for %q, its VPod wants %q", key(p), p.Spec.SchedulerName, vpod.Spec.SchedulerName)
	}
}

// checkClass looks for placeholders of a former PriorityClass. Those that are placed are replaced one by one, and where one
// finds no room, nor would find any if one of the others went, these stay.
func (w *world) checkClass(f *findings, vpod *v1alpha1.VPod, p *corev1.Pod) {
	mayWait := p.Spec.NodeName != "" && slices.ContainsFunc(w.pods, func(o *corev1.Pod) bool {
		return owner(o) == vpod.UID && isAlive(o) && o.Spec.NodeName == ""
	})
	if p.Spec.PriorityClassName != vpod.Spec.PriorityClassName && !mayWait && (p.Spec.NodeName == "" || w.hasRoomToReplace(vpod, p)) {
		f.add("placeholders", "%s has the class %q, its VPod %q", key(p), p.Spec.PriorityClassName, vpod.Spec.PriorityClassName)
	}
}

// hasRoomToReplace says whether one more of a VPod's vreplicas would find room, or would if one of its former class went.
func (w *world) hasRoomToReplace(vpod *v1alpha1.VPod, p *corev1.Pod) bool {
	c := w.crowd()
	for _, n := range w.nodes {
		if strings.HasPrefix(c.eligible(p, n), "has room") {
			return true
		}
		if n.Labels[v1alpha1.LabelPool] != p.Labels[v1alpha1.LabelPool] || n.Spec.Unschedulable || !tolerated(p, n) {
			continue
		}
		if slices.ContainsFunc(w.pods, func(o *corev1.Pod) bool {
			return owner(o) == vpod.UID && isAlive(o) && o.Spec.NodeName == n.Name && o.Spec.PriorityClassName != vpod.Spec.PriorityClassName
		}) {
			return true
		}
	}
	return false
}

// checkServed looks at a placeholder that has an adapter.
func (w *world) checkServed(f *findings, p *corev1.Pod) {
	node := w.nodes[p.Spec.NodeName]
	switch {
	case node == nil:
		f.add("C48", "%s is on node %s, which does not exist", key(p), p.Spec.NodeName)
	case !isVirtual(node):
		f.add("C38", "%s is on the real node %s", key(p), node.Name)
	case node.Labels[v1alpha1.LabelPool] != p.Labels[v1alpha1.LabelPool]:
		f.add("C38", "%s is on %s, of another pool", key(p), node.Name)
	case !isServed(p):
		f.add("placeholders", "%s is on %s and %s, not Running", key(p), node.Name, p.Status.Phase)
	case isPodReady(p) != isNodeReady(node):
		f.add("placeholders", "%s: ready is %t, of its adapter %s it is %t", key(p), isPodReady(p), node.Name, isNodeReady(node))
	}
}

// checkVPod compares a VPod's status with its placeholders.
func (w *world) checkVPod(f *findings, v *v1alpha1.VPod) {
	if v.DeletionTimestamp != nil {
		f.add("VPods", "%s is deleted and not gone", key(v))
		return
	}
	want := v1alpha1.VPodStatus{ObservedGeneration: v.Generation}
	byNode := map[string]int32{}
	for _, p := range w.pods {
		if owner(p) != v.UID || !isAlive(p) {
			continue
		}
		want.Replicas++
		if p.Spec.NodeName != "" {
			want.ScheduledReplicas++
			byNode[p.Spec.NodeName]++
		}
		if isNodeReady(w.nodes[p.Spec.NodeName]) {
			want.ReadyReplicas++
		}
	}
	if want.Replicas != wants(v) {
		f.add("VPods", "%s has %d placeholders, wants %d", key(v), want.Replicas, wants(v))
	}
	want.Placements = w.placements(v, byNode)
	want.Adapters = int32(len(want.Placements))
	tell := func(s v1alpha1.VPodStatus) string {
		return fmt.Sprint(s.ObservedGeneration, s.Replicas, s.ScheduledReplicas, s.ReadyReplicas, s.Adapters, s.Placements)
	}
	if have := tell(v.Status); have != tell(want) {
		f.add("status", "%s: the status says %s, true is %s", key(v), have, tell(want))
	}
	if d := v.Status.DesiredReplicas; d == nil || *d != wants(v) {
		f.add("status", "%s: desiredReplicas is not %d", key(v), wants(v))
	}
	w.checkSelector(f, v)
	w.checkConditions(f, v, want)
}

// placements are where the vreplicas of a VPod are, as its status has to have it.
func (w *world) placements(v *v1alpha1.VPod, byNode map[string]int32) []v1alpha1.Placement {
	nodes := slices.SortedFunc(maps.Keys(byNode), func(a, b string) int {
		_, x, _ := split(a)
		_, y, _ := split(b)
		return x - y
	})
	var all []v1alpha1.Placement
	for _, n := range nodes {
		name := n
		if pool := w.pools[v.Spec.PoolName]; pool != nil {
			_, ordinal, _ := split(n)
			name = v1alpha1.NodeName(pool.Spec.StatefulSetRef.Name, ordinal)
		}
		all = append(all, v1alpha1.Placement{PodName: name, VReplicas: byNode[n]})
	}
	return all
}

func (w *world) checkSelector(f *findings, v *v1alpha1.VPod) {
	selector, err := labels.Parse(v.Status.Selector)
	if err != nil || v.Status.Selector == "" {
		f.add("C51", "%s: selector %q: %v", key(v), v.Status.Selector, err)
		return
	}
	for _, p := range w.pods {
		if p.Namespace == v.Namespace && selector.Matches(labels.Set(p.Labels)) != (owner(p) == v.UID) {
			f.add("C51", "%s: selector %q and pod %s of %q", key(v), v.Status.Selector, p.Name, owner(p))
		}
	}
}

func conditionOf(conditions []metav1.Condition, kind string) metav1.Condition {
	for _, c := range conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{Type: kind}
}
