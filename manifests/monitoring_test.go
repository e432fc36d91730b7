package manifests

import (
	"encoding/json"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

const (
	monitoring = "monitoring"
	dashboard  = "dashboard.json"
)

// serviceMonitor is the part of one that the tests look at; hack/alerts judges the rest.
type serviceMonitor struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector  metav1.LabelSelector
		Endpoints []struct{ Port, Path, BearerTokenFile string }
	}
}

// From the ServiceMonitor of each program over its Service to the port of its pods.
func TestServiceMonitorsFindThePods(t *testing.T) {
	services := map[string]corev1.Service{}
	for _, s := range decode[corev1.Service](t, monitoring, "Service") {
		services[s.Name] = s
	}
	monitors := map[string]serviceMonitor{}
	for _, doc := range documents(t, monitoring) {
		if doc.Kind != "ServiceMonitor" {
			continue
		}
		var m serviceMonitor
		if err := yaml.Unmarshal(doc.text, &m); err != nil {
			t.Fatal(err)
		}
		monitors[m.Name] = m
	}
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			deployment := decodeOne[appsv1.Deployment](t, program, "Deployment")
			service, monitor := services[deployment.Name], monitors[deployment.Name]
			if diff := cmp.Diff(deployment.Spec.Selector.MatchLabels, service.Spec.Selector); diff != "" {
				t.Errorf("selector of the Service (-want +got):\n%s", diff)
			}
			if !selects(t, &monitor.Spec.Selector, service.Labels) {
				t.Errorf("the ServiceMonitor selects %v, the Service has %v", monitor.Spec.Selector, service.Labels)
			}
			for other := range services {
				if other != service.Name && selects(t, &monitor.Spec.Selector, services[other].Labels) {
					t.Errorf("the ServiceMonitor selects %s, too", other)
				}
			}
			if len(service.Spec.Ports) != 1 || len(monitor.Spec.Endpoints) != 1 {
				t.Fatalf("got %d ports and %d endpoints, want one of each", len(service.Spec.Ports), len(monitor.Spec.Endpoints))
			}
			port, endpoint := service.Spec.Ports[0], monitor.Spec.Endpoints[0]
			if endpoint.Port != port.Name || endpoint.Path != "/metrics" || endpoint.BearerTokenFile == "" {
				t.Errorf("the endpoint is %v", endpoint)
			}
			want := corev1.ContainerPort{Name: port.TargetPort.String(), ContainerPort: port.Port}
			if ports := deployment.Spec.Template.Spec.Containers[0].Ports; !slices.Contains(ports, want) {
				t.Errorf("the container has the ports %v, want %v", ports, want)
			}
		})
	}
}

// Whoever reads metrics may do nothing else.
func TestRightsOfMonitoring(t *testing.T) {
	read := decodeOne[rbacv1.ClusterRole](t, monitoring, "ClusterRole")
	want := []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}
	if diff := cmp.Diff(want, read.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	find := decodeOne[rbacv1.Role](t, monitoring, "Role")
	for _, rule := range find.Rules {
		if slices.Contains(rule.Resources, "secrets") || !slices.Equal(rule.Verbs, []string{"get", "list", "watch"}) {
			t.Errorf("allows %v", rule)
		}
	}
	reads := decodeOne[rbacv1.ClusterRoleBinding](t, monitoring, "ClusterRoleBinding")
	finds := decodeOne[rbacv1.RoleBinding](t, monitoring, "RoleBinding")
	if reads.RoleRef.Name != read.Name || finds.RoleRef.Name != find.Name {
		t.Errorf("bound are %s and %s", reads.RoleRef.Name, finds.RoleRef.Name)
	}
	if diff := cmp.Diff(reads.Subjects, finds.Subjects); diff != "" {
		t.Errorf("who reads is not who finds:\n%s", diff)
	}
}

func TestDashboard(t *testing.T) {
	text, err := Files.ReadFile(path.Join(monitoring, dashboard))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		UID, Title string
		Panels     []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" {
		t.Error("a dashboard needs a UID, by which it is replaced and not doubled, and a title")
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d, %q, has a doubled ID, no title, or nothing to show", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, taken := cells[cell]; taken || cell[0] >= 24 {
					t.Fatalf("panel %q covers %q, or leaves the dashboard", p.Title, other)
				}
				cells[cell] = p.Title
			}
		}
	}
	var generated []string
	for _, g := range readKustomization(t, monitoring).ConfigMapGenerator {
		if g.Namespace == v1alpha1.Namespace {
			generated = append(generated, g.Files...)
		}
	}
	if diff := cmp.Diff([]string{"vpod-scheduler.json=" + dashboard}, generated); diff != "" {
		t.Errorf("files of ConfigMaps (-want +got):\n%s", diff)
	}
}
