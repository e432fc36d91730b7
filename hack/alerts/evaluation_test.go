package alerts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
)

// alert is a rule that holds for some labels.
type alert struct {
	labels labels.Labels
	since  time.Time
	fires  bool
}

// evaluation evaluates rules, as Prometheus does in each interval.
type evaluation struct {
	engine *promql.Engine
	rules  []rulefmt.Rule
	// scraped is all that will ever be scraped. A query sees what is of its time.
	scraped history
	// active are the alerts that are pending or fire, by their labels.
	active map[string]*alert
}

func (e *evaluation) query(ctx context.Context, h history, expr string, at time.Time) (promql.Vector, error) {
	q, err := e.engine.NewInstantQuery(ctx, h, nil, expr, at)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", expr, err)
	}
	defer q.Close()
	vector, err := q.Exec(ctx).Vector()
	if err != nil {
		return nil, fmt.Errorf("evaluating %s: %w", expr, err)
	}
	return append(promql.Vector(nil), vector...), nil
}

// evaluate brings the alerts up to date. What is active stays so as long as its rule holds.
func (e *evaluation) evaluate(ctx context.Context, at time.Time) error {
	active := map[string]*alert{}
	for _, rule := range e.rules {
		vector, err := e.query(ctx, e.scraped, rule.Expr, at)
		if err != nil {
			return err
		}
		for _, sample := range vector {
			l := labels.NewBuilder(sample.Metric).Del(model.MetricNameLabel).Set(model.AlertNameLabel, rule.Alert)
			for name, value := range rule.Labels {
				l.Set(name, value)
			}
			a := &alert{labels: l.Labels(), since: at}
			key := a.labels.String()
			if active[key] != nil {
				return fmt.Errorf("two alerts have the labels %s", key)
			}
			if was := e.active[key]; was != nil {
				a.since = was.since
			}
			a.fires = at.Sub(a.since) >= time.Duration(rule.For)
			active[key] = a
			if err := e.expand(ctx, rule, sample, at); err != nil {
				return err
			}
		}
	}
	e.active = active
	return nil
}

// expand tells of a text that cannot be made of what an alert has.
func (e *evaluation) expand(ctx context.Context, rule rulefmt.Rule, sample promql.Sample, at time.Time) error {
	for name, text := range rule.Annotations {
		data := template.AlertTemplateData(sample.Metric.Map(), nil, "", sample)
		text = "{{$labels := .Labels}}{{$value := .Value}}" + text
		expander := template.NewTemplateExpander(ctx, text, rule.Alert, data, model.Time(at.UnixMilli()), nil, nil, nil)
		words, err := expander.Expand()
		if err != nil {
			return fmt.Errorf("the %s of %s: %w", name, rule.Alert, err)
		}
		if strings.Contains(words, "<no value>") || strings.Contains(words, "  ") {
			return fmt.Errorf("the %s of %s lacks something: %s", name, rule.Alert, words)
		}
	}
	return nil
}
