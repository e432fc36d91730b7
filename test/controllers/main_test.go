// Package controllers proves the controller and the scheduler together, as users install them: on a real control plane,
// with all of kube-controller-manager, kube-scheduler for the adapters, simulated hosts, and the accounts of the manifests.
// Tests are named after the cases and promises that they prove.
package controllers

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// shared is the lab that tests share which stop nothing of it; pools and namespaces keep them apart.
var shared struct {
	sync.Once
	*stage
	err error
}

// stage is a lab on which everything runs.
type stage struct {
	*lab.Lab
	scheduler, controller *lab.Process
}

// nodeGrace is how long a host may be silent before kube-controller-manager calls it unreachable, and heartbeats the
// flag of the controller that fits: the four to one of a cluster, with little to wait for.
const (
	nodeGrace  = 8 * time.Second
	heartbeats = "--heartbeat-interval=2s"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stage != nil {
		if lines := shared.refused(); len(lines) > 0 {
			fmt.Printf("RBAC: our own programs were refused what they asked for:\n%s\n", strings.Join(lines, "\n"))
			code = 1
		}
		shared.Stop()
	}
	os.Exit(code)
}

// sharedStage returns the stage that tests share.
func sharedStage(t testing.TB) *stage {
	t.Helper()
	shared.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*labtest.Patience)
		defer cancel()
		shared.stage, shared.err = newStage(ctx, options)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.stage
}

// options are those of a stage like a cluster, but quick to find a host dead.
var options = lab.Options{
	Controllers: lab.AllControllers, Kwok: true, NodeGrace: nodeGrace,
	ControllerManagerArgs: []string{"--horizontal-pod-autoscaler-sync-period=1s"},
}

// ownStage returns a stage that this test has for itself, and may stop parts of.
func ownStage(t testing.TB, controllerArgs ...string) *stage {
	t.Helper()
	return ownStageWith(t, options, controllerArgs...)
}

func ownStageWith(t testing.TB, options lab.Options, controllerArgs ...string) *stage {
	t.Helper()
	s, err := newStage(labtest.TimeLimit(t), options, controllerArgs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	t.Cleanup(func() {
		for _, line := range s.refused() {
			t.Error("RBAC:", line)
		}
	})
	return s
}

func newStage(ctx context.Context, options lab.Options, controllerArgs ...string) (*stage, error) {
	l, err := lab.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	s := &stage{Lab: l}
	if err := s.start(ctx, controllerArgs); err != nil {
		l.Stop()
		return nil, err
	}
	return s, nil
}

func (s *stage) start(ctx context.Context, controllerArgs []string) (err error) {
	if _, err = s.StartKubeScheduler(ctx, lab.SchedulerOptions{}); err != nil {
		return err
	}
	if err = s.Install(ctx); err != nil {
		return err
	}
	if s.scheduler, err = s.StartScheduler(ctx, lab.SchedulerOptions{Verbosity: 3}); err != nil {
		return err
	}
	options := lab.ControllerOptions{Verbosity: 3, Args: append([]string{heartbeats}, controllerArgs...)}
	s.controller, err = s.StartController(ctx, options)
	return err
}

// refused are the rights that our programs lacked.
func (s *stage) refused() []string {
	return append(labtest.Forbidden(s.scheduler), labtest.Forbidden(s.controller)...)
}
