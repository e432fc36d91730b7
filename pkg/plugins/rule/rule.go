// Package rule holds what every placement plugin does alike: share one cycle, refuse what is no vreplica, look at the
// pool's adapters alone, and wake waiting vreplicas. A plugin embeds a Rule, or a Preference if it scores, and adds
// what is its own.
package rule

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Factory makes a plugin for a profile, from its arguments.
type Factory = func(context.Context, runtime.Object, *snapshot.Profile, fwk.Handle) (fwk.Plugin, error)

// Rule is the part of a plugin that begins a cycle and keeps it right. It filters nothing.
type Rule struct {
	name    string
	Profile *snapshot.Profile
}

var (
	_ fwk.PreFilterPlugin     = Rule{}
	_ fwk.PreFilterExtensions = Rule{}
	_ fwk.EnqueueExtensions   = Rule{}
	_ fwk.SignPlugin          = Rule{}
)

// New returns the rule of a plugin in a profile.
func New(name string, profile *snapshot.Profile) Rule { return Rule{name: name, Profile: profile} }

// Name returns the plugin's name.
func (r Rule) Name() string { return r.name }

// EventsToRegister names the events that help a vreplica that PreFilter refused.
func (r Rule) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return PreFilterEvents(), nil
}

// SignPod says what of a pod the rules depend on.
func (r Rule) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	v, err := snapshot.VreplicaOf(pod, r.Profile.Resource)
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	return []fwk.SignFragment{{Key: v1alpha1.GroupName + "/vreplica", Value: v}}, nil
}

// PreFilter begins the cycle for a plugin that does not filter, and skips the plugin from there on.
func (r Rule) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c, status := r.Begin(ctx, state, pod, nodes)
	if status.IsSuccess() && !c.KeptBy(r.name) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return r.Filtering(ctx, state, pod, nodes)
}

// Filtering is PreFilter for a plugin that filters. The first such plugin narrows the cycle to the nodes of the pool, so
// that thousands of others are never looked at.
func (r Rule) Filtering(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c, status := r.Begin(ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return nil, status
	}
	return c.WithinPool(len(nodes)), nil
}

// Begin returns the cycle, or why the pod cannot have one.
func (r Rule) Begin(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*snapshot.Cycle, *fwk.Status) {
	return r.Profile.Begin(ctx, state, pod, nodes, r.name)
}

// PreFilterExtensions returns what keeps the tally right while the scheduler supposes that pods come and go.
func (r Rule) PreFilterExtensions() fwk.PreFilterExtensions { return r }

// AddPod supposes that one more pod is on a node.
func (r Rule) AddPod(_ context.Context, state fwk.CycleState, _ *v1.Pod, p fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	c, status := snapshot.CycleOf(state)
	if status.IsSuccess() {
		c.AddPod(r.name, p, info.Node())
	}
	return status
}

// RemovePod supposes that a pod of a node is gone.
func (r Rule) RemovePod(_ context.Context, state fwk.CycleState, _ *v1.Pod, p fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	c, status := snapshot.CycleOf(state)
	if status.IsSuccess() {
		c.RemovePod(r.name, p, info.Node())
	}
	return status
}

// Slot returns the cycle and the slot of a node, or why the node cannot be judged.
func Slot(state fwk.CycleState, info fwk.NodeInfo) (*snapshot.Cycle, int, *fwk.Status) {
	c, status := snapshot.CycleOf(state)
	if !status.IsSuccess() {
		return nil, 0, status
	}
	slot, status := c.Slot(info.Node())
	return c, slot, status
}
