package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// What manifests/default/kustomization.yaml says of how to take everything away, the controller gone too early included.
func TestRemovalLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := ownStage(t, lab.FastFailover...)
	p := s.newPool(t, 10, "z1")
	p.run("x", 2, "2")
	kubectl := func(args ...string) string {
		t.Helper()
		// The garbage collector, which removes the placeholders, learns of new kinds only twice a minute.
		ctx, cancel := context.WithTimeout(t.Context(), 2*labtest.Patience)
		defer cancel()
		out, err := s.Kubectl(ctx, args...)
		p.must(err)
		return out
	}
	kubectl("apply", "-k", "manifests/crds") // An upgrade applies what is there.

	s.controller.Kill()
	kubectl("delete", "adapterpool", p.name, "--wait=false")
	kubectl("delete", "vpods", "--all", "--all-namespaces")
	if _, err := p.poolNamed(t.Context(), p.name); err != nil {
		t.Errorf("the pool did not wait for the controller: %v", err)
	}
	p.must(s.controller.Start(labtest.TimeLimit(t)))
	kubectl("delete", "adapterpools", "--all")
	nodes := kubectl("get", "nodes", "-o", "name")
	if want := "node/" + p.host(0); strings.TrimSpace(nodes) != want {
		t.Errorf("the nodes left are %s, want %s", nodes, want)
	}

	s.controller.Kill()
	s.scheduler.Kill()
	kubectl("delete", "-k", "manifests/default")
	err := lab.Wait(labtest.TimeLimit(t), "nothing is left", func(ctx context.Context) error {
		for _, kind := range []string{
			"customresourcedefinitions", "clusterroles", "clusterrolebindings", "validatingadmissionpolicies",
			"validatingadmissionpolicybindings", "namespaces", "roles -A", "rolebindings -A", "leases -A", "pods -A",
		} {
			out, err := s.Kubectl(ctx, append([]string{"get", "-o", "name"}, strings.Fields(kind)...)...)
			if err != nil {
				return err
			}
			for name := range strings.Lines(out) {
				if strings.Contains(name, "vpod") || strings.Contains(name, "/"+v1alpha1.NodeName(p.name, 0)) && kind == "leases -A" {
					return fmt.Errorf("there is %s", name)
				}
			}
		}
		return nil
	})
	p.must(err)
}
