// Package integration proves the scheduler on a real control plane, with the service account of the manifests. Tests
// are named after the cases and promises that they prove.
package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/test/lab"
)

// patience bounds every wait: ample, so that a slow machine fails no test.
const patience = 60 * time.Second

// shared is the lab that tests share which need nothing but a scheduler; pools and namespaces keep them apart.
var shared struct {
	sync.Once
	lab       *lab.Lab
	scheduler *lab.Process
	err       error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.scheduler != nil {
		if lines := forbidden(shared.scheduler); len(lines) > 0 {
			fmt.Printf("RBAC: the scheduler was refused what it asked for:\n%s\n", strings.Join(lines, "\n"))
			code = 1
		}
	}
	if shared.lab != nil {
		shared.lab.Stop()
	}
	os.Exit(code)
}

// sharedLab returns the lab in which one scheduler runs with the configuration inside it.
func sharedLab(t *testing.T) *lab.Lab {
	t.Helper()
	shared.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		if shared.lab, shared.err = lab.Start(ctx, lab.Options{}); shared.err == nil {
			shared.scheduler, shared.err = shared.lab.StartScheduler(ctx, lab.SchedulerOptions{Verbosity: 4})
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.lab
}

// ownLab returns a lab that this test has for itself.
func ownLab(t *testing.T, options lab.Options) *lab.Lab {
	t.Helper()
	l, err := lab.Start(timeLimit(t), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	return l
}

// timeLimit bounds what a test waits for.
func timeLimit(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// forbidden returns the lines of a scheduler's log that tell of a right it lacks.
func forbidden(p *lab.Process) []string {
	var lines []string
	for line := range strings.Lines(p.Log()) {
		if strings.Contains(line, "forbidden") {
			lines = append(lines, line)
		}
	}
	return lines
}
