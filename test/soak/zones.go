package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// loseZone has all hosts of a zone fall silent at once, and waits until it is noticed.
func (p *plan) loseZone() *action {
	zone := oneOf(p, zones...)
	lost := only(p.hosts, func(h *hostPlan) bool { return h.zone == zone && !h.stopped })
	if p.lost != nil || len(lost) == 0 {
		return nil
	}
	p.lost = lost
	names := stop(lost, true)
	text := fmt.Sprintf("%s: %s", zone, strings.Join(names, ", "))
	return &action{text: text, do: func(ctx context.Context, d *driver) (string, error) {
		for _, name := range names {
			if err := d.StopHost(ctx, name); err != nil {
				return "", err
			}
		}
		for _, name := range names {
			if err := d.WaitForHost(ctx, name, false); err != nil {
				return "", err
			}
		}
		return "", nil
	}}
}

// returnZone has what is still silent of a zone that was lost come back at once.
func (p *plan) returnZone() *action {
	silent := only(p.lost, isStopped)
	p.lost = nil
	if len(silent) == 0 {
		return nil
	}
	names := stop(silent, false)
	return &action{text: strings.Join(names, ", "), do: func(ctx context.Context, d *driver) (string, error) {
		for _, name := range names {
			if err := d.StartHost(ctx, name); err != nil {
				return "", err
			}
		}
		for _, name := range names {
			if err := d.startHost(ctx, name); err != nil {
				return "", err
			}
		}
		return "", nil
	}}
}

// isLost says whether a host is silent because its zone is.
func (p *plan) isLost(h *hostPlan) bool { return h.stopped && slices.Contains(p.lost, h) }

// stop plans that hosts are silent, or not any more, and returns their names.
func stop(hosts []*hostPlan, stopped bool) (names []string) {
	for _, h := range hosts {
		h.stopped = stopped
		names = append(names, h.name)
	}
	return names
}
