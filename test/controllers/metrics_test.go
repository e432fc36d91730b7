package controllers

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// scrape reads the metrics of a program as Prometheus does: what each is called, and the values of those that are no
// histograms, such as `name{label="value"}`, with the labels in order.
func (s *stage) scrape(t *testing.T, process *lab.Process) (names map[string]bool, values map[string]float64) {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(s.fetchFrom(t, process, "/metrics")))
	if err != nil {
		t.Fatal(err)
	}
	names, values = map[string]bool{}, map[string]float64{}
	for name, family := range families {
		names[name] = true
		for _, m := range family.GetMetric() {
			if m.Histogram != nil {
				names[name+"_bucket"], names[name+"_sum"], names[name+"_count"] = true, true, true
				continue
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			slices.Sort(labels)
			values[name+"{"+strings.Join(labels, ",")+"}"] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return names, values
}

// of are the values that are of a pool, without its name.
func of(pool string, values map[string]float64) map[string]float64 {
	found := map[string]float64{}
	for name, value := range values {
		if label := fmt.Sprintf("pool=%q", pool); strings.Contains(name, label) {
			found[strings.NewReplacer(label+",", "", ","+label, "", label, "").Replace(name)] = value
		}
	}
	return found
}

// boundedPool is newPool, but may neither grow nor shrink.
func (s *stage) boundedPool(t *testing.T, capacity int32, zones ...string) *pool {
	t.Helper()
	p := s.newSet(t, zones...)
	object := p.set.Pool(capacity)
	n := int32(len(zones))
	object.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: &n, MaxReplicas: n}
	p.create(object)
	p.adaptersReady(len(zones))
	return p
}

// metricsOfAPool are those of two adapters, which may not become more, with room for 3 each, and one vreplica too many.
var metricsOfAPool = map[string]float64{
	"min_adapters{}":       2,
	"max_adapters{}":       2,
	"wanted_adapters{}":    2,
	"target_adapters{}":    2,
	"current_adapters{}":   2,
	"virtual_nodes{}":      2,
	"ready_adapters{}":     2,
	"draining_adapters{}":  0,
	"capacity_vreplicas{}": 6,
	"used_vreplicas{}":     6,

	`waiting_vreplicas{reason="NoRoom"}`:       1,
	`waiting_vreplicas{reason="AdapterLimit"}`: 0,
	`scale_writes_total{direction="up"}`:       0,

	`status_condition{condition="Ready",reason="AdaptersReady",status="True"}`: 1,
	`status_condition{condition="Scaled",reason="MaxReplicas",status="False"}`: 1,
}

// The leader tells of a pool as it is, as long as there is the pool. Whoever stands by tells nothing.
func TestMetricsOfAPool(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	p := s.boundedPool(t, 3, "z1", "z2")
	p.run("x", 4, "2/2")
	p.create(p.vpod("y", 3))
	p.condition("y", v1alpha1.ConditionScheduled, v1alpha1.ReasonNoRoom)
	standby, err := s.StartController(labtest.TimeLimit(t), lab.ControllerOptions{Args: []string{heartbeats}})
	p.must(err)
	t.Cleanup(standby.Kill)

	p.eventually("the metrics are those of the pool", func(context.Context) error {
		_, values := s.scrape(t, s.controller)
		got := of(p.name, values)
		for name, want := range metricsOfAPool {
			name = "vpod_controller_pool_" + name
			if value, exists := got[name]; !exists || value != want {
				return fmt.Errorf("%s is %v (exists: %t), want %v", name, value, exists, want)
			}
		}
		return nil
	})
	timed := fmt.Sprintf(`vpod_controller_placement_duration_seconds_count{pool="%s"}`, p.name)
	if n := sample(t, s.fetch(t, "/metrics"), timed); n != 6 {
		t.Errorf("%v placements were timed, want 6", n)
	}
	names, _ := s.scrape(t, standby)
	for name := range names {
		if strings.HasPrefix(name, "vpod_controller_pool_") || name == "vpod_controller_moved_vreplicas_total" {
			t.Errorf("a standby tells %s", name)
		}
	}

	p.must(s.Objects().DeleteAllOf(t.Context(), &v1alpha1.VPod{}, client.InNamespace(p.name)))
	p.must(s.Objects().Delete(t.Context(), &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: p.name}}))
	p.eventually("nothing is told of a pool that is gone", func(context.Context) error {
		_, values := s.scrape(t, s.controller)
		if left := of(p.name, values); len(left) > 0 {
			return fmt.Errorf("there are %v", slices.Sorted(maps.Keys(left)))
		}
		return nil
	})
}

// What alerts and the dashboard ask for is what the programs report, be it their own or of the libraries that they use; and
// what users apply builds.
func TestMetricsOfAlertsAndDashboardAreReported(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	p := s.boundedPool(t, 3, "z1")
	p.run("x", 2, "2")
	out, err := s.Kubectl(t.Context(), "kustomize", "manifests/monitoring")
	p.must(err)
	if !strings.Contains(out, `grafana_dashboard: "1"`) || !strings.Contains(out, "vpod-scheduler.json: |") {
		t.Errorf("no dashboard in\n%s", out)
	}
	scheduler, _ := s.scrape(t, s.scheduler)
	controller, _ := s.scrape(t, s.controller)
	expressions := expressions(t)
	if len(expressions) < 30 {
		t.Errorf("found %d expressions: looked in the wrong place", len(expressions))
	}
	for _, expression := range expressions {
		for _, name := range metricsIn(expression) {
			if !scheduler[name] && !controller[name] {
				t.Errorf("nobody reports %s, of\n%s", name, expression)
			}
		}
	}
}

// expressions are those of the alerts and of the dashboard.
func expressions(t *testing.T) []string {
	t.Helper()
	var all []string
	var look func(any)
	look = func(node any) {
		switch n := node.(type) {
		case map[string]any:
			if expression, ok := n["expr"].(string); ok {
				all = append(all, expression)
			}
			for _, child := range n {
				look(child)
			}
		case []any:
			for _, child := range n {
				look(child)
			}
		}
	}
	for _, file := range []string{"alerts.yaml", "dashboard.json"} {
		text, err := os.ReadFile("../../manifests/monitoring/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		look(document)
	}
	return all
}

var (
	// notMetrics are the parts of an expression in which names are not those of metrics.
	notMetrics = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)`)
	nameOrCall = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]* *\(?`)
	operators  = []string{"and", "or", "unless", "bool", "offset"}
)

// metricsIn are the names of the metrics in an expression.
func metricsIn(expression string) []string {
	var names []string
	for _, word := range nameOrCall.FindAllString(notMetrics.ReplaceAllString(expression, " "), -1) {
		word = strings.TrimSpace(word)
		if !strings.HasSuffix(word, "(") && !slices.Contains(operators, word) {
			names = append(names, word)
		}
	}
	return names
}

func TestMetricsIn(t *testing.T) {
	got := metricsIn(`sum by (pool) (rate(a_bucket{x="y", pool=~"$pool"}[5m])) / on (pool) b > 3 or absent(c{d="e"} == 1)`)
	if want := []string{"a_bucket", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
