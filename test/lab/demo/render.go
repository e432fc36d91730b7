package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		switch {
		case !a.ready:
			mark = "lost"
		case a.cordoned:
			mark = "cordoned"
		}
		fmt.Fprintln(table, strings.Join(append(row, mark), "\t"))
	}
	fmt.Fprintln(table, rowOf(s, "waiting", vpod.waiting))
	if slices.ContainsFunc(s.vpods, func(v vpod) bool { return v.refused() > 0 }) {
		fmt.Fprintln(table, rowOf(s, "refused", vpod.refused))
	}
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

// rowOf is a row below the adapters.
func rowOf(s state, title string, of func(vpod) int) string {
	row := []string{"  " + title, "", "", ""}
	for _, v := range s.vpods {
		row = append(row, number(of(v)))
	}
	return strings.Join(row, "\t") + "\t"
}

// renderReasons prints what the VPods that are not placed as a whole say of it.
func renderReasons(out io.Writer, s state) error {
	for _, v := range s.vpods {
		if v.scheduled.Status == metav1.ConditionTrue {
			continue
		}
		if _, err := fmt.Fprintf(out, "\n  %s: %s: %s\n", v.name, v.scheduled.Reason, v.scheduled.Message); err != nil {
			return fmt.Errorf("printing the reasons: %w", err)
		}
	}
	if s.scaled == nil {
		return nil
	}
	if _, err := fmt.Fprintf(out, "\n  %s: %s\n", s.scaled.Reason, s.scaled.Message); err != nil {
		return fmt.Errorf("printing the reasons: %w", err)
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
