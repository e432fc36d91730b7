// Package perf measures placements on Kubernetes' own harness, scheduler_perf: a real API server and etcd, and our
// plugins beside what users would take instead. It is a module of its own so that users of vpod-scheduler do not carry
// the harness's dependencies.
package perf

import (
	"fmt"
	"os"
	"testing"

	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"

	"vpod.dev/vpod-scheduler/pkg/plugins"
)

// tableVariable names the environment variable that says which file the table goes to; without it, to the output.
const tableVariable = "BENCH_TABLE"

func TestMain(m *testing.M) {
	if err := perf.InitTests(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
}

func BenchmarkPerfScheduling(b *testing.B) {
	registry := runtime.Registry{}
	for name, factory := range plugins.All() {
		registry[name] = factory
	}
	m := &meter{}
	perf.RunBenchmarkPerfScheduling(b, "workloads.yaml", "vpod", registry, perf.WithNodeUpdateFn(m.attach))

	table := render(m.costs)
	if path := os.Getenv(tableVariable); path == "" {
		fmt.Print(table)
	} else if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
		b.Fatal(err)
	}
}
