package soak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"vpod.dev/vpod-scheduler/test/lab"
)

// replica is one process of a program of several. It is started again whenever it ends, as a kubelet does, except while it
// is away.
type replica struct {
	*lab.Process
	name string

	mu sync.Mutex
	// since is where in the log its present life begins.
	since int
	// here is closed unless the replica is away.
	here chan struct{}
}

func newReplica(name string, p *lab.Process) *replica {
	r := &replica{Process: p, name: name, here: make(chan struct{})}
	close(r.here)
	return r
}

// keep starts the process again until ctx ends.
func (r *replica) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.Exited():
		}
		r.mu.Lock()
		here := r.here
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-here:
		}
		r.mu.Lock()
		r.since = len(r.Log())
		r.mu.Unlock()
		// An error is that it has ended again, or that the test has; its log has the reason.
		_ = r.Start(ctx)
	}
}

// leave kills the replica and keeps it from coming back until the function that it returns is called.
func (r *replica) leave() (back func()) {
	gone := make(chan struct{})
	r.mu.Lock()
	r.here = gone
	r.mu.Unlock()
	r.Kill()
	return func() { close(gone) }
}

// leads says whether it has become the leader in its present life. A leader that loses its lease ends.
func (r *replica) leads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.Log()[r.since:], "uccessfully acquired lease")
}

// member waits until a replica leads, and returns it, or one that does not.
func (d *driver) member(ctx context.Context, team string, leader bool) (*replica, error) {
	return d.find(ctx, team, func(r *replica) bool { return r.leads() == leader })
}

// successor waits until another one leads than did.
func (d *driver) successor(ctx context.Context, team string, old *replica) (*replica, error) {
	return d.find(ctx, team, func(r *replica) bool { return r != old && r.leads() })
}

func (d *driver) find(ctx context.Context, team string, fits func(*replica) bool) (found *replica, err error) {
	err = lab.Wait(ctx, fmt.Sprintf("there is such a %s", team), func(context.Context) error {
		for _, r := range d.teams[team] {
			if fits(r) {
				found = r
				return nil
			}
		}
		return errors.New("there is none")
	})
	return found, err
}

// away has none of a team run until the function that it returns is called.
func (d *driver) away(team string) (back func()) {
	var all []func()
	for _, r := range d.teams[team] {
		all = append(all, r.leave())
	}
	return func() {
		for _, back := range all {
			back()
		}
	}
}
