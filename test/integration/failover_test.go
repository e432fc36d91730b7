package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// takeover is how soon a standby places the next vreplica: the lease of lab.FastFailover, and five seconds more.
const takeover = (3 + 5) * time.Second

// replica is one process of a scheduler of several. It is started again whenever it ends, as a kubelet does.
type replica struct {
	*lab.Process
	mu sync.Mutex
	// since is where in the log its present life begins.
	since int
}

func startReplica(t *testing.T, l *lab.Lab, args []string) *replica {
	t.Helper()
	p, err := l.StartScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{Verbosity: 2, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{Process: p}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.keep(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		p.Kill()
	})
	return r
}

// keep starts the process again whenever it ends, even by itself: a leader ends when it cannot renew its lease, which
// a busy machine is enough for.
func (r *replica) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.Exited():
		}
		r.mu.Lock()
		r.since = len(r.Log())
		r.mu.Unlock()
		// An error is that it has ended again, or that the test has; its log has the reason.
		_ = r.Start(ctx)
	}
}

func (r *replica) leads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.Log()[r.since:], "Successfully acquired lease")
}

// crashLeader kills the replica that leads, so that it can neither give back its lease nor finish what it began.
func crashLeader(t *testing.T, replicas []*replica) {
	t.Helper()
	err := lab.Wait(labtest.TimeLimit(t), "a replica leads", func(context.Context) error {
		i := slices.IndexFunc(replicas, (*replica).leads)
		if i < 0 {
			return errors.New("none does")
		}
		replicas[i].Kill()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Three replicas, of which one leads.
func TestC39_Failover(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{})
	var replicas []*replica
	for range 3 {
		replicas = append(replicas, startReplica(t, l, lab.FastFailover))
	}
	t.Run("the next vreplica is placed in time", func(t *testing.T) { testTakeover(t, l, replicas) })
	t.Run("under load", func(t *testing.T) { testFailoverUnderLoad(t, l, replicas) })
	for _, r := range replicas {
		noneForbidden(t, r.Process)
	}
}

func testTakeover(t *testing.T, l *lab.Lab, replicas []*replica) {
	p := newPool(t, l, lab.Adapter{Capacity: 2})
	p.bound(labtest.TimeLimit(t), p.grow(p.vpod("x"), 1)[0])
	crashLeader(t, replicas)
	killed := time.Now()
	ctx, cancel := context.WithTimeoutCause(labtest.TimeLimit(t), takeover, errors.New("no standby took over in time"))
	defer cancel()
	p.bound(ctx, p.grow(p.vpod("x"), 1)[0])
	t.Logf("a standby works after %s", time.Since(killed).Round(time.Millisecond))
}

// Room and vreplicas are the same in number, so that an adapter that is filled twice shows. Each leader is killed amid
// its placements.
func testFailoverUnderLoad(t *testing.T, l *lab.Lab, replicas []*replica) {
	const rounds, room = 3, 100
	p := newPool(t, l)
	books := p.audit(room)
	vpods := []lab.VPod{p.vpod("x"), p.vpod("y"), p.vpod("z")}
	for _, v := range vpods {
		p.grow(v, rounds*room/len(vpods))
	}
	p.settled(vpods[len(vpods)-1], "", rounds*room/len(vpods)) // All before it are refused as well then.
	for i := range rounds {
		p.adapter(lab.Adapter{Ordinal: i, Zone: fmt.Sprint("z", i), Capacity: room})
		books.reaches(labtest.TimeLimit(t), t, i*room+1)
		crashLeader(t, replicas)
		t.Logf("the leader was killed at %d of %d placed", books.count(), (i+1)*room)
		books.reaches(labtest.TimeLimit(t), t, (i+1)*room)
	}
	books.check(t)
	p.everyPodIsPlaced(rounds * room)
}

// noneForbidden fails the test for each right that a scheduler asked for and lacks.
func noneForbidden(t *testing.T, scheduler *lab.Process) {
	t.Helper()
	for _, line := range labtest.Forbidden(scheduler) {
		t.Error(line)
	}
}
