package lab

import (
	"context"
	"testing"
	"time"
)

func TestStoppedHostIsUnreachableUntilItStarts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := Start(ctx, Options{Controllers: []string{"node-lifecycle-controller"}, Kwok: true, NodeGrace: 6 * time.Second})
	must(t, err)
	t.Cleanup(l.Stop)
	for _, name := range []string{"lives", "dies"} {
		must(t, l.CreateNode(ctx, Host(name, "")))
	}
	must(t, l.StopHost(ctx, "dies"))
	must(t, l.WaitForHost(ctx, "dies", false))
	must(t, l.WaitForHost(ctx, "lives", true))
	must(t, l.StartHost(ctx, "dies"))
	must(t, l.WaitForHost(ctx, "dies", true))
}
