package plugins_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// BenchmarkCycle is what a profile's plugins take to choose, through the framework's runtime and without an API server:
// one vreplica of a vpod that has 99, in a pool in 3 zones with 2 adapters a host, each of which serves 2 vreplicas of
// others. As in real life each placement changes a node before the next cycle.
func BenchmarkCycle(b *testing.B) {
	topologySpread := enable(b, nil, append([]string{"NodeResourcesFit*1", "PodTopologySpread*2"}, inTree...)...)
	for _, tc := range []struct {
		name    string
		profile *config.KubeSchedulerProfile
		// spread is what the vreplicas ask of the in-tree plugin.
		spread v1.UnsatisfiableConstraintAction
	}{
		{name: "Availability", profile: shipped(b, v1alpha1.SchedulerName)},
		{name: "MaxFillUp", profile: shipped(b, v1alpha1.SchedulerNameMaxFillUp)},
		{name: "TopologySpreadHard", profile: topologySpread, spread: v1.DoNotSchedule},
		{name: "TopologySpreadSoft", profile: topologySpread, spread: v1.ScheduleAnyway},
	} {
		for _, adapters := range []int{100, 1000, 5000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", tc.name, adapters), func(b *testing.B) {
				c := busyCluster(b, tc.profile, adapters)
				pod := c.vreplica("x")
				if tc.spread != "" {
					siblings := &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelVPod: "x"}}
					pod.SpreadConstraint(1, v1.LabelTopologyZone, tc.spread, siblings, nil, nil, nil, nil)
					pod.SpreadConstraint(1, v1.LabelHostname, tc.spread, siblings, nil, nil, nil, nil)
				}
				c.decideRepeatedly(b, pod.Obj(), 100)
			})
		}
	}
}

// BenchmarkAmongRealNodes is what a pool of 200 adapters pays for the rest of the cluster: nothing, or 5,000 nodes with 4
// ordinary pods each.
func BenchmarkAmongRealNodes(b *testing.B) {
	for _, realNodes := range []int{0, 5000} {
		b.Run(fmt.Sprint(realNodes), func(b *testing.B) {
			c := busyCluster(b, shipped(b, v1alpha1.SchedulerName), 200)
			for i := range realNodes {
				name := fmt.Sprint("real-", i)
				c.addNode(st.MakeNode().Name(name).Label(v1.LabelTopologyZone, fmt.Sprint("z", i%3)).
					Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "16", v1.ResourcePods: "110"}))
				for n := range 4 {
					pod := fmt.Sprint("ordinary-", i, "-", n)
					c.put(st.MakePod().Namespace("ns").Name(pod).UID(pod).Req(map[v1.ResourceName]string{v1.ResourceCPU: "100m"}).Obj(), name)
				}
			}
			c.decideRepeatedly(b, c.vreplica("x").Obj(), 100)
		})
	}
}

// busyCluster has adapters that all have room.
func busyCluster(b *testing.B, profile *config.KubeSchedulerProfile, adapters int) *cluster {
	c := newCluster(b, profile)
	for i := range adapters {
		name := fmt.Sprint("a-", i)
		c.addNode(adapter(name, i, fmt.Sprint("z", i%3), fmt.Sprint("h", i%3, "-", i/6), 20).Label(v1.LabelHostname, name))
		for n := range 2 {
			c.put(c.vreplica(fmt.Sprint("y", (i+n)/50)).Obj(), name)
		}
	}
	return c
}

// decideRepeatedly places the vreplicas of a vpod one after the other, and takes the oldest away so that there are never
// more than a number. Only the choice is measured: what the scheduler does beside is the same with all plugins.
func (c *cluster) decideRepeatedly(b *testing.B, pod *v1.Pod, most int) {
	b.ReportAllocs()
	var placed []*v1.Pod
	place := func(node string) {
		c.serial++
		next := pod.DeepCopy()
		next.Name, next.UID, next.Spec.NodeName = fmt.Sprint("next-", c.serial), types.UID(fmt.Sprint("next-", c.serial)), node
		c.put(next, node)
		placed = append(placed, next)
		if len(placed) == most {
			if err := c.cache.RemovePod(klog.Background(), placed[0]); err != nil {
				b.Fatal(err)
			}
			placed = placed[1:]
		}
		c.update()
	}
	c.update()
	for range most {
		place(c.decide(pod))
	}
	for b.Loop() {
		node := c.decide(pod)
		b.StopTimer()
		place(node)
		b.StartTimer()
	}
}

func (c *cluster) update() {
	if err := c.cache.UpdateSnapshot(klog.Background(), c.snapshot); err != nil {
		c.t.Fatal(err)
	}
}

// decide runs the plugins as the scheduler's loop does, and returns the node with the highest score.
func (c *cluster) decide(pod *v1.Pod) string {
	state := framework.NewCycleState()
	result, status, _ := c.fw.RunPreFilterPlugins(c.ctx, state, pod)
	if !status.IsSuccess() {
		c.t.Fatalf("PreFilter: %v", status)
	}
	nodes, _ := c.snapshot.NodeInfos().List()
	if !result.AllNodes() {
		nodes = make([]fwk.NodeInfo, 0, len(result.NodeNames))
		for name := range result.NodeNames {
			info, _ := c.snapshot.NodeInfos().Get(name)
			nodes = append(nodes, info)
		}
	}
	passed := make([]fwk.NodeInfo, 0, len(nodes))
	for _, info := range nodes {
		if c.fw.RunFilterPluginsWithNominatedPods(c.ctx, state, pod, info).IsSuccess() {
			passed = append(passed, info)
		}
	}
	return c.score(state, pod, passed)[0]
}
