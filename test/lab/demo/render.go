package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// render draws the map of the pool: a row for each adapter, a column for each vpod, and below them who waits and why.
func render(out io.Writer, s state) error {
	var drawn strings.Builder
	table := tabwriter.NewWriter(&drawn, 0, 0, 2, ' ', 0)
	header := []string{"  ADAPTER", "ZONE", "HOST", "USED"}
	for _, v := range s.vpods {
		header = append(header, v.name)
	}
	fmt.Fprintln(table, strings.Join(header, "\t")+"\t")
	for _, a := range s.adapters {
		row := []string{"  " + a.name, a.zone, a.host, fmt.Sprintf("%d/%d", s.used(a), a.capacity)}
		for _, v := range s.vpods {
			row = append(row, number(v.count(a.name)))
		}
		mark := ""
		if a.cordoned {
			mark = "cordoned"
		}
		fmt.Fprintln(table, strings.Join(append(row, mark), "\t"))
	}
	row := []string{"  waiting", "", "", ""}
	for _, v := range s.vpods {
		row = append(row, number(v.waiting()))
	}
	fmt.Fprintln(table, strings.Join(row, "\t")+"\t")
	if err := table.Flush(); err != nil {
		return fmt.Errorf("drawing the map: %w", err)
	}
	for line := range strings.Lines(drawn.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return fmt.Errorf("printing the map: %w", err)
		}
	}
	return renderReasons(out, s)
}

// renderReasons prints each reason once, with the number of vreplicas that it holds up.
func renderReasons(out io.Writer, s state) error {
	for _, v := range s.vpods {
		held := map[string]int{}
		var reasons []string
		for _, p := range v.pods {
			if p.adapter != "" {
				continue
			}
			if held[p.reason] == 0 {
				reasons = append(reasons, p.reason)
			}
			held[p.reason]++
		}
		slices.Sort(reasons)
		for _, reason := range reasons {
			if _, err := fmt.Fprintf(out, "\n  %d of %s wait: %s\n", held[reason], v.name, reason); err != nil {
				return fmt.Errorf("printing the reasons: %w", err)
			}
		}
	}
	return nil
}

// number leaves zeros out, so that the eye sees where something is.
func number(n int) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprint(n)
}
