package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// budgetPlan is a PodDisruptionBudget of the vreplicas of a VPod.
type budgetPlan struct {
	namespace, name string
	least, most     *intstr.IntOrString
}

func (b *budgetPlan) key() string { return b.namespace + "/" + b.name }

func (b *budgetPlan) String() string {
	if b.least != nil {
		return fmt.Sprintf("%s: at least %s available", b.key(), b.least)
	}
	return fmt.Sprintf("%s: at most %s unavailable", b.key(), b.most)
}

func (b *budgetPlan) object() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: b.name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: b.name}},
			MinAvailable: b.least, MaxUnavailable: b.most,
		},
	}
}

// makeBudget has a VPod have a budget. Some budgets allow nothing, whatever there is.
func (p *plan) makeBudget() *action {
	v := p.anyVPod()
	if v == nil || len(p.budgets) >= mostBudgets {
		return nil
	}
	b := &budgetPlan{namespace: v.namespace, name: v.name}
	if p.budgets[b.key()] != nil {
		return nil
	}
	switch p.random.IntN(4) {
	case 0:
		b.most = new(intstr.FromInt32(1))
	case 1:
		b.most = new(intstr.FromInt32(0))
	case 2:
		b.least = new(intstr.FromString("50%"))
	default:
		b.least = new(intstr.FromInt32(1000))
	}
	p.budgets[b.key()] = b
	return &action{text: b.String(), do: func(ctx context.Context, d *driver) (string, error) {
		return "", d.create(ctx, b.object())
	}}
}

func (p *plan) dropBudget() *action {
	if len(p.budgets) == 0 {
		return nil
	}
	b := p.budgets[oneOf(p, slices.Sorted(maps.Keys(p.budgets))...)]
	return p.drop(b)
}

func (p *plan) drop(b *budgetPlan) *action {
	delete(p.budgets, b.key())
	return &action{text: b.String(), do: func(ctx context.Context, d *driver) (string, error) {
		return "", d.remove(ctx, b.object())
	}}
}
