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

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

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
		if lines := labtest.Forbidden(shared.scheduler); len(lines) > 0 {
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
		ctx, cancel := context.WithTimeout(context.Background(), 2*labtest.Patience)
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
