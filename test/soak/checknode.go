package soak

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

const (
	// leaseAge is how old a heartbeat may be: with it, kube-controller-manager does not call the node unreachable.
	leaseAge = nodeGrace
	// lossDelay is how soon after the end of its pool's timeout an adapter has to be taken for lost. Clocks of the API have
	// whole seconds.
	lossDelay = 2 * time.Second
)

// checkNode compares a virtual node with its adapter.
func (w *world) checkNode(f *findings, a *adapter) {
	if a.node == nil {
		if a.wanted && a.hasHost() {
			f.add("nodes", "adapter %s has a host and no virtual node", a.podKey())
		}
		return
	}
	switch n := a.node; {
	case n.DeletionTimestamp != nil:
		f.add("nodes", "%s is deleted and not gone", n.Name)
	case !a.wanted:
		f.add("G6", "%s is there though its StatefulSet has no such adapter", n.Name)
	case !a.hasHost() && len(a.bound) == 0 && w.lostFor(a) > lossDelay:
		f.add("nodes", "%s is there, empty, though adapter %s has had no host for long", n.Name, a.podKey())
	case isNodeReady(n) != a.isReady():
		f.add("nodes", "%s: ready is %t, of its adapter it is %t", n.Name, isNodeReady(n), a.isReady())
	}
	w.checkLabels(f, a)
	checkResources(f, a)
}

func (w *world) checkLabels(f *findings, a *adapter) {
	want := map[string]string{
		v1alpha1.LabelPool: a.pool.Name, v1alpha1.LabelOrdinal: strconv.Itoa(a.ordinal), v1alpha1.LabelRoleAdapter: "",
		corev1.LabelTopologyRegion: v1alpha1.RegionOfAdapters, corev1.LabelNodeExcludeBalancers: "",
	}
	from := a.node.Labels // Without a host, it counts where it was last.
	if a.host != nil {
		from = map[string]string{v1alpha1.LabelHost: a.host.Name}
		if zone, ok := a.host.Labels[corev1.LabelTopologyZone]; ok {
			from[corev1.LabelTopologyZone] = zone
		}
	}
	for _, label := range []string{v1alpha1.LabelHost, corev1.LabelTopologyZone} {
		if value, ok := from[label]; ok {
			want[label] = value
		}
	}
	if !maps.Equal(want, a.node.Labels) {
		f.add("nodes", "%s has the labels %v, want %v", a.node.Name, a.node.Labels, want)
	}
	if id := v1alpha1.ProviderID(a.pool.Name, a.ordinal); a.node.Spec.ProviderID != id {
		f.add("C47", "%s has provider ID %s", a.node.Name, a.node.Spec.ProviderID)
	}
	taint := corev1.Taint{Key: v1alpha1.TaintPool, Value: a.pool.Name, Effect: corev1.TaintEffectNoSchedule}
	if !slices.Contains(a.node.Spec.Taints, taint) {
		f.add("C38", "%s has the taints %v", a.node.Name, a.node.Spec.Taints)
	}
	if version := a.node.Status.NodeInfo.KubeletVersion; !strings.HasPrefix(version, v1alpha1.KubeletVersion("")) {
		f.add("nodes", "%s has version %q", a.node.Name, version)
	}
}

func checkResources(f *findings, a *adapter) {
	for _, list := range []corev1.ResourceList{a.node.Status.Capacity, a.node.Status.Allocatable} {
		vreplicas, pods := list[v1alpha1.ResourceVReplicas], list[corev1.ResourcePods]
		if vreplicas.Value() != int64(a.pool.Spec.Capacity) || pods.Value() <= vreplicas.Value() ||
			list.Cpu().MilliValue() != 1 || list.Memory().Value() != 1024 {
			f.add("nodes", "%s offers %v, its pool has capacity %d", a.node.Name, list, a.pool.Spec.Capacity)
		}
	}
}

// checkCordon says whether an adapter is in use that should not be, or the other way round.
func (w *world) checkCordon(f *findings, a *adapter) {
	if a.node == nil || !a.wanted {
		return
	}
	reasons := w.reasonsToCordon(a)
	reason, isOurs := a.node.Annotations[v1alpha1.AnnotationCordon]
	isPersons := a.node.Spec.Unschedulable && !isOurs
	lost := w.lostFor(a)
	isOnTheEdge := lost > -lossDelay && lost <= lossDelay
	switch {
	case isPersons || isOnTheEdge:
	case len(reasons) > 0 && !a.node.Spec.Unschedulable:
		f.add("nodes", "%s is not cordoned: %v", a.node.Name, reasons)
	case len(reasons) == 0 && a.node.Spec.Unschedulable:
		f.add("nodes", "%s is cordoned because of %q, which is not so", a.node.Name, reason)
	case isOurs && !slices.Contains(reasons, reason):
		f.add("G9", "%s is cordoned because of %q, true are %v", a.node.Name, reason, reasons)
	}
}

