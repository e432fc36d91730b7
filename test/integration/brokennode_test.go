package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// Of two adapters a-1 is broken: a-0 is used as if it were alone, what does not fit there is told about both, and goes
// to a-1 once that is mended.
func TestC9_ABrokenNodeIsLeftOutAlone(t *testing.T) {
	t.Parallel()
	const (
		noOrdinal  = "1 adapter(s) without a valid vpod.dev/ordinal label"
		rival      = "1 adapter(s) with a vpod.dev/ordinal label that an older adapter has"
		noCapacity = "1 adapter(s) that offer no vreplicas"
	)
	tests := map[string]struct {
		edit func(*corev1.Node)
		want string
	}{
		"no ordinal":              {func(node *corev1.Node) { delete(node.Labels, v1alpha1.LabelOrdinal) }, noOrdinal},
		"an ordinal of no text":   {ordinal(""), noOrdinal},
		"ordinal x":               {ordinal("x"), noOrdinal},
		"ordinal 01":              {ordinal("01"), noOrdinal},
		"ordinal 1.0":             {ordinal("1.0"), noOrdinal},
		"an ordinal over 32 bits": {ordinal("4294967297"), noOrdinal},
		"the ordinal of another":  {ordinal("0"), rival},
		"no capacity":             {func(node *corev1.Node) { delete(node.Status.Allocatable, v1alpha1.ResourceVReplicas) }, noCapacity},
		"capacity 0":              {func(node *corev1.Node) { *node = withCapacity(*node, 0) }, noCapacity},
		"a real node by mistake": {func(node *corev1.Node) {
			name, real := node.Name, lab.Host("", "z2")
			real.Labels[v1alpha1.LabelPool] = node.Labels[v1alpha1.LabelPool]
			*node, node.Name = *real, name
		}, noOrdinal},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, sharedLab(t))
			p.adapter(lab.Adapter{Ordinal: 0, Zone: "z1", Capacity: 3})
			p.adapter(lab.Adapter{Ordinal: 1, Zone: "z2", Capacity: 3}, tc.edit)
			p.seen()
			x := p.vpod("x")
			p.grow(x, 5)
			refused := p.refusedFor(x, "3/0", 2, full(1)+", "+tc.want)
			p.described(refused[0].Name, full(1)+", "+tc.want)
			p.nodeLabel(1, v1alpha1.LabelOrdinal, "1")
			p.capacity(1, "3")
			p.settled(x, "3/2", 0)
		})
	}
}

func TestC9_ANodeThatBreaksLaterKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "z1", "z2", "z3")...)
	x := p.vpod("x")
	p.steps(x, []step{{6, "2/2/2"}})

	before := p.where()
	p.nodeLabel(1, v1alpha1.LabelOrdinal, "x")
	p.seen()
	p.steps(x, []step{{2, "3/2/3"}})
	p.nodeLabel(1, v1alpha1.LabelOrdinal, "1")
	p.seen()
	p.steps(x, []step{{1, "3/3/3"}})
	p.unmoved(before)
}

// No label of Kubernetes may begin with a sign.
func TestC9_ANegativeOrdinalIsNoLabel(t *testing.T) {
	t.Parallel()
	p := newPool(t, sharedLab(t))
	node := lab.Adapter{Pool: p.name, Capacity: 1}.Node()
	ordinal("-1")(node)
	if err := p.CreateNode(t.Context(), node); !apierrors.IsInvalid(err) {
		t.Errorf("got error %v, want that the node is invalid", err)
	}
}

func ordinal(text string) func(*corev1.Node) {
	return func(node *corev1.Node) { node.Labels[v1alpha1.LabelOrdinal] = text }
}

func withCapacity(node corev1.Node, n int64) corev1.Node {
	node.Status.Allocatable = lab.Adapter{Capacity: n}.Node().Status.Allocatable
	return node
}
