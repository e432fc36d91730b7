package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestC25_ACordonedAdapterHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "z1", "z2", "z3")...)
	x := p.vpod("x")
	p.cordon(2, true)
	p.seen()
	p.steps(x, []step{{6, "3/3/0"}})

	p.cordon(2, false)
	p.seen()
	p.steps(x, []step{{1, "3/3/1"}})

	before := p.where()
	p.cordon(0, true)
	p.seen()
	p.steps(x, []step{{2, "3/3/3"}, {2, "3/4/4"}})
	p.unmoved(before)
}

// A placeholder tolerates the taints of a node that does not answer: its adapter may well live. So what closes a dead
// adapter is the cordon that the controllers put on it, or a taint by which somebody declares the node dead.
func TestC26_AWholeZoneIsLostAndComesBack(t *testing.T) {
	t.Parallel()
	unreachable := []corev1.Taint{
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
	}
	outOfService := corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute}
	tests := map[string]struct {
		taints   []corev1.Taint
		cordoned bool
	}{
		"unreachable and cordoned":        {unreachable, true},
		"unreachable and out of service":  {append(unreachable, outOfService), false},
		"nothing but a taint NoExecute":   {[]corev1.Taint{outOfService}, false},
		"a cordon before any taint shows": {nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPool(t, zones(10, "z1", "z2", "z3")...)
			x := p.vpod("x")
			p.grow(x, 6, withFinalizer)
			p.settled(x, "2/2/2", 0)

			p.taint(2, tc.taints...)
			p.cordon(2, tc.cordoned)
			lost := p.terminateOn(2)
			p.seen()
			p.steps(x, []step{{2, "3/3/0"}})

			before := p.where()
			p.taint(2)
			p.cordon(2, false)
			p.seen()
			p.unmoved(before)
			for _, name := range lost {
				p.release(name)
			}
			before = p.where()
			p.steps(x, []step{{2, "3/3/2"}})
			p.unmoved(before)
		})
	}
}

// terminateOn deletes the vreplicas on an adapter, which have a finalizer and so stay, and returns their names.
func (p *pool) terminateOn(ordinal int) []string {
	p.t.Helper()
	var names []string
	list, err := p.pods(p.t.Context(), p.vpod("x"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, pod := range list {
		if pod.Spec.NodeName == p.node(ordinal) {
			p.delete(pod.Name)
			names = append(names, pod.Name)
		}
	}
	return names
}
