package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// The vreplicas of a VPod that is deleted are not those of a stranger: the pool waits for them to go, and warns of nothing.
func TestThePoolShrinksBehindAVPodThatIsDeleted(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 3, 3, 10, after(never))
	p.create(p.vpod("x", 30))
	p.settledSum("x", 30)
	p.setAutoscaling(`{"scaleDownDelay":"0s"}`)
	seen := p.witnessScale()
	p.must(p.Objects().Delete(t.Context(), p.vpod("x", 30)))
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "size 1: 0 vreplicas wanted")
	if numbers := seen(); numbers[0] != 3 || numbers[len(numbers)-1] != 1 {
		t.Errorf("the StatefulSet was asked for %v", numbers)
	}
	list, err := p.Client().EventsV1().Events(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{
		FieldSelector: "regarding.kind=AdapterPool,type=Warning,reason=" + v1alpha1.ReasonDrainBlocked + ",regarding.name=" + p.name,
	})
	p.must(err)
	for _, e := range list.Items {
		t.Errorf("it warns: %s", e.Note)
	}
}
