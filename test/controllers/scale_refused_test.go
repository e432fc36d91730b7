package controllers

import (
	"context"
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// holdScale has a webhook that is down keep the StatefulSet as it is.
func (p *pool) holdScale() *admissionv1.ValidatingWebhookConfiguration {
	p.t.Helper()
	webhook := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: p.name},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "platform.example.com", ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule: admissionv1.Rule{
					APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"statefulsets/scale"},
				},
			}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: p.name}},
		}},
	}
	p.create(webhook)
	p.eventually("the webhook is asked", func(ctx context.Context) error {
		_, err := p.Kubectl(ctx, "-n", p.name, "scale", "statefulset", p.name, "--replicas=2", "--dry-run=server")
		if err == nil {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	return webhook
}

// What the API server refuses is told in its own words, by the pool and by an event, and tried again.
func TestG9_AScaleThatIsRefused(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 1, 3, 10)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "")
	webhook := p.holdScale()
	seen := p.witnessScale()
	p.create(p.vpod("x", 25))
	const says = `failed calling webhook "platform.example.com"`
	p.saysScaled(v1alpha1.ReasonStatefulSetStuck, "the number of adapters stays 1: scaling the StatefulSet to 3: ")
	p.saysScaled(v1alpha1.ReasonStatefulSetStuck, says)
	p.said(v1alpha1.ReasonStatefulSetStuck, says)
	p.must(p.Objects().Delete(t.Context(), webhook))
	p.scaledTo(3, v1alpha1.ReasonWantedSize, "")
	p.settledSum("x", 25)
	p.wasAskedFor(seen, 1, 3)
}
