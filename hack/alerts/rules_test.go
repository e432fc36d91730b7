package alerts

import (
	"bytes"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const manifests = "../../manifests/monitoring/"

var promQL = parser.NewParser(parser.Options{})

// read decodes all documents of a file as the operator's API server does: a field that it does not know is an error.
func read[T any](t *testing.T, file string) []T {
	t.Helper()
	text, err := os.ReadFile(manifests + file)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		var object T
		if err := yaml.UnmarshalStrict(part, &object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, object)
	}
	return all
}

// rules are the alerts, checked like `promtool check rules` checks them.
func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	objects := read[monitoringv1.PrometheusRule](t, "alerts.yaml")
	if len(objects) != 1 {
		t.Fatalf("got %d objects, want 1", len(objects))
	}
	text, err := yaml.Marshal(objects[0].Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(text, false, model.LegacyValidation, promQL, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	var all []rulefmt.Rule
	for _, group := range groups.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

func TestEachAlertSaysWhatToDo(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range rules(t) {
		severity := rule.Labels["severity"]
		if !slices.Contains([]string{"critical", "warning", "info"}, severity) {
			t.Errorf("%s has the severity %q", rule.Alert, severity)
		}
		if key := rule.Alert + "/" + severity; seen[key] {
			t.Errorf("there are two rules %s", key)
		} else {
			seen[key] = true
		}
		if !strings.HasPrefix(rule.Alert, "VPod") || rule.For == 0 {
			t.Errorf("alert %s, for %s: want a name that begins with VPod, and some patience", rule.Alert, rule.For)
		}
		if summary := rule.Annotations["summary"]; summary == "" || len(summary) > 120 {
			t.Errorf("%s: the summary has %d characters, want 1 to 120", rule.Alert, len(summary))
		}
		if description := rule.Annotations["description"]; len(description) < 100 {
			t.Errorf("%s: the description says too little: %q", rule.Alert, description)
		}
	}
}

// The alerts know the programs by the label job.
func TestServiceMonitors(t *testing.T) {
	for _, m := range read[monitoringv1.ServiceMonitor](t, "servicemonitors.yaml") {
		if m.Spec.JobLabel != "app.kubernetes.io/name" || m.Spec.Selector.MatchLabels[m.Spec.JobLabel] != m.Name {
			t.Errorf("%s: the job is from %s, selected are %v", m.Name, m.Spec.JobLabel, m.Spec.Selector.MatchLabels)
		}
		for _, e := range m.Spec.Endpoints {
			if e.Scheme == nil || e.Scheme.String() != "https" || e.TLSConfig == nil {
				t.Errorf("%s: %v is not by TLS", m.Name, e)
			}
		}
	}
}
