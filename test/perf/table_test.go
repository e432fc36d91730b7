package perf

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// The test cases that others are compared with.
const (
	ours   = "Availability"
	among  = "AvailabilityAmongRealNodes"
	none   = "NoSpreading"
	inTree = "TopologySpreadHard"
)

// rate is placements a second.
func (c cost) rate() float64 { return float64(c.placements) / c.wall.Seconds() }

// judging is what the extension points took together, in milliseconds a placement.
func (c cost) judging() float64 {
	var sum time.Duration
	for _, took := range c.points {
		sum += took
	}
	return sum.Seconds() * 1000 / float64(c.placements)
}

// cpuTime is the CPU seconds of a thousand placements.
func (c cost) cpuTime() float64 { return c.cpu.Seconds() * 1000 / float64(c.placements) }

// percentile of the durations of the algorithm.
func (c cost) percentile(p int) time.Duration { return c.cycles[(len(c.cycles)-1)*p/100] }

// find returns a measured workload; ok is false if it was not run.
func find(costs []cost, rules, adapters string) (cost, bool) {
	i := slices.IndexFunc(costs, func(c cost) bool { return c.rules == rules && c.adapters == adapters })
	if i < 0 {
		return cost{}, false
	}
	return costs[i], true
}

// render returns the table of a run, and whether it reached what we promise.
func render(costs []cost) string {
	header := []string{"", "rules", "adapters", "placements/s", "of NoSpreading", "p50 ms", "p99 ms"}
	header = append(header, points...)
	header = append(header, "all four", "of TopologySpreadHard", "of NoSpreading", "CPU s/1000", "of NoSpreading", "peak MB")
	rows := [][]string{header, slices.Repeat([]string{"---"}, len(header))}
	rows[1][0] = ""
	for _, c := range costs {
		rows = append(rows, c.row(costs))
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.TrimSpace(strings.Join(row, "\t| ")+"\t|"))
	}
	w.Flush()
	text.WriteString("\n" + strings.Join(promises(costs), "\n") + "\n")
	return text.String()
}

// row has the figures of a workload beside those of others with as many adapters. Times of extension points are in
// milliseconds a placement, where one that is skipped takes none.
func (c cost) row(costs []cost) []string {
	free, hasFree := find(costs, none, c.adapters)
	spread, hasSpread := find(costs, inTree, c.adapters)
	row := []string{"", c.rules, c.adapters, fmt.Sprintf("%.0f", c.rate()), ratio(hasFree, c.rate, free.rate), ms(c.percentile(50)), ms(c.percentile(99))}
	for _, point := range points {
		row = append(row, ms(c.points[point]/time.Duration(c.placements)))
	}
	return append(row, fmt.Sprintf("%.3f", c.judging()), ratio(hasSpread, c.judging, spread.judging), ratio(hasFree, c.judging, free.judging),
		fmt.Sprintf("%.2f", c.cpuTime()), ratio(hasFree, c.cpuTime, free.cpuTime), fmt.Sprint(c.heap>>20))
}

// ratio is empty where the other was not measured.
func ratio(measured bool, value, of func() float64) string {
	if !measured {
		return ""
	}
	return fmt.Sprintf("%.2f", value()/of())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()*1000) }

