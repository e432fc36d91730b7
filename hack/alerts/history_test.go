package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// history is what Prometheus has scraped, and what it concluded.
type history []promql.Series

// scraped adds a series in the notation of promtool: a sample in each interval from the beginning on.
func (h history) scraped(series, values string, interval time.Duration) (history, error) {
	name, samples, err := promQL.ParseSeriesDesc(series + " " + values)
	if err != nil {
		return nil, fmt.Errorf("reading the series %s: %w", series, err)
	}
	s := promql.Series{Metric: name}
	for i, sample := range samples {
		at := time.Duration(i) * interval
		switch {
		case sample.Omitted:
		case sample.Histogram != nil:
			s.Histograms = append(s.Histograms, promql.HPoint{T: at.Milliseconds(), H: sample.Histogram})
		default:
			s.Floats = append(s.Floats, promql.FPoint{T: at.Milliseconds(), F: sample.Value})
		}
	}
	return append(h, s), nil
}

// Querier lets the engine look at what there is. It asks for no more than the time that it needs.
func (h history) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			found := &seriesSet{}
			for _, s := range h {
				if matches(s.Metric, matchers) {
					found.left = append(found.left, s)
				}
			}
			return found
		},
	}, nil
}

func matches(metric labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(metric.Get(m.Name)) {
			return false
		}
	}
	return true
}

// seriesSet hands out one series after the other.
type seriesSet struct {
	is   promql.Series
	left []promql.Series
}

func (s *seriesSet) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.is, s.left = s.left[0], s.left[1:]
	return true
}

func (s *seriesSet) At() storage.Series                { return promql.NewStorageSeries(s.is) }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// concluded has the alerts as Prometheus keeps them, in the series ALERTS.
func concluded(alerts map[string]*alert, at time.Time) history {
	var h history
	for _, a := range alerts {
		state := "pending"
		if a.fires {
			state = "firing"
		}
		name := labels.NewBuilder(a.labels).Set(model.MetricNameLabel, "ALERTS").Set("alertstate", state).Labels()
		h = append(h, promql.Series{Metric: name, Floats: []promql.FPoint{{T: at.UnixMilli(), F: 1}}})
	}
	return h
}
