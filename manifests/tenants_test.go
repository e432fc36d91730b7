package manifests

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Nobody but the platform changes AdapterPools, and nobody but the controller writes a status.
func TestTenants(t *testing.T) {
	aggregate := func(to ...string) map[string]string {
		labels := map[string]string{}
		for _, role := range to {
			labels["rbac.authorization.k8s.io/aggregate-to-"+role] = "true"
		}
		return labels
	}
	want := map[string]map[string]string{"vpod-view": aggregate("view"), "vpod-edit": aggregate("edit", "admin")}
	got := map[string]map[string]string{}
	for _, role := range decode[rbacv1.ClusterRole](t, controller, "ClusterRole") {
		if role.Name == "vpod-controller" {
			continue
		}
		got[role.Name] = map[string]string{}
		for label, value := range role.Labels {
			if _, aggregates := want[role.Name][label]; aggregates {
				got[role.Name][label] = value
			}
		}
		for _, rule := range role.Rules {
			writes := slices.ContainsFunc(rule.Verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
			for _, resource := range rule.Resources {
				if writes && (role.Name == "vpod-view" || resource != "vpods" && resource != "vpods/scale") {
					t.Errorf("%s may %v %s", role.Name, rule.Verbs, resource)
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles, and what they add to (-want +got):\n%s", diff)
	}
}
