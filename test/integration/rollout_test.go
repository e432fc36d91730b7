package integration

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// The capacity leaves room for one more vreplica than x has, so every mistake shows: an old one that counts while it
// terminates, or its room that is given away before it is gone.
func TestC27_RollingReplacementEndsEven(t *testing.T) {
	t.Parallel()
	for name, oldFirst := range map[string]bool{"the new one first": false, "the old one first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPool(t, zones(2, "z1", "z2", "z3")...)
			x := p.vpod("x")
			audit := p.audit(2)
			p.grow(x, 5, withFinalizer)
			p.settled(x, "2/2/1", 0)

			var last *corev1.Pod
			for i := range 5 {
				old := fmt.Sprintf("x-vreplica-%d", i)
				if oldFirst {
					p.delete(old)
				}
				last = p.grow(x, 1)[0]
				p.bound(labtest.TimeLimit(t), last)
				if !oldFirst {
					p.delete(old)
				}
				p.release(old)
			}
			p.settled(x, "2/1/2", 0)
			audit.hasSeen(t, last)
			audit.check(t)
		})
	}
}

// hasSeen waits until the ledger has seen a pod's placement, and so all that was before it.
func (b *ledger) hasSeen(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	err := lab.Wait(labtest.TimeLimit(t), "the ledger has seen all", func(context.Context) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.nodes[pod.UID] == "" {
			return fmt.Errorf("it has not seen %s placed", pod.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
