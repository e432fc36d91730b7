// Package contenders narrows a cycle to the adapters that can win. All rules depend on an adapter's counts of zone,
// host and adapter and on its ordinal, so of those alike in the counts only the lowest ordinal has to be judged: a few
// dozen in any pool, instead of thousands.
package contenders

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Name is the plugin's name in configurations.
const Name = "Contenders"

// Reason is why an attempt ends that will be repeated over all adapters.
const Reason = "adapter(s) that were to win are refused by a rule that is not ours; all adapters are judged next"

// maxRetries bounds what is remembered of vreplicas that were deleted before their next attempt.
const maxRetries = 1000

// Contenders is the plugin. The scheduling loop, which runs one cycle at a time, is its only caller.
type Contenders struct {
	rule.Rule
	handle fwk.Handle
	// retries are the pods whose last attempt failed because it was narrowed.
	retries sets.Set[types.UID]
}

var (
	_ fwk.PreFilterPlugin   = &Contenders{}
	_ fwk.PostFilterPlugin  = &Contenders{}
	_ fwk.EnqueueExtensions = &Contenders{}
	_ fwk.SignPlugin        = &Contenders{}
)

// New makes the plugin for a profile.
func New(_ context.Context, obj runtime.Object, profile *snapshot.Profile, handle fwk.Handle) (fwk.Plugin, error) {
	if _, err := rule.Decode(Name, obj, rule.NoArgs{}, nil); err != nil {
		return nil, err
	}
	return &Contenders{Rule: rule.New(Name, profile), handle: handle, retries: sets.New[types.UID]()}, nil
}

// SignPod refuses: the next pod of the same kind has other contenders, which results kept from this one lack.
func (p *Contenders) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Unschedulable, "each placement changes the contenders")
}

// PreFilter narrows the cycle. It does not where no adapter passes our rules, so that all are judged, the reasons are told
// and preemption works; nor where a preemptor is nominated to a contender, since only the filters see the room that it
// holds; nor where the last attempt failed because it was narrowed.
func (p *Contenders) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c, status := p.Begin(ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return nil, status
	}
	retry := p.retries.Has(pod.UID)
	p.retries.Delete(pod.UID)
	slots := c.Tally.Contenders(p.Profile.Rules)
	if retry || len(slots) == 0 || p.nominated(c, slots) {
		return nil, nil
	}
	klog.FromContext(ctx).V(4).Info("Narrowed to contenders", "pod", klog.KObj(pod), "eligible", c.Tally.Eligible(), "contenders", len(slots))
	return c.ToContenders(slots), nil
}

// nominated says whether a preemptor waits for room on one of the adapters.
func (p *Contenders) nominated(c *snapshot.Cycle, slots []int) bool {
	return slices.ContainsFunc(slots, func(slot int) bool {
		return len(p.handle.NominatedPodsForNode(c.Adapter(slot).Name)) > 0
	})
}

// PostFilter repeats an attempt over all adapters if a filter refused all contenders: adapters that were not judged may
// pass it. It ends the attempt, so that nothing is preempted for a vreplica that may have room.
func (p *Contenders) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, _ fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	c, status := snapshot.CycleOf(state)
	if !status.IsSuccess() || !c.OnlyContenders() {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if p.retries.Len() >= maxRetries {
		p.retries.Clear()
	}
	p.retries.Insert(pod.UID)
	p.handle.Activate(klog.FromContext(ctx), map[string]*v1.Pod{klog.KObj(pod).String(): pod})
	return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, Reason)
}
