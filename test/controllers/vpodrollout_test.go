package controllers

import (
	"context"
	"fmt"
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Another PriorityClass replaces all placeholders one by one: never more than one more than asked for, no adapter above its
// capacity, and as even as before, with room for one more and without.
func TestC27_PriorityRollout(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]rollout{
		"with room":           {capacity: 10, replicas: 5, before: "2/2/1", after: []string{"2/2/1", "2/1/2", "1/2/2"}},
		"evenly with room":    {capacity: 10, replicas: 9, before: "3/3/3", after: []string{"3/3/3"}},
		"without room":        {capacity: 2, replicas: 6, before: "2/2/2", after: []string{"2/2/2"}},
		"while there is none": {capacity: 2, replicas: 8, before: "2/2/2+2", after: []string{"2/2/2+2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newPool(t, tc.capacity, "z1", "z2", "z3")
			p.run("x", tc.replicas, tc.before)
			w := p.witnessAll()
			p.create(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Value: 7})
			p.patch("vpod", "x", fmt.Sprintf(`{"spec":{"priorityClassName":%q}}`, p.name))
			p.eventually("all are new", func(ctx context.Context) error { return p.areNew(ctx, "x", int(tc.replicas)) })
			p.settledOneOf("x", tc.after...)
			p.hear(w, func(w *witness) { tc.check(t, w) })
		})
	}
}

type rollout struct {
	capacity, replicas int32
	before             string
	after              []string
}

// check fails the test if there was a vreplica too many at any time.
func (r rollout) check(t *testing.T, w *witness) {
	t.Helper()
	if w.mostAlive["x"] > int(r.replicas)+1 {
		t.Errorf("%d existed", w.mostAlive["x"])
	}
	for node, most := range w.mostOn {
		if node != "" && most > int(r.capacity) {
			t.Errorf("%d on %s", most, node)
		}
	}
	if w.wrong != "" {
		t.Error(w.wrong)
	}
}

// areNew holds for a VPod with so many placeholders, all of the PriorityClass that is named like the pool.
func (p *pool) areNew(ctx context.Context, name string, replicas int) error {
	pods, err := p.placeholders(ctx, name)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.Spec.PriorityClassName != p.name {
			return fmt.Errorf("%s has PriorityClass %q", pod.Name, pod.Spec.PriorityClassName)
		}
	}
	if len(pods) != replicas {
		return fmt.Errorf("there are %d", len(pods))
	}
	return nil
}

// settledOneOf is settled for any of several outcomes.
func (p *pool) settledOneOf(name string, wants ...string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%s is one of %v", name, wants), func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, name)
		if err != nil {
			return err
		}
		nodes, err := p.virtualNodes(ctx)
		if err != nil {
			return err
		}
		v, err := p.get(ctx, name)
		if err != nil {
			return err
		}
		for _, want := range wants {
			if spread(pods, nodes) == want && p.published(v, nodes) == want {
				return nil
			}
		}
		return fmt.Errorf("it is %s, and the status says %s", spread(pods, nodes), p.published(v, nodes))
	})
}
