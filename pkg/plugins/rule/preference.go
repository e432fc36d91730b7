package rule

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Preference is a Rule that also scores adapters by a criterion.
type Preference struct {
	Rule
	Criterion placement.Criterion
}

var (
	_ fwk.PreScorePlugin  = Preference{}
	_ fwk.ScorePlugin     = Preference{}
	_ fwk.ScoreExtensions = Preference{}
)

// Prefer returns what makes a plugin that scores by a criterion, and has no arguments.
func Prefer(name string, criterion placement.Criterion) Factory {
	return func(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
		if _, err := Decode(name, obj, NoArgs{}, nil); err != nil {
			return nil, err
		}
		return Preference{Rule: New(name, profile), Criterion: criterion}, nil
	}
}

// PreScore ranks the nodes that passed, by all criteria at once.
func (r Preference) PreScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	return snapshot.Rank(ctx, state, pod, nodes)
}

// Score returns the ordinal, which depends on the node alone: the scheduler may keep it and use it for the next pod.
// What counts is computed from fresh state in NormalizeScore.
func (r Preference) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	c, slot, status := Slot(state, info)
	if !status.IsSuccess() {
		return 0, status
	}
	return int64(c.Adapter(slot).Ordinal), nil
}

// ScoreExtensions returns the normalizing.
func (r Preference) ScoreExtensions() fwk.ScoreExtensions { return r }

// NormalizeScore sets each node's score by its rank.
func (r Preference) NormalizeScore(_ context.Context, state fwk.CycleState, _ *v1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	ranking, status := snapshot.RankingOf(state)
	if !status.IsSuccess() {
		return status
	}
	for i := range scores {
		score, err := ranking.Score(scores[i].Name, r.Criterion)
		if err != nil {
			return fwk.AsStatus(err)
		}
		scores[i].Score = score
	}
	return nil
}
