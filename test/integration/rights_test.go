package integration

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// complaint is what a scheduler's log says of a right that it lacks.
var complaint = regexp.MustCompile(`cannot (\w+) resource \\*"([^"\\]+)\\*" in API group \\*"([^"\\]*)\\*"`)

// complaints are the rights that a log says the scheduler lacks, as "verb resource.group", sorted.
func complaints(log string) []string {
	set := map[string]bool{}
	for _, match := range complaint.FindAllStringSubmatch(log, -1) {
		set[right(match[1], match[2], match[3])] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func right(verb, resource, group string) string {
	return strings.TrimSuffix(verb+" "+resource+"."+group, ".")
}

// A scheduler is started without any right and given them step by step. What it complains of is what it needs, so the
// ClusterRole grants nothing that it does not need; and it is not ready before it has what it reads. Three rights are not
// missed here: to delete pods, which preemption needs; events of the old group, for leader election; and patches of
// events, for those that are repeated.
func TestC40_NotReadyWithoutItsRightsAndNoneIsUnneeded(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{})
	ctx := labtest.TimeLimit(t)
	if err := l.InstallScheduler(ctx); err != nil {
		t.Fatal(err)
	}
	full := clusterRole(t, l).Rules
	reads := with(full, "list", "watch")
	withoutNodes := slices.DeleteFunc(slices.Clone(reads), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "nodes") })

	grant(t, l, nil)
	log := func() string {
		text, _ := os.ReadFile(filepath.Join(l.Dir(), "vpod-scheduler-0.log"))
		return string(text)
	}
	ready := make(chan error, 1)
	go func() {
		_, err := l.StartScheduler(ctx, lab.SchedulerOptions{Verbosity: 2, Args: []string{"--leader-elect=false"}})
		ready <- err
	}()
	awaitComplaints(ctx, t, log, nil, listed(reads))

	from := len(log())
	grant(t, l, withoutNodes)
	awaitComplaints(ctx, t, func() string { return log()[from:] }, listed(withoutNodes), []string{"list nodes"})
	select {
	case err := <-ready:
		t.Fatalf("it is ready (%v) although it cannot list nodes", err)
	default:
	}

	grant(t, l, reads)
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	from = len(log())
	writesAreMissed(ctx, t, l, func() string { return log()[from:] })

	grant(t, l, full)
	p := newPool(t, l, lab.Adapter{Capacity: 1})
	p.bound(ctx, p.grow(p.vpod("x"), 1)[0])
}

// writesAreMissed has the scheduler place one vreplica, refuse another and record an event, and expects that it may not.
func writesAreMissed(ctx context.Context, t *testing.T, l *lab.Lab, log func() string) {
	t.Helper()
	p := newPool(t, l, lab.Adapter{Capacity: 1})
	p.grow(p.vpod("x"), 2)
	repeated := []string{"patch events.events.k8s.io"} // Only of an event that happens again.
	awaitComplaints(ctx, t, log, repeated, []string{"create events.events.k8s.io", "create pods/binding", "patch pods/status"})
}

// awaitComplaints waits until the log has complained of all the rights wanted; of those not wanted it may as well,
// until it has noticed that it has them.
func awaitComplaints(ctx context.Context, t *testing.T, log func() string, may, want []string) {
	t.Helper()
	err := lab.Wait(ctx, "the log complains", func(context.Context) error {
		got := slices.DeleteFunc(complaints(log()), func(right string) bool {
			return slices.Contains(may, right) || strings.HasPrefix(right, "watch ")
		})
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("rights that it lacks (-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// with returns the rules with no other verbs than these.
func with(rules []rbacv1.PolicyRule, verbs ...string) []rbacv1.PolicyRule {
	var kept []rbacv1.PolicyRule
	for _, r := range rules {
		r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(v string) bool { return !slices.Contains(verbs, v) })
		if len(r.Verbs) > 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

// listed are the rights to list in rules.
func listed(rules []rbacv1.PolicyRule) []string {
	var rights []string
	for _, r := range rules {
		for _, resource := range r.Resources {
			rights = append(rights, right("list", resource, r.APIGroups[0]))
		}
	}
	slices.Sort(rights)
	return rights
}

func clusterRole(t *testing.T, l *lab.Lab) *rbacv1.ClusterRole {
	t.Helper()
	role, err := l.Client().RbacV1().ClusterRoles().Get(t.Context(), v1alpha1.SchedulerName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return role
}

// grant replaces the rules of the scheduler's ClusterRole.
func grant(t *testing.T, l *lab.Lab, rules []rbacv1.PolicyRule) {
	t.Helper()
	role := clusterRole(t, l)
	role.Rules = rules
	if _, err := l.Client().RbacV1().ClusterRoles().Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
