// Package nomaxresourcecount limits on how many adapters a vpod is served: a source with two partitions has no use for
// a third consumer.
package nomaxresourcecount

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Name is the plugin's name in configurations.
const Name = "NoMaxResourceCount"

// Reason is why a node is refused.
const Reason = "adapter(s) beyond the adapter limit of the vpod"

// Args are the plugin's arguments.
type Args struct {
	rule.Args `json:",inline"`
	// NumPartitions is the most adapters of a vpod whose pods do not say, from 1. Unset is no limit.
	NumPartitions *int32 `json:"numPartitions,omitempty"`
}

func (a Args) validate() field.ErrorList {
	if a.NumPartitions != nil && *a.NumPartitions < 1 {
		return field.ErrorList{field.Invalid(field.NewPath("numPartitions"), *a.NumPartitions, "must be at least 1; leave it out for no limit")}
	}
	return nil
}

// NoMaxResourceCount is the plugin.
type NoMaxResourceCount struct {
	rule.Rule
}

var (
	_ fwk.PreFilterPlugin   = &NoMaxResourceCount{}
	_ fwk.FilterPlugin      = &NoMaxResourceCount{}
	_ fwk.EnqueueExtensions = &NoMaxResourceCount{}
	_ fwk.SignPlugin        = &NoMaxResourceCount{}
)

// New makes the plugin for a profile.
func New(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := rule.Decode(Name, obj, Args{}, Args.validate)
	if err != nil {
		return nil, err
	}
	profile.Limited = true
	if args.NumPartitions != nil {
		profile.DefaultLimit = int(*args.NumPartitions)
	}
	return &NoMaxResourceCount{Rule: rule.New(Name, profile)}, nil
}

// EventsToRegister names the events that help a vreplica that this plugin refused.
func (p *NoMaxResourceCount) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return append(rule.PreFilterEvents(), rule.LimitEvents()...), nil
}

// PreFilter begins the cycle and keeps the filter on.
func (p *NoMaxResourceCount) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return p.Filtering(ctx, state, pod, nodes)
}

// Filter refuses an adapter that would be one too many. Preemption there cannot help: the adapters in use are others.
func (p *NoMaxResourceCount) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	c, slot, status := rule.Slot(state, info)
	if !status.IsSuccess() {
		return status
	}
	v := c.Tally.WithinLimit(slot)
	if v.OK() {
		return nil
	}
	klog.FromContext(ctx).V(5).Info("Adapter would be one too many", "pod", klog.KObj(pod), "node", klog.KObj(info.Node()),
		"used", v.Used, "limit", v.Limit)
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, Reason)
}
