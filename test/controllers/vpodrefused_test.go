package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// A quota of 3 lets 3 of 5 be created; the condition and an event pass on why, and nothing is lost. More quota, or a
// smaller scale, and all is well.
func TestG9_Quota(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "")
	p.create(&corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "vreplicas"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.vpod.dev/vreplicas": resource.MustParse("3")}},
	})
	p.create(p.vpod("x", 5))
	message := p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonCreationRefused)
	for _, want := range []string{"of 5 vreplicas are placed. The API server refuses 2 more placeholders", "exceeded quota: vreplicas"} {
		if !strings.Contains(message, want) {
			t.Errorf("says %q, want %q", message, want)
		}
	}
	p.event("x", corev1.EventTypeWarning, v1alpha1.ReasonCreationRefused)
	p.settled("x", "3")
	before := p.uids("x")
	p.patch("resourcequota", "vreplicas", `{"spec":{"hard":{"requests.vpod.dev/vreplicas":"4"}}}`)
	p.settled("x", "4")
	p.scale("x", 4)
	p.condition("x", v1alpha1.ConditionReady, v1alpha1.ReasonAllReady)
	p.stayed("x", before)

	// The quota is used up, and leaves no room for one more during a rollout.
	p.create(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Value: 7})
	p.patch("vpod", "x", fmt.Sprintf(`{"spec":{"priorityClassName":%q}}`, p.name))
	p.eventually("all are new", func(ctx context.Context) error { return p.areNew(ctx, "x", 4) })
	p.settled("x", "4")
}

// A PriorityClass that does not exist: what waits for it says so, what is placed stays; once it exists, all is well.
func TestG9_PriorityClassThatDoesNotExist(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "")
	p.run("x", 2, "2")
	before := p.uids("x")
	p.patch("vpod", "x", fmt.Sprintf(`{"spec":{"priorityClassName":%q}}`, p.name))
	p.eventually("x says what is in the way", func(context.Context) error {
		message := p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonAllScheduled)
		if !strings.Contains(message, "no PriorityClass with name "+p.name) {
			return fmt.Errorf("it says %q", message)
		}
		return nil
	})
	p.stayed("x", before)
	p.create(p.vpod("y", 1, func(v *v1alpha1.VPod) { v.Spec.PriorityClassName = p.name }))
	p.condition("y", v1alpha1.ConditionScheduled, v1alpha1.ReasonCreationRefused)
	p.create(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Value: 7})
	p.settled("y", "1")
	p.eventually("x is new", func(ctx context.Context) error { return p.areNew(ctx, "x", 2) })
	p.settled("x", "2")
}

// A namespace of the pod security standard "restricted" takes placeholders.
func TestRestrictedNamespace(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "")
	p.patch("namespace", p.name, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	p.run("x", 2, "2")
}

func TestNameThatIsNoLabelIsRefused(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "")
	p.run(strings.Repeat("x", 63), 1, "1")
	err := p.Objects().Create(t.Context(), p.vpod(strings.Repeat("x", 64), 1))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.name: at most 63 characters") {
		t.Errorf("refused with %v", err)
	}
}

// A pool that comes later, or has no adapters: the condition says so, and all is placed once there are some.
func TestG9_PoolThatIsNotThere(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newSet(t)
	p.create(p.vpod("x", 1))
	message := p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonPoolNotFound)
	if want := fmt.Sprintf("0 of 1 vreplicas are placed. There is no AdapterPool %q", p.name); message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	p.event("x", corev1.EventTypeWarning, v1alpha1.ReasonPoolNotFound)
	p.create(p.set.Pool(10))
	p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonPoolNotReady)
	p.addHost("")
	p.setReplicas(1)
	p.settled("x", "1")
}
