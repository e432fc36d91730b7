package snapshot

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

const rankingKey fwk.StateKey = v1alpha1.GroupName + "/ranking"

// Ranking is the scores of the adapters that passed, by node name.
type Ranking struct {
	byName map[string]placement.Scores
}

// Clone starts without a ranking: the scheduler clones a cycle to score another set of nodes.
func (r *Ranking) Clone() fwk.StateData { return &Ranking{} }

// Rank scores the nodes that passed all filters, whichever plugin's PreScore comes first.
func Rank(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	if r, err := readRanking(state); err == nil && r.byName != nil {
		return nil
	}
	c, status := CycleOf(state)
	if !status.IsSuccess() {
		return status
	}
	slots := make([]int, len(nodes))
	for i, info := range nodes {
		if slots[i], status = c.Slot(info.Node()); !status.IsSuccess() {
			return fwk.AsStatus(fmt.Errorf("ranking node %s, which no filter of ours has passed: %s", info.Node().Name, status.Message()))
		}
	}
	r := &Ranking{byName: make(map[string]placement.Scores, len(nodes))}
	logger := klog.FromContext(ctx).V(5)
	for i, scores := range c.Tally.Rank(slots) {
		r.byName[nodes[i].Node().Name] = scores
		if logger.Enabled() {
			logger.Info("Ranked adapter", "pod", klog.KObj(pod), "node", klog.KObj(nodes[i].Node()),
				"zoneCount", c.Tally.Count(slots[i], placement.ByZone), "hostCount", c.Tally.Count(slots[i], placement.ByHost),
				"count", c.Tally.Count(slots[i], placement.ByAdapter), "scores", scores)
		}
	}
	state.Write(rankingKey, r)
	return nil
}

// RankingOf returns the ranking of a cycle.
func RankingOf(state fwk.CycleState) (*Ranking, *fwk.Status) {
	r, err := readRanking(state)
	return r, fwk.AsStatus(err)
}

// Score returns a node's score by a criterion.
func (r *Ranking) Score(node string, criterion placement.Criterion) (int64, error) {
	scores, ranked := r.byName[node]
	if !ranked {
		return 0, fmt.Errorf("scoring node %s: it is not among the nodes that were ranked", node)
	}
	return scores[criterion], nil
}

func readRanking(state fwk.CycleState) (*Ranking, error) {
	data, err := state.Read(rankingKey)
	if err != nil {
		return nil, fmt.Errorf("reading the ranking that PreScore writes: %w", err)
	}
	r, ok := data.(*Ranking)
	if !ok {
		return nil, fmt.Errorf("reading the ranking that PreScore writes: got a %T", data)
	}
	return r, nil
}
