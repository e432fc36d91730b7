package placement_test

import (
	"cmp"
	"fmt"
	"strings"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// The model says in plain words what a cluster holds. Tables and the oracle are written in it; the package under test
// sees it only through put, tally and rules below.

type pool struct {
	adapters []*adapter
}

type adapter struct {
	name    string
	ordinal int
	born    int64
	// zone and host are labels; "" is a missing one.
	zone, host        string
	capacity          int64
	cordoned, tainted bool
	vreplicas         []vreplica
}

type vreplica struct {
	vpod        string
	size        int64
	terminating bool
}

// request is a vreplica that looks for an adapter. Its vpod may use limit adapters; 0 is no limit.
type request struct {
	vpod  string
	size  int64
	limit int
}

// policy is what a profile demands at each level, and whether it packs instead of spreading.
type policy struct {
	zone, host, adapter level
	fill                bool
}

// level is the hard rules at one level. maxSkew 0 is whenUnsatisfiable: ScheduleAnyway.
type level struct {
	maxSkew, minDomains int
}

var (
	availability = policy{adapter: level{maxSkew: 1}}
	maxFillUp    = policy{fill: true}
)

func (p *pool) String() string {
	var b strings.Builder
	for _, a := range p.adapters {
		fmt.Fprintf(&b, "  %+v\n", *a)
	}
	return b.String()
}

// clone copies the pool so that vreplicas can be placed in the copy alone.
func (p *pool) clone() *pool {
	c := &pool{}
	for _, a := range p.adapters {
		copied := *a
		copied.vreplicas = append([]vreplica(nil), a.vreplicas...)
		c.adapters = append(c.adapters, &copied)
	}
	return c
}

func (p *pool) find(name string) *adapter {
	for _, a := range p.adapters {
		if a.name == name {
			return a
		}
	}
	return nil
}

// bind puts the vreplica that asked on the adapter.
func (a *adapter) bind(r request) {
	a.vreplicas = append(a.vreplicas, vreplica{vpod: r.vpod, size: r.size})
}

func vpodID(name string) placement.VPod {
	return placement.VPod{Namespace: "default", Kind: "VPod", Name: name}
}

// build fills a new placement.Pool in the order of the model.
func build(p *pool) *placement.Pool {
	built := placement.NewPool()
	for _, a := range p.adapters {
		put(built, a)
	}
	return built
}

// put translates one adapter. A missing host label makes the adapter its own host.
func put(built *placement.Pool, a *adapter) {
	free, counts := a.capacity, map[placement.VPod]int{}
	for _, r := range a.vreplicas {
		free -= r.size
		if !r.terminating {
			counts[vpodID(r.vpod)]++
		}
	}
	built.Put(placement.Adapter{
		Name: a.name, Ordinal: a.ordinal, Born: a.born,
		Zone: a.zone, Host: cmp.Or(a.host, a.name),
		Capacity: a.capacity, Free: free,
	}, counts)
}

// tally tells the placement.Pool which of its adapters are closed, or nothing where all are open.
func tally(p *pool, built *placement.Pool, r request) *placement.Tally {
	asked := placement.Request{VPod: vpodID(r.vpod), Size: r.size, Limit: r.limit}
	closed := map[int]bool{}
	for _, a := range p.adapters {
		if slot, ok := built.Slot(a.name); ok && (a.cordoned || a.tainted) {
			closed[slot] = true
		}
	}
	if len(closed) > 0 {
		asked.Open = func(slot int) bool { return !closed[slot] }
	}
	return built.Tally(asked)
}

// rules translates a policy. The shipped profiles are taken as they are shipped.
func rules(want policy) placement.Rules {
	switch want {
	case availability:
		return placement.Availability
	case maxFillUp:
		return placement.MaxFillUp
	}
	r := placement.Rules{Weights: placement.Availability.Weights}
	if want.fill {
		r.Weights = placement.MaxFillUp.Weights
	}
	for topology, l := range map[placement.Topology]level{
		placement.ByZone: want.zone, placement.ByHost: want.host, placement.ByAdapter: want.adapter,
	} {
		r.MaxSkew[topology], r.MinDomains[topology] = l.maxSkew, l.minDomains
	}
	return r
}

// choose returns the name of the adapter that the package picks, or "" if the vreplica waits.
func choose(p *pool, built *placement.Pool, r request, want policy) string {
	slot, ok := tally(p, built, r).Choose(rules(want))
	if !ok {
		return ""
	}
	return built.At(slot).Name
}

// place binds up to n vreplicas one after another, each seeing those before it, and returns how many were placed.
func place(p *pool, r request, want policy, n int) int {
	built := build(p)
	for placed := range n {
		name := choose(p, built, r, want)
		if name == "" {
			return placed
		}
		a := p.find(name)
		a.bind(r)
		put(built, a)
	}
	return n
}
