package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func TestServedConfigurationOutlivesGarbageCollection(t *testing.T) {
	// Longer than a pipe holds.
	want := "kind: KubeSchedulerConfiguration" + strings.Repeat(" ", 100_000)
	flags := app.NewSchedulerCommand().Flags()
	if err := serveAs(flags, []byte(want)); err != nil {
		t.Fatal(err)
	}
	path := flags.Lookup("config").Value.String()
	// What is collected is closed in the background. Another object that was collected shows that this had its time.
	closed := make(chan struct{})
	runtime.AddCleanup(new([64]byte), func(struct{}) { close(closed) }, struct{}{})
	deadline := time.After(time.Minute)
	for done := false; !done; {
		runtime.GC()
		select {
		case <-closed:
			done = true
		case <-deadline:
			t.Fatal("the garbage collector cleans nothing up")
		default:
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("read %d bytes from %s, want %d; error %v", len(got), path, len(want), err)
	}
}
