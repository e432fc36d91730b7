package lab

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner is one goroutine, locked to one OS thread for as long as this process lives, that starts all programs: the
// kernel sends the parent-death signal when the thread that forked ends, and Go ends threads when it likes.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range work {
			start()
		}
	}()
	return work
})

// spawn starts the command so that it ends with this process, however this process ends.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = childAttributes()
	done := make(chan error)
	spawner() <- func() { done <- cmd.Start() }
	return <-done
}
