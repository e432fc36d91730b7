package controllers

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// 50 VPods of 3 on 8 adapters of 20: however controller and scheduler are rolled out or killed, nothing moves and nothing is
// sized anew.
func TestC23_RestartsSizeNothingAnew(t *testing.T) {
	s := ownStage(t)
	p := s.newScaled(t, 8, 9, 20)
	var vpods []*v1alpha1.VPod
	for i := range 50 {
		vpods = append(vpods, p.vpod(fmt.Sprintf("x-%d", i), 3))
	}
	p.apply(vpods...)
	for i := range 50 {
		p.settledSum(fmt.Sprintf("x-%d", i), 3)
	}
	p.scaledTo(8, v1alpha1.ReasonWantedSize, "size 8: 150 vreplicas wanted, 20 per adapter")
	seen, w := p.witnessScale(), p.witnessAll()
	for round, how := range []func(*lab.Process){(*lab.Process).Stop, (*lab.Process).Kill, (*lab.Process).Stop} {
		for _, program := range []*lab.Process{s.controller, s.scheduler} {
			how(program)
			p.must(program.Start(labtest.TimeLimit(t)))
		}
		// Both work again: what is asked for now is done. 149 to 151 vreplicas are 8 adapters.
		n := int32(2 + round)
		p.scale("x-0", n)
		p.settledSum("x-0", int(n))
		p.scaledTo(8, v1alpha1.ReasonWantedSize, fmt.Sprintf("size 8: %d vreplicas wanted", 147+n))
	}
	p.wasAskedFor(seen, 8)
	p.hear(w, func(w *witness) {
		for i := range 50 {
			name, gone, placed := fmt.Sprintf("x-%d", i), 0, 0
			if i == 0 {
				gone, placed = 1, 2 // The first round took one away, and each of the others added one.
			}
			if w.deleted[name] != gone || w.bound[name] != placed {
				t.Errorf("of %s %d went and %d were placed", name, w.deleted[name], w.bound[name])
			}
		}
	})
}

// With ordered management, an adapter that is not ready holds up the others: it is told, within a minute, and does no harm.
func TestC22_AStatefulSetThatIsStuck(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	p := &pool{stage: s, t: t, name: labtest.Name(t)}
	p.set = lab.AdapterSet{Namespace: p.name, Name: p.name, Replicas: 3}
	p.must(s.CreateNamespace(t.Context(), p.name))
	set := p.set.StatefulSet()
	set.Spec.PodManagementPolicy = "OrderedReady"
	for range 3 {
		p.addHost("")
	}
	p.create(set)
	p.autoscale(10)
	p.create(p.vpod("x", 25))
	p.settledSum("x", 25)
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
	p.adapterReady(0, false)
	p.scale("x", 5)
	// Nothing that is served moves to an adapter that is not ready, so the second one stays for now.
	p.saysScaled(v1alpha1.ReasonStatefulSetStuck, fmt.Sprintf("the StatefulSet was asked for 2 pods, and has not removed %s: "+
		"%s is not ready, and with podManagementPolicy OrderedReady one pod", p.set.PodName(2), p.set.PodName(0)))
	p.said(v1alpha1.ReasonStatefulSetStuck, "OrderedReady")
	p.settledSum("x", 5)
	p.adapterReady(0, true)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "")

	// One that is itself to be removed holds up nothing.
	p.scale("x", 25)
	p.settledSum("x", 25)
	p.adapterReady(1, false)
	w := p.witnessAll()
	p.scale("x", 5)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "")
	p.settled("x", "5")
	p.hear(w, func(w *witness) {
		if w.deleted["x"] > 25 {
			t.Errorf("%d went", w.deleted["x"])
		}
	})
}

// A quota lets the StatefulSet have 5 of the 8 pods that are wanted: 5 serve, it is told, and then 2 are enough.
func TestC22_AQuotaOfAdapters(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 1, 8, 10)
	// Placeholders ask for neither CPU nor memory.
	p.create(&corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "adapters"},
		Spec: corev1.ResourceQuotaSpec{
			Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("5")}, Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotBestEffort},
		},
	})
	seen := p.witnessScale()
	p.create(p.vpod("x", 75))
	pool := p.saysScaled(v1alpha1.ReasonStatefulSetStuck, "the StatefulSet was asked for 8 pods, and has not created "+p.name)
	if pool.Status.Adapters != 5 || pool.Status.Used != 50 {
		t.Errorf("%d adapters serve %d", pool.Status.Adapters, pool.Status.Used)
	}
	p.scale("x", 15)
	p.scaledTo(2, v1alpha1.ReasonWantedSize, "size 2: 15 vreplicas wanted")
	p.settledSum("x", 15)
	if numbers := seen(); numbers[0] != 1 || numbers[1] != 8 || len(numbers) > 5 {
		t.Errorf("the StatefulSet was asked for %v", numbers)
	}
}
