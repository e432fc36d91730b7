package snapshot

import (
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// Whatever happens in a cluster, controllers see in the API objects the pool that the scheduler sees in its snapshot.
func TestPoolOfObjectsIsThePoolOfTheScheduler(t *testing.T) {
	const seed = 20261201
	w := newWorld(t, rand.New(rand.NewPCG(seed, 1)))
	cached := NewCache(v1alpha1.ResourceVReplicas)
	for step := range steps {
		what := w.step()
		if w.random.IntN(4) > 0 {
			continue
		}
		cached.Update(w.nodes())
		want := describe(cached)
		for name := range cached.pools {
			var nodes []*v1.Node
			for _, node := range w.known {
				if node.Labels[v1alpha1.LabelPool] == name {
					nodes = append(nodes, node)
				}
			}
			got := PoolOf(nodes, w.pods)
			for _, of := range want[name] {
				if diff := gocmp.Diff(of, see(got, of)); diff != "" {
					t.Fatalf("seed %d, step %d (%s): pool %s differs (-scheduler +objects):\n%s", seed, step, what, name, diff)
				}
			}
			if want := cached.pools[name].Len(); got.Len() != want {
				t.Fatalf("seed %d, step %d (%s): pool %s has %d adapters, want %d", seed, step, what, name, got.Len(), want)
			}
		}
	}
}

// see tells of a pool what describe tells of the scheduler's; taints are not part of it.
func see(p *placement.Pool, of view) view {
	slot, found := p.Slot(of.Node)
	if !found {
		return view{Node: of.Node}
	}
	return view{Adapter: p.At(slot), Rival: p.Rival(slot), Taints: of.Taints, Node: of.Node, Classes: classes(p, slot)}
}

func TestPoolOfCountsBoundPlaceholders(t *testing.T) {
	node := st.MakeNode().Name("pool-3").Label(v1alpha1.LabelPool, "pool").Label(v1alpha1.LabelOrdinal, "3").
		Label(v1.LabelTopologyZone, "z1").Label(v1alpha1.LabelHost, "h1").
		Capacity(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "5"}).Obj()
	broken := st.MakeNode().Name("pool-x").Label(v1alpha1.LabelPool, "pool").Label(v1alpha1.LabelOrdinal, "x").Obj()
	placeholder := func(name string) *st.PodWrapper {
		return st.MakePod().Namespace("ns").Name(name).UID(name).Label(v1alpha1.LabelVPod, "x").Node("pool-3").
			Req(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "1"})
	}
	x := placement.VPod{Namespace: "ns", Kind: "VPod", Name: "x"}
	for name, tc := range map[string]struct {
		pods      []*v1.Pod
		wantFree  int64
		wantCount int
	}{
		"none":            {wantFree: 5},
		"running":         {pods: []*v1.Pod{placeholder("x-0").Phase(v1.PodRunning).Obj()}, wantFree: 4, wantCount: 1},
		"not admitted":    {pods: []*v1.Pod{placeholder("x-0").Phase(v1.PodPending).Obj()}, wantFree: 4, wantCount: 1},
		"terminating":     {pods: []*v1.Pod{placeholder("x-0").Terminating().Obj()}, wantFree: 4},
		"waiting":         {pods: []*v1.Pod{placeholder("x-0").Node("").Obj()}, wantFree: 5},
		"failed":          {pods: []*v1.Pod{placeholder("x-0").Phase(v1.PodFailed).Obj()}, wantFree: 5},
		"succeeded":       {pods: []*v1.Pod{placeholder("x-0").Phase(v1.PodSucceeded).Obj()}, wantFree: 5},
		"bound elsewhere": {pods: []*v1.Pod{placeholder("x-0").Node("pool-4").Obj()}, wantFree: 5},
		"of another vpod": {pods: []*v1.Pod{placeholder("y-0").Label(v1alpha1.LabelVPod, "y").Obj()}, wantFree: 4},
		"of two containers, each with a request, and beyond the capacity": {
			pods: []*v1.Pod{
				placeholder("x-0").Req(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "4"}).Obj(), placeholder("x-1").Obj(),
			},
			wantFree: -1, wantCount: 6,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := PoolOf([]*v1.Node{node, broken}, tc.pods)
			slot, found := p.Slot("pool-3")
			if !found || p.Len() != 1 {
				t.Fatalf("%d adapters, pool-3 among them: %t, want it alone", p.Len(), found)
			}
			want := placement.Adapter{
				Name: "pool-3", Ordinal: 3, Zone: "z1", Host: "h1", Capacity: 5, Free: tc.wantFree,
				Born: node.CreationTimestamp.UnixNano(),
			}
			if diff := gocmp.Diff(want, p.At(slot)); diff != "" {
				t.Errorf("adapter (-want +got):\n%s", diff)
			}
			if got := p.Tally(placement.Request{VPod: x}).Count(slot, placement.ByAdapter); got != tc.wantCount {
				t.Errorf("%d vreplicas, want %d", got, tc.wantCount)
			}
		})
	}
}
