package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// bystanders is the namespace of pods that nobody has a reason to touch once they run.
const bystanders = "bystanders"

// history goes through all writes in their order, and notes what must not be at any moment, however briefly.
type history struct {
	pods  map[types.UID]*corev1.Pod
	nodes map[string]*corev1.Node
	vpods map[types.UID]*v1alpha1.VPod
	pools map[string]*v1alpha1.AdapterPool
	// budgets are by namespace and name.
	budgets map[string]*policyv1.PodDisruptionBudget

	outages outages
	// scales are by pool.
	scales map[string]*scales
	// drained is when virtual nodes were last to be emptied, and unmarked when placeholders ceased to be to be moved. roomy is
	// since when virtual nodes that are in use have room.
	drained, roomy map[string]time.Time
	unmarked       map[types.UID]time.Time
	// surges are the placeholders that were made in this step because others were to be moved. losses are the vreplicas that
	// were taken from VPods for other reasons.
	surges map[types.UID]bool
	losses map[types.UID]loss
	// nodeGone is since when virtual nodes are gone.
	nodeGone map[string]time.Time
	// limits are the most vreplicas that a node had room for in this step: what served before its capacity was lowered may
	// go on until it is moved.
	limits map[string]int64
	// asked is the most vreplicas that a VPod asked for in this step, and askedAt what it asked for in each generation.
	asked   map[types.UID]int32
	askedAt map[types.UID]map[int64]int32
	// reclassed are the VPods whose PriorityClass changed in this step.
	reclassed map[types.UID]bool
	// persons are the virtual nodes that a person cordoned.
	persons map[string]bool
	// unseen are ends of placeholders that served, where nobody saw all that led to it: they are looked at when the step ends.
	unseen []end
	// calm are the bystanders that ran when the last step ended.
	calm map[types.UID]bool

	expected expected
	breaches findings
	tally    tally
}

// end is why a placeholder is not served any more, and how it was before.
type end struct {
	event
	was *corev1.Pod
}

func newHistory() *history {
	return &history{
		pods: map[types.UID]*corev1.Pod{}, nodes: map[string]*corev1.Node{}, vpods: map[types.UID]*v1alpha1.VPod{},
		pools: map[string]*v1alpha1.AdapterPool{}, outages: newOutages(),
		nodeGone: map[string]time.Time{}, limits: map[string]int64{},
		asked: map[types.UID]int32{}, askedAt: map[types.UID]map[int64]int32{}, reclassed: map[types.UID]bool{},
		persons: map[string]bool{}, calm: map[types.UID]bool{}, expected: newExpected(), tally: tally{moved: map[string]int{}},
		budgets: map[string]*policyv1.PodDisruptionBudget{}, scales: map[string]*scales{},
		drained: map[string]time.Time{}, roomy: map[string]time.Time{}, unmarked: map[types.UID]time.Time{},
		surges: map[types.UID]bool{}, losses: map[types.UID]loss{},
	}
}

// happens takes the next event.
func (h *history) happens(e event) {
	h.stirs(e)
	switch o := e.object.(type) {
	case *corev1.Pod:
		switch {
		case isPlaceholder(o):
			h.placeholder(e, o)
		default:
			h.foreignPod(e, o)
		}
	case *corev1.Node:
		h.node(e, o)
	case *v1alpha1.VPod:
		h.vpod(e, o)
	case *v1alpha1.AdapterPool:
		h.pool(e, o)
	case *appsv1.StatefulSet:
		h.set(e, o)
	case *policyv1.PodDisruptionBudget:
		if h.budgets[key(o)] = o; e.gone {
			delete(h.budgets, key(o))
		}
	}
	h.outages.happens(e)
	h.measure(e)
}

// settled ends a step.
func (h *history) settled() {
	for _, u := range h.unseen {
		why := h.excuse(u.event, u.was)
		if why == "" {
			h.breach(u.event, "G4", "%s was served by %s and is gone, and nothing explains it", key(u.was), u.was.Spec.NodeName)
		}
		h.tally.moved[why]++
	}
	h.unseen = nil
	clear(h.limits)
	for _, n := range h.nodes {
		h.limits[n.Name] = capacity(n)
	}
	clear(h.asked)
	for _, v := range h.vpods {
		h.asked[v.UID] = wants(v)
	}
	for _, p := range h.pods {
		if p.Namespace == bystanders && isServed(p) {
			h.calm[p.UID] = true
		}
	}
	clear(h.reclassed)
	clear(h.surges)
	maps.DeleteFunc(h.losses, func(_ types.UID, l loss) bool { return h.outages.last.Sub(l.at) > late })
	clear(h.unmarked)
	h.expected = newExpected()
}

