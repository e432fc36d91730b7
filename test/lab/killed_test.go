package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// killedLab makes TestKilledLab, run by itself as a program of its own, the lab that is killed.
const killedLab = "VPOD_LAB_TO_KILL"

func TestKilledLabLeavesNothing(t *testing.T) {
	if os.Getenv(killedLab) != "" {
		liveUntilKilled(t)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), killedLab+"=1")
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	lines.Scan()
	dir, pids, ok := strings.Cut(lines.Text(), " ")
	must(t, cmd.Process.Kill())
	// It was killed, so there is an error, and it tells nothing.
	_ = cmd.Wait()
	if !ok {
		t.Fatalf("the lab did not come up, it said %q", lines.Text())
	}

	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	for _, pid := range strings.Fields(pids) {
		must(t, Wait(ctx, "process "+pid+" is gone", func(context.Context) error {
			number, err := strconv.Atoi(pid)
			must(t, err)
			if err := syscall.Kill(number, 0); !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("signalling it: %w", err)
			}
			return nil
		}))
	}
	must(t, sweep(os.TempDir()))
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data folder outlived the next start of a lab: %v", err)
	}
}

// liveUntilKilled starts a lab, prints its folder and its processes on one line, and never returns.
func liveUntilKilled(t *testing.T) {
	_, l := startLab(t, Options{Controllers: []string{"serviceaccount-controller"}, Kwok: true})
	line := l.Dir()
	for _, p := range l.processes {
		line += fmt.Sprintf(" %d", p.cmd.Process.Pid)
	}
	fmt.Println(line)
	select {}
}

func TestSweepSparesTheLiving(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	living, err := newFolder()
	must(t, err)
	dead, err := newFolder()
	must(t, err)
	must(t, dead.lock.Close())

	must(t, sweep(tmp))
	if _, err := os.Stat(living.path); err != nil {
		t.Errorf("the folder of a living lab: %v", err)
	}
	if _, err := os.Stat(dead.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a dead lab: %v, want that it does not exist", err)
	}
	must(t, living.remove())
}
