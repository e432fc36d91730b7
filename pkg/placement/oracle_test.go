package placement_test

import "slices"

// The oracle applies the rules word by word, by brute force: every number is counted anew from the vreplicas.

// domainOf names the domain of an adapter at one level.
type domainOf func(*adapter) string

func zoneOf(a *adapter) string { return a.zone }

// hostOf keeps apart hosts by label and adapters that are their own host.
func hostOf(a *adapter) string {
	if a.host == "" {
		return "itself: " + a.name
	}
	return "labelled: " + a.host
}

func itself(a *adapter) string { return a.name }

// oracle returns the adapter that should take the vreplica, or nil if it has to wait.
func oracle(p *pool, r request, want policy) *adapter {
	adapters := rightful(p)
	eligible := eligibleOf(adapters, r)
	var best *adapter
	for _, a := range eligible {
		if !want.allows(adapters, eligible, r.vpod, a) {
			continue
		}
		if best == nil || slices.Compare(want.preference(adapters, r.vpod, a), want.preference(adapters, r.vpod, best)) < 0 {
			best = a
		}
	}
	return best
}

type levelRule struct {
	level
	domain domainOf
}

func (want policy) levels() []levelRule {
	return []levelRule{{want.zone, zoneOf}, {want.host, hostOf}, {want.adapter, itself}}
}

// allows: enough domains hold an open adapter, and count + 1 - min <= maxSkew, at each level where that is a condition.
func (want policy) allows(adapters, eligible []*adapter, vpod string, a *adapter) bool {
	for _, rule := range want.levels() {
		if openDomains(adapters, rule.domain) < rule.minDomains {
			return false
		}
		if rule.maxSkew == 0 {
			continue
		}
		if countIn(adapters, vpod, rule.domain, rule.domain(a))+1-least(adapters, eligible, vpod, rule.domain) > rule.maxSkew {
			return false
		}
	}
	return true
}

// preference lists what decides, most important first; less is better.
func (want policy) preference(adapters []*adapter, vpod string, a *adapter) []int {
	if want.fill {
		if countOn(a, vpod) > 0 {
			return []int{0, a.ordinal}
		}
		return []int{1, a.ordinal}
	}
	return []int{
		countIn(adapters, vpod, zoneOf, zoneOf(a)),
		countIn(adapters, vpod, hostOf, hostOf(a)),
		countOn(a, vpod),
		a.ordinal,
	}
}

// rightful leaves out adapters whose ordinal an older one claims.
func rightful(p *pool) []*adapter {
	var kept []*adapter
	for _, a := range p.adapters {
		rightful := true
		for _, b := range p.adapters {
			if b.ordinal == a.ordinal && (b.born < a.born || b.born == a.born && b.name < a.name) {
				rightful = false
			}
		}
		if rightful {
			kept = append(kept, a)
		}
	}
	return kept
}

func eligibleOf(adapters []*adapter, r request) []*adapter {
	used := usedBy(adapters, r.vpod)
	var eligible []*adapter
	for _, a := range adapters {
		if !isOpen(a) || freeOn(a) < r.size {
			continue
		}
		if countOn(a, r.vpod) > 0 || r.limit == 0 || used+1 <= r.limit {
			eligible = append(eligible, a)
		}
	}
	return eligible
}

func usedBy(adapters []*adapter, vpod string) int {
	used := 0
	for _, a := range adapters {
		if countOn(a, vpod) > 0 {
			used++
		}
	}
	return used
}

func isOpen(a *adapter) bool { return !a.cordoned && !a.tainted }

// freeOn: a terminating vreplica holds its room until it is gone.
func freeOn(a *adapter) int64 {
	requested := int64(0)
	for _, r := range a.vreplicas {
		requested += r.size
	}
	return a.capacity - requested
}

// countOn: a terminating vreplica does not count.
func countOn(a *adapter, vpod string) int {
	n := 0
	for _, r := range a.vreplicas {
		if r.vpod == vpod && !r.terminating {
			n++
		}
	}
	return n
}

func countIn(adapters []*adapter, vpod string, domain domainOf, name string) int {
	n := 0
	for _, a := range adapters {
		if domain(a) == name {
			n += countOn(a, vpod)
		}
	}
	return n
}

// least is the minimum over the domains that hold an eligible adapter.
func least(adapters, eligible []*adapter, vpod string, domain domainOf) int {
	lowest := -1
	for _, a := range eligible {
		if n := countIn(adapters, vpod, domain, domain(a)); lowest < 0 || n < lowest {
			lowest = n
		}
	}
	return lowest
}

func openDomains(adapters []*adapter, domain domainOf) int {
	seen := map[string]bool{}
	for _, a := range adapters {
		if isOpen(a) {
			seen[domain(a)] = true
		}
	}
	return len(seen)
}
