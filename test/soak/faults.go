package soak

import (
	"context"
	"fmt"
	"time"

	"vpod.dev/vpod-scheduler/test/lab"
)

// Our programs, each with replicas of which one leads.
const (
	controller = "controller"
	scheduler  = "scheduler"
	// kubeScheduler is the one of Kubernetes, without a standby.
	kubeScheduler = "kube-scheduler"
)

// faults happen to programs, and always while they have something to do.
func faults() []kind {
	return []kind{
		{"kill a controller", 5, func(p *plan) *action { return p.kill(controller) }},
		{"kill a scheduler", 4, func(p *plan) *action { return p.kill(scheduler) }},
		{"pause the controller", 3, func(p *plan) *action { return p.pause(controller) }},
		{"pause the scheduler", 3, func(p *plan) *action { return p.pause(scheduler) }},
		{"outage of the controllers", 1, (*plan).controllersAway},
		{"outage of the schedulers", 1, (*plan).schedulersAway},
		{"restart the API server", 3, (*plan).restartAPIServer},
	}
}

// kill ends the leader or the standby amid a burst.
func (p *plan) kill(team string) *action {
	leader, burst := p.random.IntN(3) > 0, p.burst()
	text := fmt.Sprintf("the leader: %t, amid: %s", leader, burst.text)
	return &action{text: text, do: func(ctx context.Context, d *driver) (string, error) {
		if _, err := burst.do(ctx, d); err != nil {
			return "", err
		}
		r, err := d.member(ctx, team, leader)
		if err != nil {
			return "", err
		}
		r.Kill()
		return r.name, nil
	}}
}

// pause stops the leader amid a burst, for as long as it takes until the standby leads, has another burst for the new
// leader, and lets the old one go on, which thinks that it leads.
func (p *plan) pause(team string) *action {
	before, after := p.burst(), p.burst()
	text := fmt.Sprintf("amid: %s; then: %s", before.text, after.text)
	return &action{text: text, do: func(ctx context.Context, d *driver) (detail string, err error) {
		old, err := d.member(ctx, team, true)
		if err != nil {
			return "", err
		}
		if _, err = before.do(ctx, d); err != nil {
			return "", err
		}
		old.Pause()
		defer old.Resume()
		new, err := d.successor(ctx, team, old)
		if err != nil {
			return "", err
		}
		d.witness.expect(func(x *expected) { x.twoLead = team == controller })
		_, err = after.do(ctx, d)
		return fmt.Sprintf("%s, then %s", old.name, new.name), err
	}}
}

// controllersAway has no controller run for so long that kube-controller-manager misses the heartbeats of virtual nodes.
func (p *plan) controllersAway() *action {
	burst := p.burst()
	return &action{text: "meanwhile: " + burst.text, do: func(ctx context.Context, d *driver) (string, error) {
		back := d.away(controller)
		defer back()
		if _, err := burst.do(ctx, d); err != nil {
			return "", err
		}
		return "", lab.Wait(ctx, "virtual nodes are called unreachable", func(context.Context) error {
			for _, n := range d.witness.world().nodes {
				if isVirtual(n) && !isUnreachable(n) {
					return fmt.Errorf("%s is not", n.Name)
				}
			}
			return nil
		})
	}}
}

// schedulersAway has no scheduler run until there are placeholders that nobody has looked at.
func (p *plan) schedulersAway() *action {
	burst := p.burst()
	return &action{text: "meanwhile: " + burst.text, do: func(ctx context.Context, d *driver) (string, error) {
		back := d.away(scheduler)
		defer back()
		if _, err := burst.do(ctx, d); err != nil {
			return "", err
		}
		return "", d.countsSettle(ctx)
	}}
}

func (p *plan) restartAPIServer() *action {
	burst := p.burst()
	return &action{text: "amid: " + burst.text, do: func(ctx context.Context, d *driver) (string, error) {
		if _, err := burst.do(ctx, d); err != nil {
			return "", err
		}
		d.witness.expect(func(x *expected) { x.blind = true })
		err := d.RestartAPIServer(ctx)
		d.restarts = append(d.restarts, time.Now())
		return "", err
	}}
}

// countsSettle waits until each VPod has as many placeholders as it wants, placed or not.
func (d *driver) countsSettle(ctx context.Context) error {
	return lab.Wait(ctx, "all placeholders are there", func(context.Context) error {
		w := d.witness.world()
		alive := map[string]int32{}
		for _, p := range w.pods {
			if isPlaceholder(p) && isAlive(p) {
				alive[string(owner(p))]++
			}
		}
		for _, v := range w.vpods {
			if alive[string(v.UID)] < wants(v) {
				return fmt.Errorf("%s has %d of %d", key(v), alive[string(v.UID)], wants(v))
			}
		}
		return nil
	})
}
