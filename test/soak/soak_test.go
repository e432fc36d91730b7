package soak

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

var (
	soakDuration = flag.Duration("soak.duration", 3*time.Minute, "how long TestSoak has things happen")
	soakSteps    = flag.Int("soak.steps", 0, "how many things TestSoak has happen at most; 0: as many as there is time for")
	soakSeed     = flag.Uint64("soak.seed", 20261130, "seed of what happens in TestSoak")
)

// kept is where the logs of a run that failed go.
const kept = "../../_artifacts/soak"

// slow is how long a step may take before the story tells what it waited for.
const slow = 15 * time.Second

// soak is a run.
type soak struct {
	*driver
	t    *testing.T
	plan *plan
	// steps are what happened between the beginning and the end.
	steps int
	// happened counts actions by their kind.
	happened map[string]int
	slowest  time.Duration
	slowStep string
	breaches int
}

// For as long as one likes, random things happen to a whole installation, one after the other, and now and then many at
// once. All the time, and each time that all has come to rest, what is promised holds.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	ctrllog.SetLogger(klog.Background())
	s := start(t)
	until := time.Now().Add(*soakDuration)
	for ; time.Now().Before(until) && (*soakSteps == 0 || s.steps < *soakSteps) && !t.Failed(); s.steps++ {
		s.step(fmt.Sprint(s.steps), s.plan.next())
	}
	if !t.Failed() {
		s.recover()
	}
	s.sum()
}

func start(t *testing.T) *soak {
	l := labtest.OwnLab(t, lab.Options{Controllers: lab.AllControllers, Kwok: true, NodeGrace: nodeGrace})
	s := &soak{
		driver: &driver{Lab: l, teams: map[string][]*replica{}}, t: t, plan: newPlan(*soakSeed), happened: map[string]int{},
	}
	t.Cleanup(s.keepLogs)
	t.Logf("seed %d", *soakSeed)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := l.StartKubeScheduler(ctx, lab.SchedulerOptions{Args: []string{"--leader-elect=false"}})
	must(err)
	s.teams[kubeScheduler] = []*replica{newReplica(kubeScheduler, p)}
	must(l.Install(ctx))
	s.witness, err = newWitness(t.Context(), l.Config(), l.Objects().Scheme())
	must(err)
	for i := range 2 {
		p, err = l.StartScheduler(ctx, lab.SchedulerOptions{Verbosity: 3, Args: lab.FastFailover})
		must(err)
		s.teams[scheduler] = append(s.teams[scheduler], newReplica(fmt.Sprint(scheduler, i), p))
		p, err = l.StartController(ctx, lab.ControllerOptions{Verbosity: 3, Args: append([]string{heartbeats, drainPatience}, lab.FastFailover...)})
		must(err)
		s.teams[controller] = append(s.teams[controller], newReplica(fmt.Sprint(controller, i), p))
	}
	s.keepReplicas()
	must(s.furnish(ctx, s.plan))
	s.step("start", s.plan.opening())
	return s
}

func (s *soak) keepReplicas() {
	ctx, cancel := context.WithCancel(s.t.Context())
	var wg sync.WaitGroup
	for _, r := range slices.Concat(s.teams[scheduler], s.teams[controller], s.teams[kubeScheduler]) {
		wg.Go(func() { r.keep(ctx) })
		s.t.Cleanup(r.Kill)
	}
	s.t.Cleanup(func() { cancel(); wg.Wait() })
}

// step has something happen, and waits until all has come to rest.
func (s *soak) step(number string, a action) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*patience)
	defer cancel()
	detail, err := a.do(ctx, s.driver)
	line := fmt.Sprintf("%s %s: %s: %s", time.Now().Format("15:04:05.000"), number, a.kind, a.text)
	if detail != "" {
		line += " (" + detail + ")"
	}
	s.happened[a.kind]++
	if err == nil {
		began := time.Now()
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		defer cancel()
		var waited []string
		waited, err = s.settle(ctx)
		took := time.Since(began).Round(10 * time.Millisecond)
		line += fmt.Sprintf(": %s", took)
		if took > s.slowest {
			s.slowest, s.slowStep = took, line
		}
		if took > slow {
			line += ", at last for\n" + strings.Join(waited[max(0, len(waited)-4):], "\n")
		}
	}
	s.t.Log(line)
	breaches, _ := s.witness.report()
	for _, b := range breaches[s.breaches:] {
		s.t.Errorf("step %s: %s", number, b)
	}
	s.breaches = len(breaches)
	if err != nil {
		s.t.Errorf("step %s: %v", number, err)
	}
}

