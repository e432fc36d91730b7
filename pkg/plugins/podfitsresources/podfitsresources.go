// Package podfitsresources keeps every adapter within its capacity.
package podfitsresources

import (
	"context"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Name is the plugin's name in configurations.
const Name = "PodFitsResources"

// Reasons why a node is refused.
const (
	ReasonFull       = "adapter(s) at full capacity"
	ReasonNoCapacity = "adapter(s) that offer no vreplicas"
)

// Args are the plugin's arguments.
type Args struct {
	rule.Args `json:",inline"`
	// ResourceName is the extended resource that counts as vreplicas.
	ResourceName v1.ResourceName `json:"resourceName"`
}

func (a Args) validate() field.ErrorList {
	var errs field.ErrorList
	for _, problem := range validation.IsQualifiedName(string(a.ResourceName)) {
		errs = append(errs, field.Invalid(field.NewPath("resourceName"), a.ResourceName, problem))
	}
	if name := string(a.ResourceName); len(errs) == 0 && (!strings.Contains(name, "/") || strings.Contains(name, v1.ResourceDefaultNamespacePrefix)) {
		errs = append(errs, field.Invalid(field.NewPath("resourceName"), a.ResourceName, "must be an extended resource, as "+v1alpha1.ResourceVReplicas+" is"))
	}
	return errs
}

// PodFitsResources is the plugin.
type PodFitsResources struct {
	rule.Rule
}

var (
	_ fwk.PreFilterPlugin   = &PodFitsResources{}
	_ fwk.FilterPlugin      = &PodFitsResources{}
	_ fwk.EnqueueExtensions = &PodFitsResources{}
	_ fwk.SignPlugin        = &PodFitsResources{}
)

// New makes the plugin for a profile.
func New(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := rule.Decode(Name, obj, Args{ResourceName: v1alpha1.ResourceVReplicas}, Args.validate)
	if err != nil {
		return nil, err
	}
	profile.Resource = args.ResourceName
	return &PodFitsResources{Rule: rule.New(Name, profile)}, nil
}

// EventsToRegister names the events that help a vreplica that this plugin refused.
func (p *PodFitsResources) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return append(rule.PreFilterEvents(), rule.RoomEvents(p.Profile.Resource)...), nil
}

// PreFilter begins the cycle and keeps the filter on.
func (p *PodFitsResources) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return p.Filtering(ctx, state, pod, nodes)
}

// Filter refuses an adapter without room. One that could never hold a vreplica is no use to preemption either.
func (p *PodFitsResources) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	c, slot, status := rule.Slot(state, info)
	if !status.IsSuccess() {
		return status
	}
	v := c.Tally.Fit(slot)
	if v.OK() {
		return nil
	}
	klog.FromContext(ctx).V(5).Info("Adapter has no room", "pod", klog.KObj(pod), "node", klog.KObj(info.Node()),
		"requested", v.Requested, "free", v.Free, "capacity", v.Capacity)
	if !v.Possible() {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, ReasonNoCapacity)
	}
	return fwk.NewStatus(fwk.Unschedulable, ReasonFull)
}
