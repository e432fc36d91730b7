package demo

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/test/lab"
)

var update = flag.Bool("update", false, "write what the demo prints to its golden file")

const golden = "testdata/demo.txt"

// The golden file is there because the same cluster and the same requests give the same placement, every time.
func TestStory(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	l, err := lab.Start(ctx, lab.Options{Controllers: lab.AllControllers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	if err := Furnish(ctx, l); err != nil {
		t.Fatal(err)
	}
	if _, err := l.StartScheduler(ctx, lab.SchedulerOptions{}); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	if err := Run(ctx, l, &told); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	if *update {
		if err := os.WriteFile(golden, []byte(told.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), told.String()); diff != "" {
		t.Errorf("the demo tells another story; -update takes it over (-want +got):\n%s", diff)
	}
}
