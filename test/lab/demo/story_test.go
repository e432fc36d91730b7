package demo

import (
	"context"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/test/lab"
)

var update = flag.Bool("update", false, "write what the demo prints to its golden file")

const golden = "testdata/demo.txt"

// anyIndex leaves out what is a matter of time: which placeholder a message takes for an example, as vreplicas of a vpod are
// alike, and which of two hosts in one zone kube-scheduler takes for the first of two adapters.
func anyIndex(story string) string {
	return regexp.MustCompile(`(-vreplica-|mqtt-host-)\d+`).ReplaceAllString(story, "${1}N")
}

// The golden file is there because the same cluster and the same requests give the same placement, every time.
func TestStory(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	l, err := lab.Start(ctx, lab.Options{Controllers: lab.AllControllers, Kwok: true, NodeGrace: NodeGrace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	if err := Start(ctx, l, lab.SchedulerOptions{}); err != nil {
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
	if diff := cmp.Diff(anyIndex(string(want)), anyIndex(told.String())); diff != "" {
		t.Errorf("the demo tells another story; -update takes it over (-want +got):\n%s", diff)
	}
}
