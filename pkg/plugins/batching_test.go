package plugins_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// With batching the scheduler keeps what it judged for one pod, and gives the next pod with the same signature the next
// best of it. Two clusters live the same random life under profiles without Contenders, and only one of them batches:
// adapters fill up, vpods reach their limits, nodes come, change and are cordoned. Each choice is among the best that are
// found without batching.
func TestBatchingChangesNoChoice(t *testing.T) {
	const seed, lives, batches = 20261130, 60, 20
	soft := map[string]any{"whenUnsatisfiable": "ScheduleAnyway"}
	args := map[string]any{"EvenPodSpread": soft, "AvailabilityZonePriority": soft, "AvailabilityNodePriority": soft}
	for name, tc := range map[string]struct {
		rules []string
		// wantBatches: the profile signs, so that there is something to prove.
		wantBatches bool
	}{
		"only filters":   {rules: []string{"NodeResourcesFit*1"}, wantBatches: true},
		"packs":          {rules: []string{"MaxFillUp*1"}},
		"lowest ordinal": {rules: []string{"LowestOrdinalPriority*1"}},
		"spreads softly": {rules: []string{"EvenPodSpread*101", "AvailabilityZonePriority*1030301", "AvailabilityNodePriority*10201", "LowestOrdinalPriority*1"}},
	} {
		t.Run(name, func(t *testing.T) {
			hinted, placed := 0, 0
			for n := range lives {
				rules := slices.Concat(inTree, []string{"PodFitsResources", "NoMaxResourceCount"}, tc.rules)
				plain, batching := newCluster(t, enable(t, args, rules...)), newCluster(t, enable(t, args, rules...))
				life := rand.New(rand.NewPCG(seed, uint64(n)))
				for batch := range batches {
					change := randomChange(life, batch)
					change(plain)
					change(batching)
					for range 1 + life.IntN(8) {
						pod := plain.vreplica([]string{"x", "y"}[batch%2]).Annotation(v1alpha1.AnnotationMaxAdapters, fmt.Sprint(1+batch%4)).Obj()
						batching.serial = plain.serial
						want := plain.cycle(pod).best
						got, hint := batching.batchedCycle(pod)
						if got == "" && len(want) == 0 {
							continue
						}
						if !slices.Contains(want, got) {
							t.Fatalf("seed %d, life %d, batch %d: placed on %q with batching (hint %q), want one of %q", seed, n, batch, got, hint, want)
						}
						placed++
						if got == hint {
							hinted++
						}
						plain.put(pod, got)
						batching.put(pod, got)
					}
				}
			}
			if tc.wantBatches != (hinted > 0) {
				t.Errorf("%d of %d placements were taken from a batch, want some: %t", hinted, placed, tc.wantBatches)
			}
		})
	}
}

// batchedCycle chooses as the scheduler's loop does with batching on: the hint is tried first, and if it passes nothing
// else is looked at. It returns the node, "" if the pod waits, and the hint.
func (c *cluster) batchedCycle(pod *v1.Pod) (node, hint string) {
	c.t.Helper()
	c.update()
	c.cycles++
	state, signature := framework.NewCycleState(), c.fw.SignPod(c.ctx, pod)
	if _, status, _ := c.fw.RunPreFilterPlugins(c.ctx, state, pod); !status.IsSuccess() {
		return "", ""
	}
	passing := func(nodes []fwk.NodeInfo) []fwk.NodeInfo {
		return slices.DeleteFunc(slices.Clone(nodes), func(info fwk.NodeInfo) bool {
			return !c.fw.RunFilterPluginsWithNominatedPods(c.ctx, state, pod, info).IsSuccess()
		})
	}
	hint = c.fw.GetNodeHint(c.ctx, pod, signature, state, c.cycles)
	var passed []fwk.NodeInfo
	if info, err := c.snapshot.NodeInfos().Get(hint); err == nil {
		passed = passing([]fwk.NodeInfo{info})
	}
	if len(passed) == 0 {
		nodes, _ := c.snapshot.NodeInfos().List()
		passed = passing(nodes)
	}
	switch len(passed) {
	case 0:
		return "", hint
	case 1:
		node = passed[0].Node().Name
		c.fw.StoreScheduleResults(c.ctx, signature, hint, node, nil, c.cycles)
		return node, hint
	}
	if status := c.fw.RunPreScorePlugins(c.ctx, state, pod, passed); !status.IsSuccess() {
		c.t.Fatalf("PreScore: %v", status)
	}
	scores, status := c.fw.RunScorePlugins(c.ctx, state, pod, passed)
	if !status.IsSuccess() {
		c.t.Fatalf("Score: %v", status)
	}
	sorted := framework.NewSortedScoredNodes(scores)
	node = sorted.Pop().Name
	c.fw.StoreScheduleResults(c.ctx, signature, hint, node, sorted, c.cycles)
	return node, hint
}
