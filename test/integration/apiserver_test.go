package integration

import (
	"fmt"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// What the logs say of rights tells nothing in these tests: an API server that has just started refuses everything
// until it has read its roles.

// An outage that is shorter than the deadline to renew the lease costs the scheduler nothing.
func TestAPIServerRestartsUnderLoad(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{})
	scheduler, err := l.StartScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{
		Verbosity: 2, Args: []string{"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	placedThrough(t, l, 5, func() {
		if err := l.RestartAPIServer(labtest.TimeLimit(t)); err != nil {
			t.Fatal(err)
		}
	})
	select {
	case <-scheduler.Exited():
		t.Errorf("the scheduler has ended:\n%s", scheduler.Log())
	default:
	}
}

// In a longer one the leader ends itself, since it cannot know whether another leads.
func TestAPIServerIsAwayUnderLoad(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{})
	scheduler := startReplica(t, l, lab.FastFailover)
	placedThrough(t, l, 2, func() {
		l.APIServer().Kill()
		<-scheduler.Exited()
		if err := l.APIServer().Start(labtest.TimeLimit(t)); err != nil {
			t.Fatal(err)
		}
	})
}

// placedThrough has a hundred vreplicas wait for each adapter, makes room for exactly them, and has the outage as soon
// as the first is placed.
func placedThrough(t *testing.T, l *lab.Lab, adapters int, outage func()) {
	t.Helper()
	const room = 100
	p := newPool(t, l)
	books := p.audit(room)
	vpods := make([]lab.VPod, adapters)
	for i := range vpods {
		vpods[i] = p.vpod(fmt.Sprint("x", i))
		p.grow(vpods[i], room)
	}
	p.settled(vpods[adapters-1], "", room) // All before it are refused as well then.
	for i := range adapters {
		p.adapter(lab.Adapter{Ordinal: i, Zone: fmt.Sprint("z", i), Capacity: room})
	}
	books.reaches(labtest.TimeLimit(t), t, 1)
	start := time.Now()
	outage()
	t.Logf("the outage lasted %s", time.Since(start).Round(time.Millisecond))
	books.reaches(labtest.TimeLimit(t), t, adapters*room)
	books.check(t)
	p.everyPodIsPlaced(adapters * room)
}
