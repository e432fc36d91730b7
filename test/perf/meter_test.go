package perf

import (
	"context"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"
	"k8s.io/kubernetes/test/utils/client-go/ktesting"
)

// points are the extension points whose work grows with the number of nodes, in the order of a cycle.
var points = []string{schedulermetrics.PreFilter, schedulermetrics.Filter, schedulermetrics.PreScore, schedulermetrics.Score}

// cost is what one workload took, from the first attempt to the last binding.
type cost struct {
	// rules is the test case, adapters the workload.
	rules, adapters string
	placements      int
	wall            time.Duration
	// cycles are the durations of the scheduling algorithm, ascending; attempts that failed included.
	cycles []time.Duration
	// points is the total time of each extension point.
	points map[string]time.Duration
	// cpu is that of the process, which is the scheduler, the API server and what creates the pods.
	cpu time.Duration
	// heap is the most that the process had on its heap, in bytes.
	heap uint64
}

// meter measures each workload. The harness's own figures are not exact enough to compare with: it takes the rate by
// the full second, and knows percentiles of the algorithm only by buckets that begin at a millisecond.
type meter struct {
	costs []cost
	// seen is the scheduler of the current workload.
	seen *scheduler.Scheduler

	mu      sync.Mutex
	started time.Time
	cpu     time.Duration
	profile string
	cycles  []time.Duration
}

// attach begins to measure a workload once it has its nodes; the harness calls it after each createNodes.
func (m *meter) attach(tCtx ktesting.TContext, sched *scheduler.Scheduler, w *perf.Workload, _ *v1.NodeList) error {
	if m.seen == sched {
		return nil
	}
	want, err := w.GetParam("measured")
	if err != nil {
		return err
	}
	m.seen, m.started, m.cycles = sched, time.Time{}, nil
	schedulePod := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, fw framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		start := time.Now()
		m.begin(start, fw.ProfileName())
		defer func() { m.end(start) }()
		return schedulePod(ctx, fw, state, pod)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		m.watch(tCtx, want)
	}()
	tCtx.Cleanup(func() { <-watched })
	return nil
}

func (m *meter) begin(at time.Time, profile string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started.IsZero() {
		m.started, m.cpu, m.profile = at, cpuTime(), profile
	}
}

func (m *meter) end(start time.Time) {
	took := time.Since(start)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cycles = append(m.cycles, took)
}

// watch waits for the last binding and adds up.
func (m *meter) watch(tCtx ktesting.TContext, want int) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	var heap uint64
	for m.bound() < want {
		select {
		case <-tCtx.Done():
			tCtx.Errorf("only %d of %d vreplicas were placed", m.bound(), want)
			return
		case <-ticker.C:
			heap = max(heap, heapInUse())
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := strings.Split(tCtx.Name(), "/")
	c := cost{
		rules: name[1], adapters: strings.TrimSuffix(name[2], "Adapters"), placements: want, heap: heap,
		wall: time.Since(m.started), cpu: cpuTime() - m.cpu, cycles: m.cycles, points: map[string]time.Duration{},
	}
	slices.Sort(c.cycles)
	gathered, err := testutil.GatherMetrics(legacyregistry.DefaultGatherer)
	if err != nil {
		tCtx.Errorf("gathering metrics: %v", err)
		return
	}
	for _, point := range points {
		// A point that no plugin is for is not there.
		durations, err := gathered.GetHistogramVec("scheduler_framework_extension_point_duration_seconds", map[string]string{"extension_point": point})
		if err == nil {
			c.points[point] = time.Duration(durations.Average() * float64(durations.GetAggregatedSampleCount()) * float64(time.Second))
		}
	}
	m.costs = append(m.costs, c)
}

// bound is the number of vreplicas that were bound.
func (m *meter) bound() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started.IsZero() {
		return 0
	}
	var metric dto.Metric
	bindings := schedulermetrics.FrameworkExtensionPointDuration.WithLabelValues(schedulermetrics.Bind, fwk.Success.String(), m.profile)
	if bindings.(interface{ Write(*dto.Metric) error }).Write(&metric) != nil {
		return 0
	}
	return int(metric.GetHistogram().GetSampleCount())
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestCPUTimeAndHeapAreMeasured(t *testing.T) {
	if cpuTime() <= 0 || heapInUse() == 0 {
		t.Errorf("got %v CPU and %d bytes, want something", cpuTime(), heapInUse())
	}
}
