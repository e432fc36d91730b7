package controllers

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// Of two controllers the one that leads crashes, or freezes and goes on later as if it still led, in the middle of its work,
// again and again: never is there a vreplica too many, and none that is placed is taken away but to scale down.
func TestG5_LeadersThatComeAndGoMakeNoVReplicaTooMany(t *testing.T) {
	s, other := twoControllers(t, lab.FastFailover...)
	p := s.newPool(t, 100, "", "")
	p.run("x", 1, "1/0")
	w := p.witnessAll()
	replicas := []*lab.Process{s.controller, other}
	deletions := 0
	for round, to := range []int{40, 90, 30, 120, 20, 150} {
		before, was := p.uids("x"), w.count("x")
		p.scale("x", int32(to))
		// In the middle of it.
		p.eventually("some of it is done", func(context.Context) error {
			if now := w.count("x"); now == was {
				return fmt.Errorf("there are still %d", now)
			}
			return nil
		})
		for _, replica := range replicas {
			p.loseLeader(replica, round%2 == 0, func() { p.settledSum("x", to) })
		}
		if to < was {
			deletions += was - to
		} else {
			p.stayed("x", before)
		}
		p.hear(w, func(w *witness) {
			if w.deleted["x"] != deletions || w.alive["x"] != to {
				t.Errorf("round %d: %d were removed, want %d; there are %d, want %d", round, w.deleted["x"], deletions, w.alive["x"], to)
			}
			if w.wrong != "" {
				t.Error(w.wrong)
			}
		})
	}
}

// twoControllers runs a second controller beside that of a stage.
func twoControllers(t *testing.T, args ...string) (*stage, *lab.Process) {
	t.Helper()
	s := ownStage(t, args...)
	other, err := s.StartController(labtest.TimeLimit(t), lab.ControllerOptions{Verbosity: 3, Args: append(args, heartbeats)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, line := range labtest.Forbidden(other) {
			t.Error("RBAC:", line)
		}
	})
	return s, other
}

// The leader freezes while it scales down; before the other one leads, the scale goes up again. When the first goes on, what
// it had yet to remove stays.
func TestG4_FrozenLeaderRemovesNothingLater(t *testing.T) {
	// Half of the default, which still is longer than a plan lives.
	s, _ := twoControllers(t,
		"--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=500ms")
	p := s.newPool(t, 200, "", "")
	p.run("x", 300, "150/150")
	w := p.witnessAll()
	p.scale("x", 10)
	p.eventually("some are removed", func(context.Context) error {
		if w.count("x") == 300 {
			return fmt.Errorf("none are")
		}
		return nil
	})
	s.controller.Pause() // It led, because it was the first.
	p.scale("x", 301)
	p.settledSum("x", 301)
	var removed int
	p.hear(w, func(w *witness) { removed = w.deleted["x"] })
	t.Logf("%d of 290 were removed before the leader froze", removed)
	if removed == 290 {
		t.Error("none was left to remove")
	}
	s.controller.Resume()
	<-s.controller.Exited()
	p.must(s.controller.Start(labtest.TimeLimit(t)))
	p.settledSum("x", 301)
	p.hear(w, func(w *witness) {
		if w.deleted["x"] != removed {
			t.Errorf("%d more were removed afterwards", w.deleted["x"]-removed)
		}
	})
}

// loseLeader takes a controller out of action until the other has done the work, and then starts it again.
func (p *pool) loseLeader(replica *lab.Process, freeze bool, done func()) {
	p.t.Helper()
	leader := p.leader()
	if !freeze {
		replica.Kill()
		done()
		p.must(replica.Start(labtest.TimeLimit(p.t)))
		return
	}
	replica.Pause()
	done()
	replica.Resume()
	if p.leader() != leader {
		<-replica.Exited() // It finds out that it does not lead any more.
		p.must(replica.Start(labtest.TimeLimit(p.t)))
	}
}

func (p *pool) leader() string {
	p.t.Helper()
	lease, err := p.Client().CoordinationV1().Leases(v1alpha1.Namespace).Get(p.t.Context(), v1alpha1.ControllerName, metav1.GetOptions{})
	p.must(err)
	return *lease.Spec.HolderIdentity
}

// count is how many placeholders of a VPod there are.
func (w *witness) count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alive[name]
}

// settledSum waits until a VPod has so many placeholders, all placed, and its status says so.
func (p *pool) settledSum(name string, want int) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%s has %d", name, want), func(ctx context.Context) error {
		pods, err := p.placeholders(ctx, name)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			if pod.Spec.NodeName == "" {
				return fmt.Errorf("%s is not placed", pod.Name)
			}
		}
		v, err := p.get(ctx, name)
		if err == nil && (len(pods) != want || int(v.Status.ScheduledReplicas) != want) {
			err = fmt.Errorf("there are %d, status %d", len(pods), v.Status.ScheduledReplicas)
		}
		return err
	})
}
