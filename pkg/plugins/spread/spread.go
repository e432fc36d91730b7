// Package spread is the rule of the three plugins that keep the vreplicas of a vpod even: over adapters, hosts or
// zones. After a placement a domain may be ahead of the one with the fewest by maxSkew at most, where only domains that
// can take a vreplica count.
package spread

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Args are the arguments of a plugin that spreads over adapters.
type Args struct {
	rule.Args `json:",inline"`
	// MaxSkew is how many vreplicas a domain may be ahead after a placement, from 1.
	MaxSkew int32 `json:"maxSkew"`
	// WhenUnsatisfiable says whether the rule is hard (DoNotSchedule) or only prefers (ScheduleAnyway).
	WhenUnsatisfiable v1.UnsatisfiableConstraintAction `json:"whenUnsatisfiable"`
}

// DomainArgs are the arguments of a plugin that spreads over zones or hosts.
type DomainArgs struct {
	Args `json:",inline"`
	// MinDomains is how many domains must hold an open adapter for anything to be placed, whatever WhenUnsatisfiable
	// says; 0 asks for none.
	MinDomains int32 `json:"minDomains"`
}

// Validate refuses values out of range.
func (a DomainArgs) Validate() field.ErrorList {
	var errs field.ErrorList
	if a.MaxSkew < 1 {
		errs = append(errs, field.Invalid(field.NewPath("maxSkew"), a.MaxSkew, "must be at least 1"))
	}
	if a.WhenUnsatisfiable != v1.DoNotSchedule && a.WhenUnsatisfiable != v1.ScheduleAnyway {
		errs = append(errs, field.NotSupported(field.NewPath("whenUnsatisfiable"), a.WhenUnsatisfiable,
			[]v1.UnsatisfiableConstraintAction{v1.DoNotSchedule, v1.ScheduleAnyway}))
	}
	if a.MinDomains < 0 {
		errs = append(errs, field.Invalid(field.NewPath("minDomains"), a.MinDomains, "must be at least 0"))
	}
	return errs
}

func (a Args) hard() bool { return a.WhenUnsatisfiable == v1.DoNotSchedule }

// Level is where a plugin spreads, and how it says so.
type Level struct {
	Topology  placement.Topology
	Criterion placement.Criterion
	// Domain names a domain of the level in messages.
	Domain string
	// Reason is why a node is refused; a constant, so that the scheduler can count the nodes that share it.
	Reason string
}

// Plugin spreads at one level.
type Plugin struct {
	rule.Preference
	level Level
	args  DomainArgs
}

var (
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PreScorePlugin    = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
)

// New returns the plugin of a level.
func New(name string, profile *snapshot.Profile, level Level, args DomainArgs) *Plugin {
	profile.Rules.MinDomains[level.Topology] = int(args.MinDomains)
	if args.hard() {
		profile.Rules.MaxSkew[level.Topology] = int(args.MaxSkew)
	}
	return &Plugin{
		Preference: rule.Preference{Rule: rule.New(name, profile), Criterion: level.Criterion},
		level:      level,
		args:       args,
	}
}

// OverDomains returns what makes a plugin that spreads over zones or hosts. It only prefers, unless told otherwise.
func OverDomains(name string, level Level) rule.Factory {
	return func(_ context.Context, obj runtime.Object, profile *snapshot.Profile, _ fwk.Handle) (fwk.Plugin, error) {
		defaults := DomainArgs{Args: Args{MaxSkew: 1, WhenUnsatisfiable: v1.ScheduleAnyway}}
		args, err := rule.Decode(name, obj, defaults, DomainArgs.Validate)
		if err != nil {
			return nil, err
		}
		return New(name, profile, level, args), nil
	}
}

// EventsToRegister names the events that help a vreplica that this plugin refused.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return append(rule.PreFilterEvents(), rule.SpreadEvents(p.Profile.Resource)...), nil
}

// PreFilter refuses the vreplica where too few domains hold an open adapter, which no preemption can change.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c, status := p.Begin(ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return nil, status
	}
	if v := c.Tally.Domains(p.level.Topology, int(p.args.MinDomains)); !v.OK() {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("%d %s(s) of the pool hold an open adapter, fewer than minDomains %d", v.Open, p.level.Domain, v.Min))
	}
	if p.args.hard() {
		return p.Filtering(ctx, state, pod, nodes)
	}
	return p.Preference.PreFilter(ctx, state, pod, nodes)
}

// Filter refuses an adapter whose domain would be too far ahead.
func (p *Plugin) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	c, slot, status := rule.Slot(state, info)
	if !status.IsSuccess() || !p.args.hard() {
		return status
	}
	v := c.Tally.Skew(slot, p.level.Topology, int(p.args.MaxSkew))
	if v.OK() {
		return nil
	}
	klog.FromContext(ctx).V(5).Info("Domain is too far ahead", "pod", klog.KObj(pod), "node", klog.KObj(info.Node()),
		"domain", p.level.Domain, "count", v.Count, "min", v.Min, "maxSkew", v.MaxSkew)
	return fwk.NewStatus(fwk.Unschedulable, p.level.Reason)
}
