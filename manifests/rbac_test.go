package manifests

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestRights(t *testing.T) {
	roles := decode[rbacv1.Role](t, "Role")
	rules := decodeOne[rbacv1.ClusterRole](t, "ClusterRole").Rules
	for _, role := range roles {
		rules = append(rules, role.Rules...)
	}
	readOnly := []string{"nodes", "namespaces", "poddisruptionbudgets", "csinodes", "resourceclaims", "resourceslices", "deviceclasses",
		"devicetaintrules"}
	for _, rule := range rules {
		for name, bad := range map[string]bool{
			"a wildcard": slices.Contains(slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs), "*"),
			"secrets":    slices.Contains(rule.Resources, "secrets"),
			"a URL":      len(rule.NonResourceURLs) > 0,
			"writing what it only reads": slices.ContainsFunc(rule.Resources, func(r string) bool { return slices.Contains(readOnly, r) }) &&
				slices.ContainsFunc(rule.Verbs, func(v string) bool { return v != "list" && v != "watch" }),
			"a write to part of a node": slices.ContainsFunc(rule.Resources, func(r string) bool { return strings.HasPrefix(r, "nodes/") }),
			"any lease": slices.Contains(rule.Resources, "leases") && !slices.Equal(rule.Verbs, []string{"create"}) &&
				!slices.Equal(rule.ResourceNames, []string{v1alpha1.SchedulerLease}),
			"escalation": slices.ContainsFunc(rule.Verbs, func(v string) bool { return v == "bind" || v == "escalate" || v == "impersonate" }),
		} {
			if bad {
				t.Errorf("allows %s: %v", name, rule)
			}
		}
	}
}

func TestBindings(t *testing.T) {
	account := decodeOne[corev1.ServiceAccount](t, "ServiceAccount")
	pod := decodeOne[appsv1.Deployment](t, "Deployment").Spec.Template.Spec
	if account.Namespace != v1alpha1.Namespace || pod.ServiceAccountName != account.Name {
		t.Errorf("the Deployment runs as %s, want %s", pod.ServiceAccountName, account.Name)
	}

	var got []rbacv1.RoleRef
	var subjects []rbacv1.Subject
	for _, binding := range decode[rbacv1.ClusterRoleBinding](t, "ClusterRoleBinding") {
		got, subjects = append(got, binding.RoleRef), append(subjects, binding.Subjects...)
	}
	for _, binding := range decode[rbacv1.RoleBinding](t, "RoleBinding") {
		got, subjects = append(got, binding.RoleRef), append(subjects, binding.Subjects...)
	}
	want := []rbacv1.RoleRef{
		{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "vpod-scheduler"},
		{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
		{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "vpod-scheduler"},
		{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bound roles (-want +got):\n%s", diff)
	}
	for _, subject := range subjects {
		if diff := cmp.Diff(rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: account.Namespace}, subject); diff != "" {
			t.Errorf("subject (-want +got):\n%s", diff)
		}
	}
}
