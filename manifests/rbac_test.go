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

// rulesOf returns all that the account of a program is allowed by roles of its own, those for tenants left aside.
func rulesOf(t *testing.T, program string) []rbacv1.PolicyRule {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, role := range decode[rbacv1.ClusterRole](t, program, "ClusterRole") {
		if role.Name == "vpod-"+program {
			rules = append(rules, role.Rules...)
		}
	}
	for _, role := range decode[rbacv1.Role](t, program, "Role") {
		if role.Namespace == v1alpha1.Namespace {
			rules = append(rules, role.Rules...)
		}
	}
	return rules
}

func TestRights(t *testing.T) {
	for program, readOnly := range map[string][]string{
		scheduler: {"nodes", "namespaces", "poddisruptionbudgets", "csinodes", "resourceclaims", "resourceslices", "deviceclasses",
			"devicetaintrules"},
		controller: {"statefulsets"},
	} {
		for _, rule := range rulesOf(t, program) {
			for name, bad := range map[string]bool{
				"a wildcard": slices.Contains(slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs), "*"),
				"secrets":    slices.Contains(rule.Resources, "secrets"),
				"a URL":      len(rule.NonResourceURLs) > 0,
				"writing what it only reads": slices.ContainsFunc(rule.Resources, func(r string) bool { return slices.Contains(readOnly, r) }) &&
					slices.ContainsFunc(rule.Verbs, func(v string) bool { return v != "get" && v != "list" && v != "watch" }),
				"a write to part of a node": program == scheduler &&
					slices.ContainsFunc(rule.Resources, func(r string) bool { return strings.HasPrefix(r, "nodes/") }),
				"any lease": slices.Contains(rule.Resources, "leases") && !slices.Equal(rule.Verbs, []string{"create"}) &&
					!slices.Equal(rule.ResourceNames, []string{"vpod-" + program}),
				"escalation":               slices.ContainsFunc(rule.Verbs, func(v string) bool { return v == "bind" || v == "escalate" || v == "impersonate" }),
				"deletions without a name": slices.Contains(rule.Verbs, "deletecollection"),
			} {
				if bad {
					t.Errorf("%s: allows %s: %v", program, name, rule)
				}
			}
		}
	}
}

// What the controller may write, by resource: a right that is added has to be added here.
func TestControllerWrites(t *testing.T) {
	got := map[string][]string{}
	for _, rule := range rulesOf(t, controller) {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if verb != "get" && verb != "list" && verb != "watch" {
					got[resource] = append(got[resource], verb)
				}
			}
		}
	}
	want := map[string][]string{
		"nodes":               {"create", "patch", "delete"},
		"nodes/status":        {"patch"},
		"pods":                {"create", "patch", "delete"},
		"pods/status":         {"patch"},
		"pods/eviction":       {"create"},
		"statefulsets/scale":  {"update"},
		"adapterpools":        {"patch"},
		"adapterpools/status": {"patch"},
		"vpods":               {"patch"},
		"vpods/status":        {"patch"},
		"vpods/finalizers":    {"update"},
		"events":              {"create", "patch", "create", "patch"}, // of both groups
		"leases":              {"create", "update"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	heartbeats := slices.DeleteFunc(decode[rbacv1.Role](t, controller, "Role"), func(r rbacv1.Role) bool { return r.Namespace == v1alpha1.Namespace })
	if len(heartbeats) != 1 || heartbeats[0].Namespace != corev1.NamespaceNodeLease {
		t.Errorf("got %v, want one more Role in %s", heartbeats, corev1.NamespaceNodeLease)
	}
}

func TestBindings(t *testing.T) {
	role := func(kind, name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	for program, want := range map[string][]rbacv1.RoleRef{
		scheduler: {
			role("ClusterRole", "vpod-scheduler"), role("ClusterRole", "system:auth-delegator"),
			role("Role", "vpod-scheduler"), role("Role", "extension-apiserver-authentication-reader"),
		},
		controller: {
			role("ClusterRole", "vpod-controller"), role("ClusterRole", "system:auth-delegator"),
			role("Role", "vpod-controller"), role("Role", "vpod-controller:heartbeats"),
		},
	} {
		t.Run(program, func(t *testing.T) {
			account := decodeOne[corev1.ServiceAccount](t, program, "ServiceAccount")
			pod := decodeOne[appsv1.Deployment](t, program, "Deployment").Spec.Template.Spec
			if account.Namespace != v1alpha1.Namespace || pod.ServiceAccountName != account.Name {
				t.Errorf("the Deployment runs as %s, want %s", pod.ServiceAccountName, account.Name)
			}
			var got []rbacv1.RoleRef
			var subjects []rbacv1.Subject
			for _, binding := range decode[rbacv1.ClusterRoleBinding](t, program, "ClusterRoleBinding") {
				got, subjects = append(got, binding.RoleRef), append(subjects, binding.Subjects...)
			}
			for _, binding := range decode[rbacv1.RoleBinding](t, program, "RoleBinding") {
				got, subjects = append(got, binding.RoleRef), append(subjects, binding.Subjects...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("bound roles (-want +got):\n%s", diff)
			}
			for _, subject := range subjects {
				if diff := cmp.Diff(rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: account.Namespace}, subject); diff != "" {
					t.Errorf("subject (-want +got):\n%s", diff)
				}
			}
		})
	}
}
