package controllers

import (
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// important gives a VPod a higher priority than most.
func (p *pool) important() func(*v1alpha1.VPod) {
	p.t.Helper()
	p.create(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Value: 1000})
	return func(v *v1alpha1.VPod) { v.Spec.PriorityClassName = p.name }
}

// A VPod of high priority at its adapter limit: what it has on an adapter that drains goes to another one, and no neighbour on
// the full one that it keeps has to give way to a spare one, which a PodDisruptionBudget forbids besides.
func TestG6_DrainAtTheLimitPreemptsNobody(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newHeld(t, 4, "", "", "", "")
	cordon := func(is bool, ordinals ...int) {
		for _, o := range ordinals {
			p.must(p.Cordon(t.Context(), p.node(o), is))
		}
	}
	cordon(true, 0, 2)
	p.run("x", 4, "0/2/0/2", p.important(), func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = new(int32(2)) })
	cordon(true, 3)
	p.run("y", 2, "0/2/0/0")
	cordon(false, 0, 2, 3)
	p.budget("y", nothing())
	before, w := p.uids("y"), p.witnessAll()
	p.holdAt(3)
	p.settledOneOf("x", "2/2/0", "0/2/2")
	p.stayed("y", before)
	p.neverLess(w, "x", 4, 2, 0)
}
