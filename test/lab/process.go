package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end by itself when it is asked to.
const stopGrace = 10 * time.Second

// Process is a program that the lab runs. It can be started again after it ended: same arguments, same port, same log.
type Process struct {
	name    string
	path    string
	args    []string
	logPath string
	// ready says why the program does not serve yet; nil when it does.
	ready func(context.Context) error
	// metrics is the URL of its metrics, if it serves any.
	metrics string

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

// newProcess describes a program whose output goes to <name>.log in dir. It does not start it.
func newProcess(dir, name, path string, ready func(context.Context) error, args ...string) *Process {
	exited := make(chan struct{})
	close(exited)
	return &Process{
		name: name, path: path, args: args, ready: ready, exited: exited,
		logPath: filepath.Join(dir, name+".log"),
	}
}

// Start runs the program and returns when it serves. The context bounds the wait, not the program's life.
func (p *Process) Start(ctx context.Context) error {
	if err := p.launch(); err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Exited():
			cancel(fmt.Errorf("%s ended", p.name))
		case <-ctx.Done():
		}
	}()
	if err := Wait(ctx, p.name+" serves", p.ready); err != nil {
		return fmt.Errorf("starting %s: %w; its log ends with:\n%s", p.name, err, p.logTail())
	}
	return nil
}

func (p *Process) launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
	default:
		return fmt.Errorf("it runs already")
	}
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening its log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(p.path, p.args...)
	cmd.Dir = filepath.Dir(p.logPath)
	cmd.Stdout, cmd.Stderr = log, log
	if err := spawn(cmd); err != nil {
		return err
	}
	exited := make(chan struct{})
	p.cmd, p.exited = cmd, exited
	go func() {
		// How it ended is of no interest: most are killed, and what they had to say is in the log.
		_ = cmd.Wait()
		close(exited)
	}()
	return nil
}

// Exited returns a channel that is closed when the program, as last started, has ended.
func (p *Process) Exited() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exited
}

// Stop asks the program to end and waits until it has; it kills a program that takes too long. kube-apiserver with
// open watches is one.
func (p *Process) Stop() {
	exited := p.Exited()
	p.signal(syscall.SIGTERM)
	select {
	case <-exited:
	case <-time.After(stopGrace):
		p.Kill()
	}
}

// Kill ends the program at once, as a crash of its machine would, and waits until it is gone. Somebody else may start
// it again meanwhile.
func (p *Process) Kill() {
	exited := p.Exited()
	p.signal(syscall.SIGKILL)
	<-exited
}

// Pause stops the program where it is, as a machine that swaps or is moved does. It neither works nor hears anything until
// Resume; connections to it stay open. A paused program can be killed.
func (p *Process) Pause() { p.signal(syscall.SIGSTOP) }

// Resume lets a paused program go on, which does not know that time has passed.
func (p *Process) Resume() { p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		// An error means that it has ended already, which is what the caller wants.
		_ = p.cmd.Process.Signal(s)
	}
}

// Log returns all that the program wrote so far, over all its starts.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return fmt.Sprintf("reading the log of %s: %v", p.name, err)
	}
	return string(text)
}

// LogPath is the file that the program's output goes to.
func (p *Process) LogPath() string { return p.logPath }

func (p *Process) logTail() string {
	const lines = 15
	all := strings.Split(strings.TrimSpace(p.Log()), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// serves returns a readiness check: a GET of the URL on loopback answers 200. The certificates are the programs' own,
// made at start, so there is nothing to verify them by.
func serves(url string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, res.Status)
		}
		return nil
	}
}
