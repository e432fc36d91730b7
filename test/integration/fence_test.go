package integration

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// sharedPool returns a pool in the shared lab, whose adapters the scheduler there has seen.
func sharedPool(t *testing.T, adapters ...lab.Adapter) *pool {
	t.Helper()
	p := newPool(t, sharedLab(t), adapters...)
	p.seen()
	return p
}

// seen waits until the scheduler has seen all changes of nodes so far. Nodes and pods come to it on watches of their
// own, so that a vreplica may be there before an adapter that is older. It has seen the older changes of nodes once it
// binds a vreplica to a node made for that. Changes of pods need no fence: they come to it in their order.
func (p *pool) seen() {
	p.t.Helper()
	p.next["fences"]++
	fence := lab.Adapter{Pool: fmt.Sprintf("%s-fence-%d", p.name, p.next["fences"]), Capacity: 1}
	if err := p.CreateNode(p.t.Context(), fence.Node()); err != nil {
		p.t.Fatal(err)
	}
	v := p.vpod("fence")
	v.Pool = fence.Pool
	pods, nodes := p.Client().CoreV1().Pods(p.name), p.Client().CoreV1().Nodes()
	name := p.grow(v, 1)[0].Name
	err := lab.Wait(labtest.TimeLimit(p.t), "the scheduler has seen the nodes", func(ctx context.Context) error {
		pod, err := pods.Get(ctx, name, metav1.GetOptions{})
		if err == nil && pod.Spec.NodeName == "" {
			err = fmt.Errorf("pod %s waits: %s", name, lab.Reason(pod))
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := pods.Delete(p.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		p.t.Fatal(err)
	}
	if err := nodes.Delete(p.t.Context(), fence.Name(), metav1.DeleteOptions{}); err != nil {
		p.t.Fatal(err)
	}
}
