package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// A tenant who asks for far more than the quota allows gets as many adapters as what is allowed needs, and no more for a
// moment either: with the default delay, they would stay for minutes.
func TestG7_WhatAQuotaRefusesWantsNoAdapters(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 1, 2, 10, between(1, 20))
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "")
	p.create(&corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "vreplicas"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.vpod.dev/vreplicas": resource.MustParse("5")}},
	})
	p.eventually("the quota is counted", func(ctx context.Context) error {
		quota, err := p.Client().CoreV1().ResourceQuotas(p.name).Get(ctx, "vreplicas", metav1.GetOptions{})
		if err == nil && len(quota.Status.Hard) == 0 {
			err = fmt.Errorf("its status is %+v", quota.Status)
		}
		return err
	})
	seen := p.witnessScale()
	p.create(p.vpod("x", 100))
	p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonCreationRefused)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "size 1: 5 vreplicas wanted")
	p.scale("x", 5)
	p.settledSum("x", 5)
	p.scale("x", 100)
	if says := p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonCreationRefused); !strings.Contains(says, "95 more placeholders") {
		t.Errorf("it says %q", says)
	}
	p.patch("resourcequota", "vreplicas", `{"spec":{"hard":{"requests.vpod.dev/vreplicas":"15"}}}`)
	p.settled("x", "10/5")
	p.scaledTo(2, v1alpha1.ReasonWantedSize, "size 2: 15 vreplicas wanted")
	p.wasAskedFor(seen, 1, 2)
}
