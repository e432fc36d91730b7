package alerts

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"sigs.k8s.io/yaml"
)

// testFile is the part of the format of `promtool test rules` that testdata/alerts.yaml makes use of.
type testFile struct {
	RuleFiles          []string       `json:"rule_files"`
	EvaluationInterval model.Duration `json:"evaluation_interval"`
	Tests              []testCase     `json:"tests"`
}

type testCase struct {
	Name        string         `json:"name"`
	Interval    model.Duration `json:"interval"`
	InputSeries []struct {
		Series string `json:"series"`
		Values string `json:"values"`
	} `json:"input_series"`
	Expectations []expectation `json:"promql_expr_test"`
}

type expectation struct {
	Expr       string         `json:"expr"`
	EvalTime   model.Duration `json:"eval_time"`
	ExpSamples []struct {
		Labels string  `json:"labels"`
		Value  float64 `json:"value"`
	} `json:"exp_samples"`
}

func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file testFile
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	rules := rules(t)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: promQL})
	fired := map[string]bool{}
	for _, tc := range file.Tests {
		t.Run(tc.Name, func(t *testing.T) {
			e := &evaluation{engine: engine, rules: rules}
			for _, s := range tc.InputSeries {
				if e.scraped, err = e.scraped.scraped(s.Series, s.Values, time.Duration(tc.Interval)); err != nil {
					t.Fatal(err)
				}
			}
			tc.run(t, e, time.Duration(file.EvaluationInterval))
			for _, a := range e.active {
				if a.fires {
					fired[a.labels.Get(model.AlertNameLabel)+"/"+a.labels.Get("severity")] = true
				}
			}
		})
	}
	for _, rule := range rules {
		if key := rule.Alert + "/" + rule.Labels["severity"]; !fired[key] {
			t.Errorf("no test ends while %s fires", key)
		}
	}
}

// run evaluates the rules in each interval, and compares what there is at the times of the expectations.
func (tc testCase) run(t *testing.T, e *evaluation, interval time.Duration) {
	t.Helper()
	slices.SortStableFunc(tc.Expectations, func(a, b expectation) int { return int(a.EvalTime - b.EvalTime) })
	begin := time.UnixMilli(0)
	for now, left := begin, tc.Expectations; len(left) > 0; now = now.Add(interval) {
		if err := e.evaluate(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		for len(left) > 0 && begin.Add(time.Duration(left[0].EvalTime)).Before(now.Add(interval)) {
			if err := left[0].check(t.Context(), e, begin); err != nil {
				t.Error(err)
			}
			left = left[1:]
		}
	}
}

func (x expectation) check(ctx context.Context, e *evaluation, begin time.Time) error {
	at := begin.Add(time.Duration(x.EvalTime))
	vector, err := e.query(ctx, slices.Concat(e.scraped, concluded(e.active, at)), x.Expr, at)
	if err != nil {
		return err
	}
	var got, want []string
	for _, sample := range vector {
		got = append(got, fmt.Sprintf("%s %v", sample.Metric, sample.F))
	}
	for _, sample := range x.ExpSamples {
		metric, err := promQL.ParseMetric(sample.Labels)
		if err != nil {
			return fmt.Errorf("reading %s: %w", sample.Labels, err)
		}
		want = append(want, fmt.Sprintf("%s %v", metric, sample.Value))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s after %s (-want +got):\n%s", x.Expr, x.EvalTime, diff)
	}
	return nil
}
