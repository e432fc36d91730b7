// Package labtest is what tests on labs have in common.
package labtest

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/test/lab"
)

// Patience bounds every wait: ample, so that a slow machine fails no test.
const Patience = 2 * time.Minute

// TimeLimit bounds what a test waits for.
func TimeLimit(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// OwnLab returns a lab that this test has for itself.
func OwnLab(t testing.TB, options lab.Options) *lab.Lab {
	t.Helper()
	l, err := lab.Start(TimeLimit(t), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	return l
}

// names counts the names by the test that has them: a test that is repeated on the same lab needs another one.
var names = struct {
	sync.Mutex
	count map[string]int
}{count: map[string]int{}}

var notInNames = regexp.MustCompile("[^a-z0-9]+")

// Name is a name for what a test creates. It is short enough for objects whose names build on it.
func Name(t testing.TB) string {
	name := strings.TrimPrefix(t.Name(), "Test")
	name = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(name) > 40 {
		name = strings.TrimRight(name[:40], "-")
	}
	names.Lock()
	defer names.Unlock()
	names.count[name]++
	if n := names.count[name]; n > 1 {
		name += fmt.Sprintf("-%d", n)
	}
	return name
}

// Forbidden returns the lines of a program's log that tell of a right that it lacks, or of a policy that refused it.
func Forbidden(p *lab.Process) []string {
	var lines []string
	for line := range strings.Lines(p.Log()) {
		if strings.Contains(line, "is forbidden: User") || strings.Contains(line, "denied request") {
			lines = append(lines, line)
		}
	}
	return lines
}
