package main

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestServedConfigurationOutlivesGarbageCollection(t *testing.T) {
	path, err := serve([]byte("kind: KubeSchedulerConfiguration"))
	if err != nil {
		t.Fatal(err)
	}
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
	if got, err := os.ReadFile(path); err != nil || string(got) != "kind: KubeSchedulerConfiguration" {
		t.Errorf("read %q from %s, error %v", got, path, err)
	}
}
