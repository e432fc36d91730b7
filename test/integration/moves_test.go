package integration

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// where tells on which adapter each placed vreplica of the pool is.
func (p *pool) where() map[string]string {
	p.t.Helper()
	list, err := p.Client().CoreV1().Pods(p.name).List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	where := map[string]string{}
	for _, pod := range list.Items {
		if pod.Spec.NodeName != "" {
			where[fmt.Sprintf("%s (%s)", pod.Name, pod.UID)] = pod.Spec.NodeName
		}
	}
	return where
}

// placed waits until so many vreplicas are placed, and tells where.
func (p *pool) placed(n int) map[string]string {
	p.t.Helper()
	var where map[string]string
	err := lab.Wait(labtest.TimeLimit(p.t), fmt.Sprintf("%d vreplicas are placed", n), func(context.Context) error {
		if where = p.where(); len(where) != n {
			return fmt.Errorf("it is %d", len(where))
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return where
}

// unmoved checks that every vreplica is still there, and where it was.
func (p *pool) unmoved(before map[string]string) {
	p.t.Helper()
	now := p.where()
	for vreplica, node := range before {
		if now[vreplica] != node {
			p.t.Errorf("vreplica %s is on %q, want %q, where it was", vreplica, now[vreplica], node)
		}
	}
}

// C30 is the case, G4 the promise.
func TestG4_ScalingUpMovesNothing(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(10, "z1", "z2")...)
	x := p.vpod("x")
	p.grow(x, 4)
	p.settled(x, "2/2", 0)

	before := p.where()
	p.grow(x, 1)
	p.settled(x, "3/2", 0)
	p.unmoved(before)

	before = p.where()
	for i, zone := range []string{"z1", "z2", "z1"} {
		p.adapter(lab.Adapter{Ordinal: 2 + i, Zone: zone, Host: fmt.Sprintf("host-%d", 2+i), Capacity: 10})
	}
	p.seen()
	p.grow(x, 45)
	p.settled(x, "10/10/10/10/10", 0)
	p.unmoved(before)
}
