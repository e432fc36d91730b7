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
	_ fwk.PreScorePlugin = Preference{}
	_ fwk.ScorePlugin    = Preference{}
	_ fwk.SignPlugin     = Preference{}
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

// SignPod refuses: the scheduler would give the next pod of the same kind the second best adapter of this cycle. Ranks are
// exact for the best alone, and each placement changes them.
func (r Preference) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Unschedulable, "each placement changes which adapter is the next best")
}

// PreScore ranks the nodes that passed, by all criteria at once.
func (r Preference) PreScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	return snapshot.Rank(ctx, state, pod, nodes)
}

// Score returns the rank of a node, which needs no normalizing.
func (r Preference) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	ranking, status := snapshot.RankingOf(state)
	if !status.IsSuccess() {
		return 0, status
	}
	score, err := ranking.Score(info.Node().Name, r.Criterion)
	return score, fwk.AsStatus(err)
}

// ScoreExtensions returns none.
func (r Preference) ScoreExtensions() fwk.ScoreExtensions { return nil }