// recover puts all in order, and looks at it once more.
func (s *soak) recover() {
	for _, a := range s.plan.recovery() {
		s.step("end", a)
	}
	s.step("end", action{kind: "recover", text: "dismiss guests", do: func(ctx context.Context, d *driver) (string, error) {
		return "", d.dismissGuests(ctx)
	}})
	rest := *s.plan.rest()
	rest.kind = "recover"
	s.step("end", rest)
}

// sum tells what the run was like.
func (s *soak) sum() {
	s.checkLogs()
	_, tally := s.witness.report()
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.happened)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, s.happened[kind]))
	}
	s.t.Logf("seed %d, %d steps: %s", *soakSeed, s.steps, strings.Join(kinds, ", "))
	s.t.Logf("%s; %d breaches", tally, s.breaches)
	if len(tally.notes) > 0 {
		s.t.Logf("what the scheduler should not have done:\n%s", strings.Join(tally.notes, "\n"))
	}
	s.t.Logf("schedulers ended because of an event that they missed: %v", s.corrupted())
	s.t.Logf("slowest to settle: %s", s.slowStep)
	s.t.Logf("again with -soak.seed=%d -soak.steps=%d", *soakSeed, s.steps)
}

// checkLogs looks for what our programs may not try, and for what no program may do.
func (s *soak) checkLogs() {
	for _, r := range slices.Concat(s.teams[scheduler], s.teams[controller]) {
		for line := range strings.Lines(r.Log()) {
			isRefused := strings.Contains(line, "is forbidden: User") && !s.isAPIServerNew(line)
			if isRefused || strings.Contains(line, "ValidatingAdmissionPolicy") || strings.Contains(line, "panic") {
				s.t.Errorf("%s: %s", r.name, line)
			}
		}
	}
}

// corrupted counts how often a scheduler ended by itself: where a pod goes and another one comes with the same name while a
// scheduler sees neither, as when the API server restarts, Kubernetes 1.37 takes its cache for corrupted.
func (s *soak) corrupted() map[string]int {
	times := map[string]int{}
	for _, r := range slices.Concat(s.teams[kubeScheduler], s.teams[scheduler]) {
		if n := strings.Count(r.Log(), "Scheduler cache is corrupted"); n > 0 {
			times[r.name] = n
		}
	}
	return times
}

// isAPIServerNew says whether a line was logged when the API server had just started: until it has read all roles, it
// refuses everybody something.
func (s *soak) isAPIServerNew(line string) bool {
	const about = 10 * time.Second
	words := strings.Fields(line)
	if len(words) < 2 {
		return false
	}
	at, err := time.Parse("15:04:05.000000", words[1])
	return err == nil && slices.ContainsFunc(s.restarts, func(restart time.Time) bool {
		since := timeOfDay(at) - timeOfDay(restart)
		return since > -about && since < about
	})
}

func timeOfDay(t time.Time) time.Duration {
	hour, minute, second := t.Clock()
	return time.Duration(hour*3600+minute*60+second) * time.Second
}

// keepLogs saves what the processes of a run that failed, or that somebody looks at, had to say.
func (s *soak) keepLogs() {
	if !s.t.Failed() && !testing.Verbose() {
		return
	}
	logs, err := filepath.Glob(filepath.Join(s.Dir(), "*.log"))
	if err != nil {
		s.t.Error(err)
	}
	dir := filepath.Join(kept, fmt.Sprint(*soakSeed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Error(err)
	}
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(log)), content, 0o644)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
	s.t.Logf("the logs are in %s", dir)
}
