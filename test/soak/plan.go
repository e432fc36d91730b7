package soak

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// plan draws what happens next. It depends on the seed and on what it drew before, and on nothing else: where something is
// done to an object that only the cluster knows, such as a placeholder, it draws a number, and the object is counted off
// from those that are there then.
type plan struct {
	random *rand.Rand
	pools  []*poolPlan
	hosts  []*hostPlan
	// vpods are those that exist, by name.
	vpods map[string]*vpodPlan
	// guests are placeholders made by hand.
	guests int
	// budgets are the PodDisruptionBudgets that exist, by namespace and name.
	budgets map[string]*budgetPlan
	// lost are the hosts that fell silent with their zone; nil if none did, or it is back.
	lost []*hostPlan
	// first is what has not happened yet: once round, each kind has its turn.
	first []kind
}

type poolPlan struct {
	name, namespace, set string
	replicas, capacity   int
	// marked are the ordinals of adapters taken out of use by annotation, cordoned those of virtual nodes that a person
	// cordoned.
	marked, cordoned map[int]bool
	// auto is how the pool is scaled; nil: by hand, to replicas.
	auto *autoPlan
	// rebalances: what is placed is evened out.
	rebalances bool
}

type hostPlan struct {
	name, zone        string
	stopped, cordoned bool
}

type vpodPlan struct {
	namespace, name, pool string
	replicas, limit       int
	class, schedulerName  string
}

// action is something that happens. What it says in the end is what it turned out to be.
type action struct {
	kind, text string
	do         func(context.Context, *driver) (string, error)
}

// kind is what may happen, weight times as likely as what has weight 1. It returns nil where it makes no sense now.
type kind struct {
	name   string
	weight int
	draw   func(*plan) *action
}

const (
	minAdapters, maxAdapters = 3, 6
	minCapacity, maxCapacity = 4, 10
	// mostWanted is the most that a pool may scale to; there is not a host for each.
	mostWanted             = 9
	fewestVPods, mostVPods = 6, 16
	// mostAway is how many hosts are stopped, beside those of a zone that is lost, and how many cordoned, at the same time.
	mostAway    = 2
	mostBudgets = 3
)

var (
	zones      = []string{"z1", "z2", "z3"}
	namespaces = []string{"tenant-0", "tenant-1", "tenant-2"}
	classes    = map[string]int32{"low": -10, "high": 100, "patient": 100}
)

func newPlan(seed uint64) *plan {
	p := &plan{
		random:  rand.New(rand.NewPCG(seed, 0)),
		vpods:   map[string]*vpodPlan{},
		budgets: map[string]*budgetPlan{},
		pools: []*poolPlan{
			{name: "red", namespace: "red", set: "red", replicas: 5, capacity: 8},
			{
				name: "blue", namespace: "adapters", set: "dispatcher", replicas: 4, capacity: 6,
				auto: &autoPlan{min: 1, max: 7, delay: 3}, rebalances: true,
			},
		},
	}
	for _, pool := range p.pools {
		pool.marked, pool.cordoned = map[int]bool{}, map[int]bool{}
	}
	for i := range 8 {
		p.hosts = append(p.hosts, &hostPlan{name: fmt.Sprint("h-", i), zone: zones[i%len(zones)]})
	}
	p.first = kinds()
	p.random.Shuffle(len(p.first), func(i, j int) { p.first[i], p.first[j] = p.first[j], p.first[i] })
	return p
}

// next draws what happens next.
func (p *plan) next() action {
	for i, k := range p.first {
		if a := k.draw(p); a != nil {
			p.first = slices.Delete(p.first, i, i+1)
			a.kind = k.name
			return *a
		}
	}
	return p.draw(kinds())
}

func (p *plan) draw(from []kind) action {
	sum := 0
	for _, k := range from {
		sum += k.weight
	}
	for {
		n := p.random.IntN(sum)
		for _, k := range from {
			if n -= k.weight; n >= 0 {
				continue
			}
			if a := k.draw(p); a != nil {
				a.kind = k.name
				return *a
			}
			break
		}
	}
}

// kinds are all that may happen.
func kinds() []kind {
	return slices.Concat(wishes(), []kind{
		{"scale the StatefulSet", 7, (*plan).scalePool},
		{"replace the StatefulSet", 1, (*plan).replacePool},
		{"restart an adapter", 8, (*plan).restartAdapter},
		{"change the capacity", 6, (*plan).changeCapacity},
		{"mark an adapter", 3, (*plan).markAdapter},
		{"cordon a virtual node", 5, (*plan).cordonNode},
		{"cordon a host", 4, (*plan).cordonHost},
		{"stop a host", 4, (*plan).stopHost},
		{"start a host", 5, (*plan).startHost},
		{"move a host", 1, (*plan).moveHost},
		{"lose a zone", 3, (*plan).loseZone},
		{"bring a zone back", 5, (*plan).returnZone},
	}, scaling(), meddling(), faults())
}

// oneOf draws one of several.
func oneOf[T any](p *plan, of ...T) T { return of[p.random.IntN(len(of))] }

// number is a large one, to count off something by.
func (p *plan) number() int { return p.random.IntN(1 << 16) }

func (p *plan) pool() *poolPlan { return oneOf(p, p.pools...) }

// ordinal is one that the pool has, or may have.
func (p *plan) ordinal(pool *poolPlan) int {
	if pool.auto != nil {
		return p.random.IntN(maxAdapters)
	}
	return p.random.IntN(pool.replicas)
}

// anyVPod returns nil if there are none.
func (p *plan) anyVPod() *vpodPlan {
	if len(p.vpods) == 0 {
		return nil
	}
	return p.vpods[oneOf(p, slices.Sorted(maps.Keys(p.vpods))...)]
}

// anyHost draws one of the hosts for which holds is true; nil if there are none.
func (p *plan) anyHost(holds func(*hostPlan) bool) *hostPlan { return anyOf(p, p.hosts, holds) }

// anyPool draws one of the pools for which holds is true; nil if there are none.
func (p *plan) anyPool(holds func(*poolPlan) bool) *poolPlan { return anyOf(p, p.pools, holds) }

func anyOf[T any](p *plan, all []*T, holds func(*T) bool) *T {
	some := only(all, holds)
	if len(some) == 0 {
		return nil
	}
	return oneOf(p, some...)
}

func (p *plan) count(holds func(*hostPlan) bool) int { return len(only(p.hosts, holds)) }

// only are those for which holds is true.
func only[T any](all []T, holds func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), not(holds))
}

func isStopped(h *hostPlan) bool  { return h.stopped }
func isCordoned(h *hostPlan) bool { return h.cordoned }

func not[T any](holds func(T) bool) func(T) bool {
	return func(of T) bool { return !holds(of) }
}