// reasonsToCordon are all that apply.
func (w *world) reasonsToCordon(a *adapter) []string {
	var reasons []string
	if a.pod != nil && a.pod.Annotations[v1alpha1.AnnotationUnschedulable] == "true" {
		reasons = append(reasons, v1alpha1.CordonMarked)
	}
	switch {
	case !a.hasHost():
		reasons = append(reasons, v1alpha1.CordonNoHost)
	case a.host == nil || !isNodeReady(a.host) || isUnreachable(a.host):
		reasons = append(reasons, v1alpha1.CordonHostNotReady)
	}
	if a.host != nil && a.host.Spec.Unschedulable {
		reasons = append(reasons, v1alpha1.CordonHostCordoned)
	}
	if w.lostFor(a) > 0 {
		reasons = append(reasons, v1alpha1.CordonLost)
	}
	if slices.Contains(w.drained(a.pool), a.ordinal) {
		reasons = append(reasons, v1alpha1.CordonDraining)
	}
	return reasons
}

// checkLoad looks at how much an adapter serves, and whether it should serve anything.
func (w *world) checkLoad(f *findings, a *adapter, all []*adapter) {
	if a.node == nil {
		return
	}
	if int64(len(a.bound)) > capacity(a.node) {
		f.add("G1", "%s has %d vreplicas and room for %d", a.node.Name, len(a.bound), capacity(a.node))
	}
	isElsewhere := slices.ContainsFunc(all, func(o *adapter) bool {
		return o != a && o.wanted && o.isReady() && o.node != nil && !o.node.Spec.Unschedulable
	})
	switch {
	case len(a.bound) == 0:
	case !a.wanted:
		f.add("G6", "%s was removed and has %d vreplicas", a.node.Name, len(a.bound))
	case w.lostFor(a) > lossDelay && isElsewhere:
		f.add("C26", "%s has been lost for %s and has %d vreplicas", a.node.Name, w.lostFor(a), len(a.bound))
	}
}

// checkLeases looks for nodes without heartbeats, and heartbeats without nodes.
func (w *world) checkLeases(f *findings) {
	for _, n := range w.nodes {
		if !isVirtual(n) || w.leases == nil {
			continue
		}
		switch l := w.leases[n.Name]; {
		case l == nil:
			f.add("C45", "%s has no lease", n.Name)
		case l.Spec.RenewTime == nil || w.now.Sub(l.Spec.RenewTime.Time) > leaseAge:
			f.add("C45", "%s was last heard of at %s, now it is %s", n.Name, l.Spec.RenewTime, w.now)
		}
	}
	for name, l := range w.leases {
		if _, isOurs := l.Labels[v1alpha1.LabelPool]; isOurs && w.nodes[name] == nil {
			f.add("nodes", "there is a lease of node %s, which does not exist", name)
		}
	}
	for _, n := range w.nodes {
		if name, _, _ := split(n.Name); isVirtual(n) && w.pools[name] == nil {
			f.add("nodes", "%s has no pool", n.Name)
		}
	}
}

// waiting is how many vreplicas wait for an adapter of a pool: of a VPod at most as many as it has too few on adapters, and
// of others every placeholder.
func (w *world) waiting(pool *v1alpha1.AdapterPool) int64 {
	unbound, lacking := map[*v1alpha1.VPod]int64{}, map[*v1alpha1.VPod]int64{}
	for _, p := range w.pods {
		if !isPlaceholder(p) || !isAlive(p) || p.Labels[v1alpha1.LabelPool] != pool.Name {
			continue
		}
		v := w.vpods[owner(p)]
		if _, isKnown := lacking[v]; !isKnown && v != nil {
			lacking[v] = int64(wants(v))
		}
		if p.Spec.NodeName == "" {
			unbound[v]++
		} else {
			lacking[v]--
		}
	}
	waiting := unbound[nil]
	delete(unbound, nil)
	for v, n := range unbound {
		waiting += max(0, min(n, lacking[v]))
	}
	return waiting
}

// checkPool compares the status of a pool with its adapters.
func (w *world) checkPool(f *findings, pool *v1alpha1.AdapterPool, all []*adapter) {
	want := v1alpha1.AdapterPoolStatus{ObservedGeneration: pool.Generation}
	wanted := int32(0)
	for _, a := range all {
		if a.wanted {
			wanted++
		}
		if a.node == nil {
			continue
		}
		want.Adapters++
		if isNodeReady(a.node) {
			want.ReadyAdapters++
		}
		if !a.node.Spec.Unschedulable {
			want.Capacity += capacity(a.node)
		}
		want.Used += int64(len(a.bound))
	}
	want.Waiting = w.waiting(pool)
	tell := func(s v1alpha1.AdapterPoolStatus) string {
		return fmt.Sprint(s.ObservedGeneration, s.Adapters, s.ReadyAdapters, s.Capacity, s.Used, s.Waiting)
	}
	if have := tell(pool.Status); have != tell(want) {
		f.add("status", "pool %s: the status says %s, true is %s", pool.Name, have, tell(want))
	}
	ready := conditionOf(pool.Status.Conditions, v1alpha1.ConditionReady)
	if isReady := want.ReadyAdapters == wanted && wanted > 0; (ready.Status == metav1.ConditionTrue) != isReady {
		f.add("status", "pool %s: condition Ready is %q (%s), want %t", pool.Name, ready.Status, ready.Message, isReady)
	}
	if ready.Message == "" || ready.Reason == "" || ready.ObservedGeneration != pool.Generation {
		f.add("G9", "pool %s does not say why: %+v", pool.Name, ready)
	}
}