func (h *history) breach(e event, promise, format string, args ...any) {
	h.breaches.add(promise, "%s at version %d, %s", fmt.Sprintf(format, args...), e.version, e.at.Format("15:04:05.000"))
}

// foreignPod looks for what nobody of ours may have written.
func (h *history) foreignPod(e event, p *corev1.Pod) {
	was := h.pods[p.UID]
	if h.pods[p.UID] = p; e.gone {
		delete(h.pods, p.UID)
	}
	if who := ourManager(p); who != "" {
		h.breach(e, "G8", "%s wrote pod %s, which is no placeholder", who, key(p))
	}
	if h.calm[p.UID] && (e.gone || isTouched(was, p)) {
		h.breach(e, "G8", "bystander %s was touched by one of %v, gone: %t", key(p), managers(p), e.gone)
	}
}

// isTouched says whether a pod was changed in more than what its kubelet says of it: where the machine of a run is too busy,
// a host may seem to be silent for a moment.
func isTouched(was, is *corev1.Pod) bool {
	return !is.DeletionTimestamp.Equal(was.DeletionTimestamp) || isFinished(is) || !apiequality.Semantic.DeepEqual(was.Spec, is.Spec) ||
		!maps.Equal(was.Labels, is.Labels) || !maps.Equal(was.Annotations, is.Annotations)
}

// node follows what a virtual node offers, and who cordoned it.
func (h *history) node(e event, n *corev1.Node) {
	was := h.nodes[n.Name]
	if h.nodes[n.Name] = n; e.gone {
		delete(h.nodes, n.Name)
	}
	if !isVirtual(n) {
		if who := ourManager(n); who != "" || e.gone {
			h.breach(e, "G8", "real node %s was written by %q, or is gone: %t", n.Name, who, e.gone)
		}
		return
	}
	if e.gone || n.Labels[v1alpha1.LabelPool]+"-"+n.Labels[v1alpha1.LabelOrdinal] != n.Name {
		h.unseats(n.Name, e.at)
	}
	if e.gone {
		h.nodeGone[n.Name] = e.at
		delete(h.persons, n.Name)
		if held := h.held(n.Name); held > 0 && !h.expected.deleted[n.Name] {
			h.breach(e, "G6", "virtual node %s is gone, and %d vreplicas were on it", n.Name, held)
		}
		return
	}
	delete(h.nodeGone, n.Name)
	h.limits[n.Name] = max(h.limits[n.Name], capacity(n))
	h.cordon(e, was, n)
}

// cordon tells a person's cordon, which nobody else may undo, from ours, which has to say why.
func (h *history) cordon(e event, was, n *corev1.Node) {
	_, isOurs := n.Annotations[v1alpha1.AnnotationCordon]
	switch wasCordoned := was != nil && was.Spec.Unschedulable; {
	case !wasCordoned && n.Spec.Unschedulable && !isOurs:
		h.persons[n.Name] = true
		if !h.expected.cordoned[n.Name] {
			h.breach(e, "G9", "%s was cordoned by one of %v, and nobody says why", n.Name, managers(n))
		}
	case wasCordoned && !n.Spec.Unschedulable && h.persons[n.Name]:
		delete(h.persons, n.Name)
		if !h.expected.uncordoned[n.Name] {
			h.breach(e, "nodes", "%s was cordoned by a person, and uncordoned by one of %v", n.Name, managers(n))
		}
	}
}

// held is how many vreplicas are on a node, and served how many of them it serves.
func (h *history) held(node string) int64 {
	return h.count(node, func(p *corev1.Pod) bool { return !isFinished(p) })
}

func (h *history) served(node string) int64 { return h.count(node, isServed) }

func (h *history) count(node string, counts func(*corev1.Pod) bool) int64 {
	n := int64(0)
	for _, p := range h.pods {
		if p.Spec.NodeName == node && isPlaceholder(p) && counts(p) {
			n++
		}
	}
	return n
}

// managers are all that have written an object, as far as it remembers.
func managers(o client.Object) []string {
	var all []string
	for _, m := range o.GetManagedFields() {
		all = append(all, m.Manager)
	}
	return all
}

// ourManager is which of our programs has written an object; "" if none has.
func ourManager(o client.Object) string {
	i := slices.IndexFunc(managers(o), func(m string) bool {
		return strings.HasPrefix(m, v1alpha1.SchedulerName) || strings.HasPrefix(m, v1alpha1.ControllerName)
	})
	if i < 0 {
		return ""
	}
	return o.GetManagedFields()[i].Manager
}