// promises says of each target whether it holds, as far as the run measured it.
func promises(costs []cost) []string {
	var lines []string
	promise := func(text string, value, most float64) {
		verdict := "holds"
		if value > most {
			verdict = "DOES NOT HOLD"
		}
		lines = append(lines, fmt.Sprintf("%-14s %s: %.3g, at most %.3g", verdict, text, value, most))
	}
	largest, hasLargest := find(costs, ours, "5000")
	if spread, ok := find(costs, inTree, "5000"); ok && hasLargest {
		promise("judging 5,000 adapters, of what TopologySpreadHard takes", largest.judging()/spread.judging(), 0.1)
	}
	if free, ok := find(costs, none, "5000"); ok && hasLargest {
		promise("judging 5,000 adapters, of what NoSpreading takes", largest.judging()/free.judging(), 1)
		promise("time for a placement among 5,000, of what NoSpreading takes", free.rate()/largest.rate(), 1)
	}
	if smallest, ok := find(costs, ours, "100"); ok && hasLargest {
		promise("rate lost from 100 to 5,000 adapters", 1-largest.rate()/smallest.rate(), 0.1)
	}
	alone, hasAlone := find(costs, ours, "200")
	if mixed, ok := find(costs, among, "200"); ok && hasAlone {
		promise("judging 200 adapters among 5,000 real nodes, of what 200 alone take", mixed.judging()/alone.judging(), 1.1)
		promise("CPU of a placement there, of what it is alone", mixed.cpuTime()/alone.cpuTime(), 1.1)
		promise("time for a placement there, of what it is alone", alone.rate()/mixed.rate(), 1.1)
	}
	return lines
}

func TestRender(t *testing.T) {
	measured := func(rules, adapters string, wall time.Duration) cost {
		return cost{rules: rules, adapters: adapters, placements: 10, wall: wall, cpu: wall, heap: 5 << 20,
			cycles: []time.Duration{time.Millisecond, time.Second}, points: map[string]time.Duration{"Filter": wall}}
	}
	got := render([]cost{measured(ours, "5000", time.Second), measured(none, "5000", 2*time.Second), measured(inTree, "5000", 4*time.Second)})
	for _, want := range []string{
		"DOES NOT HOLD  judging 5,000 adapters, of what TopologySpreadHard takes: 0.25, at most 0.1\n",
		"holds          judging 5,000 adapters, of what NoSpreading takes: 0.5, at most 1\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}

// Each promise is checked as soon as the run measured what it is about, and is kept at its bound.
func TestPromises(t *testing.T) {
	takes := func(rules, adapters string, seconds float64) cost {
		took := time.Duration(seconds * float64(time.Second))
		return cost{rules: rules, adapters: adapters, placements: 1, wall: took, cpu: took, points: map[string]time.Duration{"Filter": took}}
	}
	for name, tc := range map[string]struct {
		costs       []cost
		wantHolding []bool
	}{
		"nothing measured":                        {},
		"nothing to compare with":                 {costs: []cost{takes(ours, "5000", 1)}},
		"a tenth of hard spreading":               {costs: []cost{takes(ours, "5000", 1), takes(inTree, "5000", 10)}, wantHolding: []bool{true}},
		"more than a tenth of it":                 {costs: []cost{takes(ours, "5000", 1), takes(inTree, "5000", 9.9)}, wantHolding: []bool{false}},
		"hard spreading of another size":          {costs: []cost{takes(ours, "5000", 1), takes(inTree, "1000", 9.9)}},
		"what no spreading takes":                 {costs: []cost{takes(ours, "5000", 1), takes(none, "5000", 1)}, wantHolding: []bool{true, true}},
		"more than no spreading takes":            {costs: []cost{takes(ours, "5000", 1), takes(none, "5000", 0.9)}, wantHolding: []bool{false, false}},
		"as fast with 5,000 as with 100":          {costs: []cost{takes(ours, "5000", 1), takes(ours, "100", 1)}, wantHolding: []bool{true}},
		"slower with 5,000 than with 100":         {costs: []cost{takes(ours, "5000", 1), takes(ours, "100", 0.8)}, wantHolding: []bool{false}},
		"real nodes cost nothing":                 {costs: []cost{takes(ours, "200", 1), takes(among, "200", 1)}, wantHolding: []bool{true, true, true}},
		"real nodes cost more than a tenth of it": {costs: []cost{takes(ours, "200", 1), takes(among, "200", 1.2)}, wantHolding: []bool{false, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var holding []bool
			for _, line := range promises(tc.costs) {
				holding = append(holding, strings.HasPrefix(line, "holds"))
			}
			if !slices.Equal(holding, tc.wantHolding) {
				t.Errorf("got %v, want %v:\n%s", holding, tc.wantHolding, strings.Join(promises(tc.costs), "\n"))
			}
		})
	}
}
