package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// newImpatientPool is newPool for adapters whose vreplicas move when they are lost for so long.
func (s *stage) newImpatientPool(t testing.TB, evictionTimeout time.Duration, zones ...string) *pool {
	t.Helper()
	p := s.newSet(t, zones...)
	object := p.set.Pool(10)
	object.Spec.EvictionTimeout = &metav1.Duration{Duration: evictionTimeout}
	p.create(object)
	p.adaptersReady(len(zones))
	return p
}

// stayedExactly fails the test if not exactly so many vreplicas of those before are still placed.
func (p *pool) stayedExactly(name string, before map[string]bool, want int) {
	p.t.Helper()
	stayed := 0
	for uid := range p.uids(name) {
		if before[string(uid)] {
			stayed++
		}
	}
	if stayed != want {
		p.t.Errorf("%d vreplicas of %s are the same as before, want %d", stayed, name, want)
	}
}

// alive are the vreplicas of a VPod that are placed.
func (p *pool) alive(name string) map[string]bool {
	p.t.Helper()
	alive := map[string]bool{}
	for uid := range p.uids(name) {
		alive[string(uid)] = true
	}
	return alive
}

// X: 2/2/2, and z3 falls silent: X 3/3 soon after the timeout, each vreplica moved once. z3 comes back: nothing moves, and
// the next two go there.
func TestC26_WholeZoneOutage(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newImpatientPool(t, 3*time.Second, "z1", "z2", "z3")
	p.run("x", 6, "2/2/2")
	before := p.alive("x")
	p.must(p.StopHost(t.Context(), p.host(2)))
	p.nodeIs(2, "out of use", cordoned(v1alpha1.CordonHostNotReady))
	p.settled("x", "3/3/0")
	p.stayedExactly("x", before, 4)
	series := fmt.Sprintf(`vpod_controller_moved_vreplicas_total{pool="%s",reason="AdapterNotReady"} 2`, p.name)
	if metrics := p.fetch(t, "/metrics"); !strings.Contains(metrics, series) {
		t.Errorf("no metric %s", series)
	}

	after := p.uids("x")
	p.must(p.StartHost(t.Context(), p.host(2)))
	p.adapterReady(2, true) // kube-controller-manager marked the pod, and no kubelet is there to see that it runs
	p.adaptersReady(3)
	p.settled("x", "3/3/0")
	p.stayed("x", after)
	p.scale("x", 8)
	p.settled("x", "3/3/2")
	p.stayed("x", after)
}

// Where every adapter is lost, nothing moves. When one is back, the vreplicas of the others go there.
func TestG5_OutageOfEverythingMovesNothing(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newImpatientPool(t, 2*time.Second, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	p.adapterReady(0, false)
	p.adapterReady(1, false)
	for ordinal := range 2 {
		p.nodeIs(ordinal, "lost", cordoned(v1alpha1.CordonLost))
	}
	p.stayed("x", before)
	p.adapterReady(1, true)
	p.settled("x", "0/4")
	p.adapterReady(0, true)
	p.adaptersReady(2)
	p.settled("x", "0/4")
}

// An adapter that restarts in time keeps its vreplicas, and a rolling restart of all moves nothing.
func TestG4_RestartsMoveNothing(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2", "z3")
	p.run("x", 6, "2/2/2")
	before := p.uids("x")
	_, err := p.Kubectl(t.Context(), "-n", p.name, "rollout", "restart", "statefulset", p.name)
	p.must(err)
	_, err = p.Kubectl(t.Context(), "-n", p.name, "rollout", "status", "statefulset", p.name, "--timeout=60s")
	p.must(err)
	p.adaptersReady(3)
	p.settled("x", "2/2/2")
	p.stayed("x", before)
}

// A StatefulSet that is replaced without its pods, to change what cannot be changed in place, keeps its vreplicas.
func TestG4_ReplacedStatefulSetKeepsVReplicas(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	_, err := p.Kubectl(t.Context(), "-n", p.name, "delete", "statefulset", p.name, "--cascade=orphan")
	p.must(err)
	p.nodeIs(0, "out of use", cordoned(v1alpha1.CordonRemoved))
	p.stayed("x", before)
	set := p.set
	set.Replicas = 2
	p.create(set.StatefulSet())
	p.adaptersReady(2)
	p.settled("x", "2/2")
	p.stayed("x", before)
}

// Two adapters are removed, and their nodes with them: the vreplicas move at once, and no placeholder and no status names
// what is gone.
func TestC48_RemovedAdaptersLoseTheirVReplicasAtOnce(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2", "z3", "z4")
	p.run("x", 8, "2/2/2/2")
	before := p.alive("x")
	p.patch("statefulset", p.name, `{"spec":{"replicas":2}}`)
	p.must(p.Client().CoreV1().Nodes().Delete(t.Context(), p.node(3), metav1.DeleteOptions{}))
	start := time.Now()
	p.settled("x", "4/4")
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	p.stayedExactly("x", before, 4)
	p.adaptersReady(2)
}

// A pool that is deleted keeps its nodes, out of use, until they are empty.
func TestG6_DeletedPoolStaysUntilItIsEmpty(t *testing.T) {
	t.Parallel()
	for _, cascade := range []string{"background", "foreground"} {
		t.Run(cascade, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newPool(t, 10, "z1", "z2")
			p.run("x", 4, "2/2")
			before := p.uids("x")
			_, err := p.Kubectl(t.Context(), "delete", "adapterpool", p.name, "--wait=false", "--cascade="+cascade)
			p.must(err)
			for ordinal := range 2 {
				p.nodeIs(ordinal, "out of use", cordoned(v1alpha1.CordonRemoved))
			}
			p.stayed("x", before)
			_, err = p.Kubectl(t.Context(), "-n", p.name, "delete", "vpod", "x")
			p.must(err)
			p.eventually("pool and nodes are gone", func(ctx context.Context) error {
				nodes, err := p.virtualNodes(ctx)
				if err != nil {
					return err
				}
				_, err = p.Kubectl(ctx, "get", "adapterpool", p.name)
				if len(nodes) > 0 || err == nil {
					return fmt.Errorf("%d nodes are there, pool: %v", len(nodes), err)
				}
				return nil
			})
		})
	}
}
