package integration

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// taintOfTest is the key of a taint that no vreplica tolerates.
const taintOfTest = "test.example/taint"

// view is what the API server has of a pool, and what follows from the definitions of the rules, literally.
type view struct {
	pods []corev1.Pod
	// waiting are those of the pods that are to be placed.
	waiting []*corev1.Pod
	// nodes are those that ever were of the pool.
	nodes []*nodeView
	// used is the number of adapters that serve a vpod.
	used map[string]int
}

type nodeView struct {
	*corev1.Node
	name string
	// number is the ordinal in its name, whatever its label.
	number         int
	capacity, held int64
	// open: it is of the pool, none older claims its ordinal, and neither a cordon nor a taint is in the way.
	adapter, open bool
	counts        map[string]int
}

func (p *pool) view(ctx context.Context) (*view, error) {
	pods, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	nodes, err := p.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	v := &view{pods: pods.Items, used: map[string]int{}}
	holders, byName := map[string]*nodeView{}, map[string]*nodeView{}
	for i := range nodes.Items {
		number, ok := strings.CutPrefix(nodes.Items[i].Name, p.name+"-")
		n := newNodeView(&nodes.Items[i])
		if n.number, err = strconv.Atoi(number); !ok || err != nil {
			continue // a node of a fence
		}
		v.nodes, byName[n.name] = append(v.nodes, n), n
		ordinal := n.Labels[v1alpha1.LabelOrdinal]
		if _, err := strconv.Atoi(ordinal); err == nil && n.Labels[v1alpha1.LabelPool] == p.name && n.older(holders[ordinal]) {
			holders[ordinal] = n
		}
	}
	for _, n := range holders {
		n.adapter = true
	}
	for i := range v.pods {
		v.count(&v.pods[i], byName[v.pods[i].Spec.NodeName])
	}
	return v, nil
}

func newNodeView(node *corev1.Node) *nodeView {
	capacity := node.Status.Allocatable[v1alpha1.ResourceVReplicas]
	n := &nodeView{Node: node, name: node.Name, capacity: capacity.Value(), open: !node.Spec.Unschedulable, counts: map[string]int{}}
	for _, t := range node.Spec.Taints {
		n.open = n.open && (t.Key != taintOfTest || t.Effect == corev1.TaintEffectPreferNoSchedule)
	}
	return n
}

func (n *nodeView) older(than *nodeView) bool {
	return than == nil || cmp.Or(n.CreationTimestamp.Compare(than.CreationTimestamp.Time), cmp.Compare(n.name, than.name)) < 0
}

func (v *view) count(p *corev1.Pod, n *nodeView) {
	switch {
	case p.Spec.NodeName == "" && p.DeletionTimestamp == nil:
		v.waiting = append(v.waiting, p)
	case n != nil:
		n.held++
		if vpod := p.Labels[v1alpha1.LabelVPod]; n.adapter && p.DeletionTimestamp == nil {
			if n.counts[vpod]++; n.counts[vpod] == 1 {
				v.used[vpod]++
			}
		}
	}
}

// waitsInVain says which vreplica waits although an eligible adapter has room, or is not told why it waits.
func (v *view) waitsInVain() error {
	for _, p := range v.waiting {
		if lab.Reason(p) == "" {
			return fmt.Errorf("%s waits and is not told why", p.Name)
		}
		for _, n := range v.nodes {
			if v.eligible(p, n) {
				return fmt.Errorf("%s waits although %s is eligible: %s", p.Name, n.name, lab.Reason(p))
			}
		}
	}
	return nil
}

func (v *view) eligible(p *corev1.Pod, n *nodeView) bool {
	free := n.capacity - n.held
	for _, o := range v.waiting { // A preemptor that waits for its victims to go holds room, except against higher ones.
		if o != p && o.Status.NominatedNodeName == n.name && *o.Spec.Priority >= *p.Spec.Priority {
			free--
		}
	}
	limit, _ := strconv.Atoi(p.Annotations[v1alpha1.AnnotationMaxAdapters])
	vpod := p.Labels[v1alpha1.LabelVPod]
	return n.adapter && n.open && free >= 1 && (n.counts[vpod] > 0 || limit == 0 || v.used[vpod] < limit)
}

func (v *view) anyNode(random *rand.Rand) *nodeView { return v.nodes[random.IntN(len(v.nodes))] }

// anyPod returns nil where there is none.
func (v *view) anyPod(random *rand.Rand) *corev1.Pod {
	if len(v.pods) == 0 {
		return nil
	}
	return &v.pods[random.IntN(len(v.pods))]
}

// String tells all, for a test that fails.
func (v *view) String() string {
	var b strings.Builder
	for _, n := range v.nodes {
		fmt.Fprintf(&b, "%s: %d of %d, adapter %t, open %t, %v %v\n", n.name, n.held, n.capacity, n.adapter, n.open, n.counts, n.Labels)
	}
	for _, p := range v.pods {
		fmt.Fprintf(&b, "%s of %s on %q: priority %d, limit %q, terminating %t, nominated to %q: %s\n", p.Name, p.Labels[v1alpha1.LabelVPod],
			p.Spec.NodeName, *p.Spec.Priority, p.Annotations[v1alpha1.AnnotationMaxAdapters], p.DeletionTimestamp != nil, p.Status.NominatedNodeName, lab.Reason(&p))
	}
	return b.String()
}

func (s *stress) pick() func(*view) string {
	sum := 0
	for _, c := range s.changes {
		sum += c.weight
	}
	k := s.random.IntN(sum)
	for _, c := range s.changes {
		if k -= c.weight; k < 0 {
			return c.do
		}
	}
	panic("unreachable")
}

func (s *stress) patchAny(pod string, patch object) {
	_, err := s.Client().CoreV1().Pods(s.name).Patch(s.t.Context(), pod, types.MergePatchType, encode(s.t, patch), metav1.PatchOptions{})
	s.must(err)
}

// must fails the test for an error, unless it is that preemption was faster.
func (s *stress) must(err error) {
	s.t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
}

func oneOf[T any](s *stress, of ...T) T { return of[s.random.IntN(len(of))] }
