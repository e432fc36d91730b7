package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestUnknownArgument(t *testing.T) {
	err := run(t.Context(), []string{"demonstrate"}, nil)
	if err == nil || !strings.Contains(err.Error(), `unexpected argument "demonstrate"`) {
		t.Errorf("got %v", err)
	}
}

// screen ends the lab as soon as it has printed how to use it.
type screen struct {
	text string
	done context.CancelFunc
}

func (s *screen) Write(p []byte) (int, error) {
	s.text += string(p)
	s.done()
	return len(p), nil
}

func TestStayUntilInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &screen{done: cancel}
	if err := run(ctx, nil, s); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`export KUBECONFIG=(\S+)`).FindStringSubmatch(s.text)
	if line == nil {
		t.Fatalf("no KUBECONFIG line in:\n%s", s.text)
	}
	if _, err := os.Stat(line[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lab's data is still there: %v", err)
	}
}
