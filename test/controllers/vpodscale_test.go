package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// apply applies the VPods in one go, as kubectl does.
func (p *pool) apply(vpods ...*v1alpha1.VPod) {
	p.t.Helper()
	var documents []string
	for _, v := range vpods {
		v.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindVPod}
		text, err := yaml.Marshal(v)
		p.must(err)
		documents = append(documents, string(text))
	}
	_, err := p.KubectlInput(p.t.Context(), strings.Join(documents, "---\n"), "apply", "-f", "-")
	p.must(err)
}

// waiting names the VPod of each placeholder of the namespace that has no adapter.
func (p *pool) waiting(ctx context.Context) (waiting []string, err error) {
	list, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelVPod})
	if err != nil {
		return nil, err
	}
	for _, pod := range list.Items {
		if pod.Spec.NodeName == "" {
			waiting = append(waiting, pod.Labels[v1alpha1.LabelVPod])
		}
	}
	return waiting, nil
}

// X=10, Y=10, Z=1 in one apply, room for 20: never more than 10 on an adapter, one waits, and finds room on a third.
func TestC1_ParallelVPodsDoNotOverfill(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	p.scheduler = v1alpha1.SchedulerNameMaxFillUp
	w := p.witnessAll()
	p.apply(p.vpod("x", 10), p.vpod("y", 10), p.vpod("z", 1))
	var waiting []string
	p.eventually("one waits", func(ctx context.Context) (err error) {
		waiting, err = p.waiting(ctx)
		if bound, _ := p.boundOn(ctx); err == nil && (len(waiting) != 1 || bound != "10/10") {
			err = fmt.Errorf("placeholders are %s, waiting %v", bound, waiting)
		}
		return err
	})
	p.condition(waiting[0], v1alpha1.ConditionScheduled, v1alpha1.ReasonNoRoom)
	p.addHost("z3")
	p.must(p.ScaleAdapters(labtest.TimeLimit(t), p.set, 3))
	p.eventually("nobody waits", func(ctx context.Context) error {
		bound, err := p.boundOn(ctx)
		if err == nil && bound != "10/10/1" {
			err = fmt.Errorf("placeholders are %s", bound)
		}
		return err
	})
	p.condition(waiting[0], v1alpha1.ConditionReady, v1alpha1.ReasonAllReady)
	p.hear(w, func(w *witness) {
		for node, most := range w.mostOn {
			if node != "" && most > 10 {
				t.Errorf("%d on %s", most, node)
			}
		}
		if w.wrong != "" {
			t.Error(w.wrong)
		}
	})
}

// boundOn tells where all placeholders of the namespace are.
func (p *pool) boundOn(ctx context.Context) (string, error) {
	list, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelVPod})
	if err != nil {
		return "", err
	}
	nodes, err := p.virtualNodes(ctx)
	var bound []corev1.Pod
	for _, pod := range list.Items {
		if pod.Spec.NodeName != "" {
			bound = append(bound, pod)
		}
	}
	return spread(bound, nodes), err
}

// X: a-0=4, a-3=2, and the StatefulSet shrinks to 2: all 6 are on adapters that exist, and none is named that does not.
func TestC6_StrandedVReplicasAreReplaced(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		replicas int32
		want     string
	}{
		"all of them":       {replicas: 6, want: "6/0"},
		"the stranded ones": {replicas: 1, want: "1/0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newPool(t, 12, "", "", "", "")
			p.scheduler = v1alpha1.SchedulerNameMaxFillUp
			p.run("x", 4, "4/0/0/0")
			kept := p.uids("x")
			for ordinal := range 3 {
				p.must(p.Cordon(t.Context(), p.node(ordinal), true))
			}
			p.scale("x", 6)
			p.settled("x", "4/0/0/2")
			for ordinal := range 3 {
				p.must(p.Cordon(t.Context(), p.node(ordinal), false))
			}
			if tc.replicas != 6 {
				p.scale("x", tc.replicas)
			}
			p.must(p.ScaleAdapters(labtest.TimeLimit(t), p.set, 2))
			p.settled("x", tc.want)
			if tc.replicas == 6 {
				p.stayed("x", kept)
			}
		})
	}
}

// Partitions=2, C=3, 3 adapters: X=5 -> 3/2/0; X=8 -> 6 and 2 wait for the limit; partitions=3 -> all within 5 s.
func TestC18_AdapterLimit(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 3, "z1", "z2", "z3")
	p.run("x", 5, "3/2/0", func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = new(int32(2)) })
	before := p.uids("x")
	p.scale("x", 8)
	message := p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonAdapterLimit)
	want := fmt.Sprintf("6 of 8 vreplicas are placed. 2 wait because of the adapter limit: spec.maxAdapters is 2, and the adapters "+
		"in use have no room (%[1]s-0, %[1]s-1). More adapters would not help", p.name)
	if message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	p.settled("x", "3/3/0+2")
	p.patch("vpod", "x", `{"spec":{"maxAdapters":3}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	p.must(lab.Wait(ctx, "all are bound", func(ctx context.Context) error {
		if bound, err := p.boundOn(ctx); err != nil || bound != "3/3/2" {
			return fmt.Errorf("they are %s: %v", bound, err)
		}
		return nil
	}))
	p.settled("x", "3/3/2")
	p.stayed("x", before)
}

// X: 2/2 -> 5 is one new vreplica and moves none; -> 50 with three more adapters moves none.
func TestC30_GrowingMovesNothing(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "", "")
	p.run("x", 4, "2/2")
	w, before := p.witnessAll(), p.uids("x")
	p.scale("x", 5)
	p.settled("x", "3/2")
	p.scale("x", 50)
	p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonNoRoom)
	for range 3 {
		p.addHost("")
	}
	p.must(p.ScaleAdapters(labtest.TimeLimit(t), p.set, 5))
	p.settled("x", "10/10/10/10/10")
	p.stayed("x", before)
	p.hear(w, func(w *witness) {
		if w.created["x"] != 46 || w.bound["x"] != 46 || w.deleted["x"] != 0 {
			t.Errorf("%d were created, %d bound, %d deleted; want 46, 46, 0", w.created["x"], w.bound["x"], w.deleted["x"])
		}
	})
}
