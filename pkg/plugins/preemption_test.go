package plugins_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Supposing that pods come and go, as preemption does, answers as a cluster in which they have come and gone; whichever
// plugin comes first keeps the tally.
func TestSupposedPodsCountAsIfTheyWereThere(t *testing.T) {
	const seed = 20261130
	hard := map[string]any{"whenUnsatisfiable": "DoNotSchedule"}
	args := map[string]any{"AvailabilityZonePriority": hard, "AvailabilityNodePriority": hard}
	rules := []string{"PodFitsResources", "NoMaxResourceCount", "EvenPodSpread*1", "AvailabilityZonePriority*1", "AvailabilityNodePriority*1"}
	for round := range 150 {
		random := rand.New(rand.NewPCG(seed, uint64(round)))
		rotation := round % len(rules)
		order := append(append([]string{}, rules[rotation:]...), rules[:rotation]...)
		if round%2 == 0 {
			order = append([]string{"Contenders"}, order...)
		}
		c := newCluster(t, enable(t, args, order...))
		var placed []*v1.Pod
		for i := range 6 {
			c.addNode(adapter(fmt.Sprint("a-", i), i, fmt.Sprint("z", i%2), fmt.Sprint("h", i%4), 1+random.IntN(3)))
		}
		for range 12 {
			pod := c.vreplica([]string{"x", "y"}[random.IntN(2)]).Obj()
			pod.Spec.NodeName = fmt.Sprint("a-", random.IntN(6))
			c.put(pod, pod.Spec.NodeName)
			placed = append(placed, pod)
		}
		waiting := c.vreplica("x").Annotation(v1alpha1.AnnotationMaxAdapters, "4").Obj()
		before := c.cycle(waiting)
		node := fmt.Sprint("a-", random.IntN(6))
		supposed := before.state.Clone()
		info, err := c.snapshot.Get(node)
		if err != nil {
			t.Fatal(err)
		}
		changed := info.Snapshot()

		newcomer := c.vreplica([]string{"x", "y"}[random.IntN(2)]).Obj()
		c.suppose(supposed, waiting, newcomer, changed, true)
		for _, pod := range placed {
			if pod.Spec.NodeName != node || random.IntN(2) == 0 {
				continue
			}
			c.suppose(supposed, waiting, pod, changed, false)
			if err := c.cache.RemovePod(klog.Background(), pod); err != nil {
				t.Fatal(err)
			}
		}
		unchanged := c.fw.RunFilterPlugins(c.ctx, before.state, waiting, info)
		want := before.status[node]
		if before.judged == 6 && unchanged.Message() != want.Message() {
			t.Fatalf("seed %d, round %d: supposing in a clone changed the cycle itself: %q, before %q", seed, round, unchanged.Message(), want.Message())
		}

		got := c.fw.RunFilterPlugins(c.ctx, supposed, waiting, changed)
		c.put(newcomer, node)
		after := c.cycle(waiting)
		info, _ = c.snapshot.Get(node)
		real := c.fw.RunFilterPlugins(c.ctx, after.state, waiting, info)
		if got.Code() != real.Code() || got.Message() != real.Message() {
			t.Fatalf("seed %d, round %d, order %v: supposed on %s: %v %q, really: %v %q", seed, round, order, node, got.Code(), got.Message(), real.Code(), real.Message())
		}
	}
}

// suppose adds a pod to a node, or removes it, in a cloned cycle.
func (c *cluster) suppose(state fwk.CycleState, waiting, pod *v1.Pod, info fwk.NodeInfo, add bool) {
	c.t.Helper()
	podInfo := c.podInfo(pod)
	var status *fwk.Status
	if add {
		info.AddPodInfo(podInfo)
		status = c.fw.RunPreFilterExtensionAddPod(c.ctx, state, waiting, podInfo, info)
	} else {
		if err := info.RemovePod(klog.Background(), pod); err != nil {
			c.t.Fatal(err)
		}
		status = c.fw.RunPreFilterExtensionRemovePod(c.ctx, state, waiting, podInfo, info)
	}
	if !status.IsSuccess() {
		c.t.Fatal(status.AsError())
	}
}
