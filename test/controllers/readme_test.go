package controllers

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// The commands and examples of the README work as they stand, typed by a user with kubectl, and do what it says.
func TestREADME(t *testing.T) {
	t.Parallel()
	s := ownStage(t)
	install := regexp.MustCompile(`(?m)^kubectl (?:apply -k manifests/default|-n vpod-system set image .*)$`).FindAllString(labtest.README(t), -1)
	if len(install) != 3 {
		t.Fatalf("the README installs with %q, want three commands of kubectl", install)
	}
	for _, command := range install {
		labtest.Shell(t, s.Lab, command)
	}
	set := lab.AdapterSet{Namespace: "eventing", Name: "dispatcher"}
	p := &pool{stage: s, t: t, name: "kafka", set: set}
	for _, namespace := range []string{set.Namespace, p.name} {
		p.must(s.CreateNamespace(t.Context(), namespace))
	}
	p.must(s.CreateAdapters(labtest.TimeLimit(t), set, p.nextHost("z1"), p.nextHost("z2"), p.nextHost("z3")))
	labtest.ApplyExample(t.Context(), t, s.Lab, p.name, "pool")
	p.adaptersReady(3)
	labtest.ApplyExample(t.Context(), t, s.Lab, p.name, "vpod")

	want := []v1alpha1.Placement{
		{PodName: "dispatcher-0", VReplicas: 1}, {PodName: "dispatcher-1", VReplicas: 1}, {PodName: "dispatcher-2", VReplicas: 1},
	}
	p.eventually("the status is that of the README", func(ctx context.Context) error {
		v := &v1alpha1.VPod{}
		err := s.Objects().Get(ctx, client.ObjectKey{Namespace: p.name, Name: "orders"}, v)
		if err == nil && !slices.Equal(v.Status.Placements, want) {
			err = fmt.Errorf("the placements are %+v", v.Status.Placements)
		}
		return err
	})
	for _, command := range []string{
		"kubectl get adapterpools; kubectl get nodes -l vpod.dev/pool=kafka; kubectl get vpods -A; kubectl explain adapterpool.spec",
		"kubectl -n kafka scale vpod orders --replicas=5",
		"kubectl drain kafka-2 --timeout=60s",
	} {
		labtest.Shell(t, s.Lab, command)
	}
	p.eventually("everything is on the other two adapters", func(ctx context.Context) error {
		v := &v1alpha1.VPod{}
		err := s.Objects().Get(ctx, client.ObjectKey{Namespace: p.name, Name: "orders"}, v)
		want := []v1alpha1.Placement{{PodName: "dispatcher-0", VReplicas: 3}, {PodName: "dispatcher-1", VReplicas: 2}}
		if err == nil && !slices.Equal(v.Status.Placements, want) {
			err = fmt.Errorf("the placements are %+v", v.Status.Placements)
		}
		return err
	})

	labtest.ApplyExample(t.Context(), t, s.Lab, p.name, "scaled")
	p.eventually("the pool says how many adapters it wants", func(ctx context.Context) error {
		pool, err := p.poolNamed(ctx, "kafka")
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionScaled)
		if pool.Status.WantedAdapters == nil || *pool.Status.WantedAdapters != 2 || c == nil || c.Reason != v1alpha1.ReasonScaleDownDelayed {
			err = fmt.Errorf("its status is %+v", pool.Status)
		}
		return err
	})
}
