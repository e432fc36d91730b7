package snapshot

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

const cycleKey fwk.StateKey = v1alpha1.GroupName + "/cycle"

// Cycle is what the plugins share while one vreplica is scheduled.
type Cycle struct {
	Vreplica Vreplica
	Tally    *placement.Tally

	pool *pool
	// narrowed: the cycle looks at the pool's nodes, or only at contenders.
	narrowed, contenders bool
	// keeper is the plugin that keeps the tally right when pods are supposed to come or go: the one whose PreFilter
	// came first, lest every plugin counts the same pod again.
	keeper string
}

// Clone copies the tally, which AddPod and RemovePod change; the rest is read-only and shared.
func (c *Cycle) Clone() fwk.StateData {
	clone := *c
	clone.Tally = c.Tally.Clone()
	return &clone
}

// Begin returns the cycle of a vreplica: whichever plugin's PreFilter comes first builds it. A pod that is no vreplica,
// or has no adapters, is refused for good, until it or the nodes change: no preemption can help it.
func (p *Profile) Begin(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo, plugin string) (*Cycle, *fwk.Status) {
	c, err := read(state)
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, fwk.ErrNotFound) {
		return nil, fwk.AsStatus(err)
	}
	cache := p.cache()
	cache.Update(nodes)

	v, err := VreplicaOf(pod, p.Resource)
	if err != nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	pool := cache.pools[v.Pool]
	if pool == nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("pool %q has no adapters: no node is labelled %s=%s", v.Pool, v1alpha1.LabelPool, v.Pool))
	}
	c = &Cycle{
		Vreplica: v,
		pool:     pool,
		keeper:   plugin,
		Tally: pool.Tally(placement.Request{
			VPod: v.VPod, Size: 1, Limit: p.limit(v), Open: pool.open(klog.FromContext(ctx), pod),
		}),
	}
	p.holdForNominees(c, pod)
	state.Write(cycleKey, c)
	return c, nil
}

// CycleOf returns the cycle that a PreFilter began.
func CycleOf(state fwk.CycleState) (*Cycle, *fwk.Status) {
	c, err := read(state)
	return c, fwk.AsStatus(err)
}

func read(state fwk.CycleState) (*Cycle, error) {
	data, err := state.Read(cycleKey)
	if err != nil {
		return nil, fmt.Errorf("reading the cycle that PreFilter writes: %w", err)
	}
	c, ok := data.(*Cycle)
	if !ok {
		return nil, fmt.Errorf("reading the cycle that PreFilter writes: got a %T", data)
	}
	return c, nil
}

// KeptBy says whether a plugin is the one that began the cycle and keeps the tally right.
func (c *Cycle) KeptBy(plugin string) bool { return c.keeper == plugin }

// WithinPool narrows a cycle to the nodes of the vreplica's pool, broken ones included, so that these are told about.
// Nil where there is nothing to narrow: the pool is all there is, or it has been done.
func (c *Cycle) WithinPool(nodes int) *fwk.PreFilterResult {
	if c.narrowed || len(c.pool.names) == nodes {
		return nil
	}
	c.narrowed = true
	return &fwk.PreFilterResult{NodeNames: c.pool.names}
}

// ToContenders narrows a cycle to the adapters in the given slots.
func (c *Cycle) ToContenders(slots []int) *fwk.PreFilterResult {
	c.narrowed, c.contenders = true, true
	names := make(sets.Set[string], len(slots))
	for _, slot := range slots {
		names.Insert(c.Adapter(slot).Name)
	}
	return &fwk.PreFilterResult{NodeNames: names}
}

// OnlyContenders says whether the cycle is narrowed to contenders.
func (c *Cycle) OnlyContenders() bool { return c.contenders }

// Slot returns the slot of a node, or why it cannot be judged.
func (c *Cycle) Slot(node *v1.Node) (int, *fwk.Status) {
	slot, found := c.pool.Slot(node.Name)
	switch {
	case found && c.pool.Rival(slot):
		return 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, ReasonRival)
	case found:
		return slot, nil
	case c.pool.names.Has(node.Name):
		return 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, ReasonBadOrdinal)
	default:
		return 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, ReasonOtherPool)
	}
}

// Adapter returns the adapter in a slot.
func (c *Cycle) Adapter(slot int) placement.Adapter { return c.pool.At(slot) }

// AddPod supposes that a pod is on a node, on behalf of a plugin.
func (c *Cycle) AddPod(plugin string, p fwk.PodInfo, node *v1.Node) { c.suppose(plugin, p, node, 1) }

// RemovePod supposes that a pod on a node is gone, on behalf of a plugin.
func (c *Cycle) RemovePod(plugin string, p fwk.PodInfo, node *v1.Node) {
	c.suppose(plugin, p, node, -1)
}

func (c *Cycle) suppose(plugin string, p fwk.PodInfo, node *v1.Node, sign int) {
	slot, found := c.pool.Slot(node.Name)
	if plugin != c.keeper || !found {
		return
	}
	own := 0
	if VPodOf(p.GetPod()) == c.Vreplica.VPod {
		own = served(p.GetPod(), room(p, c.pool.resource))
	}
	c.Tally.Add(slot, int64(sign)*room(p, c.pool.resource), sign*own)
}
