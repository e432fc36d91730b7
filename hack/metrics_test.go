package hack

import (
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
)

// reported are the names of all metrics of the controllers.
func reported(t *testing.T) map[string]bool {
	t.Helper()
	descs := make(chan *prometheus.Desc)
	go func() {
		metrics.New(nil, nil).Describe(descs)
		close(descs)
	}()
	names := map[string]bool{}
	for desc := range descs {
		names[regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(desc.String())[1]] = true
	}
	return names
}

// What README.md, the alerts and the dashboard name is there, under this name; and README.md and the dashboard leave nothing
// out. Of the metrics of others, those on a lab are asked: test/controllers.
func TestMetricsThatAreNamedAreReported(t *testing.T) {
	names := reported(t)
	for file, isComplete := range map[string]bool{
		"../README.md":                           true,
		"../manifests/monitoring/alerts.yaml":    false,
		"../manifests/monitoring/dashboard.json": true,
		"alerts/testdata/alerts.yaml":            false,
	} {
		named := map[string]bool{}
		for _, name := range regexp.MustCompile(`vpod_controller_[a-z_]+`).FindAllString(read(t, file), -1) {
			name = strings.TrimSuffix(name, "_bucket")
			if named[name] = true; !names[name] {
				t.Errorf("%s names %s, which nobody reports", file, name)
			}
		}
		for name := range names {
			if isComplete && !named[name] {
				t.Errorf("%s does not name %s", file, name)
			}
		}
	}
}

// Each alert is in the README.
func TestReadmeNamesAlerts(t *testing.T) {
	readme := read(t, "../README.md")
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(read(t, "../manifests/monitoring/alerts.yaml"), -1) {
		if !strings.Contains(readme, "`"+m[1]+"`") {
			t.Errorf("README.md does not name the alert %s", m[1])
		}
	}
}
