package controllers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// scalings is how often a controller changed the number of replicas of a StatefulSet, by its log.
func scalings(p *lab.Process) int { return strings.Count(p.Log(), "Scaled the StatefulSet") }

// Of two controllers the leader alone scales, under random load and while leaders die or freeze; what one has begun, the next
// one finishes, and nothing moves twice.
func TestC17_TheLeaderAloneScales(t *testing.T) {
	s, other := twoControllers(t, lab.FastFailover...)
	p := s.newScaled(t, 1, 6, 10)
	replicas := []*lab.Process{s.controller, other}
	p.create(p.vpod("x", 1))
	seen := p.witnessScale()
	rng := rand.New(rand.NewPCG(1, 17))
	leads := 0
	for round := range 8 {
		n := int32(rng.IntN(55))
		idle := scalings(replicas[1-leads])
		p.scale("x", n)
		want := max(1, (n+9)/10)
		p.scaledTo(want, v1alpha1.ReasonWantedSize, "")
		p.settledSum("x", int(n))
		if now := scalings(replicas[1-leads]); now != idle {
			t.Errorf("round %d: the standby scaled %d times", round, now-idle)
		}
		if round%3 != 2 {
			continue
		}
		// In the middle of the next drain the leader goes.
		p.scale("x", 55)
		p.scaledTo(6, v1alpha1.ReasonWantedSize, "")
		p.settledSum("x", 55)
		w := p.witnessAll()
		p.scale("x", 12)
		p.eventually("a drain has begun", func(ctx context.Context) error {
			pool, err := p.poolNamed(ctx, p.name)
			if err == nil && (pool.Status.TargetAdapters == nil || *pool.Status.TargetAdapters == 6) {
				err = fmt.Errorf("it is held at %v", pool.Status.TargetAdapters)
			}
			return err
		})
		p.loseLeader(replicas[leads], round == 5, func() {
			p.scaledTo(2, v1alpha1.ReasonWantedSize, "")
			p.settledSum("x", 12)
		})
		if p.leaderIs(replicas[1-leads]) {
			leads = 1 - leads
		}
		p.hear(w, func(w *witness) {
			// 43 go to scale down; the 12 that stay move at most once each.
			if moved := w.deleted["x"] - 43; moved < 0 || moved > 12 || w.bound["x"] != moved {
				t.Errorf("round %d: %d moved, %d were placed", round, moved, w.bound["x"])
			}
			if w.wrong != "" {
				t.Error(w.wrong)
			}
		})
	}
	numbers := seen()
	if writes := scalings(replicas[0]) + scalings(replicas[1]); writes != len(numbers)-1 {
		t.Errorf("the controllers wrote %d numbers, and the StatefulSet was asked for %v", writes, numbers)
	}
	t.Logf("the StatefulSet was asked for %v", numbers)
}

// leaderIs says whether a controller says that it leads.
func (p *pool) leaderIs(replica *lab.Process) bool {
	log := replica.Log()
	return strings.LastIndex(log, "Successfully acquired lease") > strings.LastIndex(log, `"Starting" version`)
}
