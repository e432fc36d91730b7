package placement_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	firstSeed = flag.Uint64("seed", 1, "seed of the first random cluster")
	clusters  = flag.Int("clusters", 20_000, "number of random clusters for each property")
)

// everyCluster checks a property on random clusters, each from a seed of its own.
func everyCluster(t *testing.T, check func(rng *rand.Rand, p *pool) error) {
	t.Helper()
	t.Parallel()
	for i := range *clusters {
		seed := *firstSeed + uint64(i)
		rng := rand.New(rand.NewPCG(seed, 0))
		if err := check(rng, randomPool(rng)); err != nil {
			t.Fatalf("%v\nadapters at first:\n%vreproduce: go test ./pkg/placement -run '^%s$' -args -seed=%d -clusters=1",
				err, randomPool(rand.New(rand.NewPCG(seed, 0))), t.Name(), seed)
		}
	}
}

// oneIn is true with probability 1/n.
func oneIn(rng *rand.Rand, n int) bool { return rng.IntN(n) == 0 }

var vpods = []string{"x", "y", "w"}

func randomPool(rng *rand.Rand) *pool {
	n, zones, hosts := rng.IntN(10), 1+rng.IntN(4), 1+rng.IntN(3)
	gap := 1
	if oneIn(rng, 4) {
		gap += rng.IntN(700)
	}
	p := &pool{}
	for i, ordinal := range rng.Perm(n) {
		p.adapters = append(p.adapters, randomAdapter(rng, fmt.Sprintf("a-%d", i), ordinal*gap, zones, hosts))
	}
	return p
}

func randomAdapter(rng *rand.Rand, name string, ordinal, zones, hosts int) *adapter {
	zone, host := rng.IntN(zones), rng.IntN(hosts)
	a := &adapter{
		name: name, ordinal: ordinal, born: rng.Int64N(3),
		zone: fmt.Sprintf("z%d", zone), host: fmt.Sprintf("z%d-h%d", zone, host),
		capacity: rng.Int64N(7), cordoned: oneIn(rng, 10), tainted: oneIn(rng, 10),
	}
	if oneIn(rng, 8) {
		a.zone = ""
	}
	if oneIn(rng, 8) {
		a.host = ""
	}
	if oneIn(rng, 12) {
		a.ordinal = 0 // perhaps another one's
	}
	fillAtRandom(rng, a)
	return a
}

// fillAtRandom leaves an adapter partly used, full or overcommitted.
func fillAtRandom(rng *rand.Rand, a *adapter) {
	load := rng.IntN(int(a.capacity) + 1)
	switch rng.IntN(8) {
	case 0:
		load = int(a.capacity)
	case 1:
		load = int(a.capacity) + 1 + rng.IntN(2)
	}
	for range load {
		r := vreplica{vpod: vpods[rng.IntN(len(vpods))], size: 1, terminating: oneIn(rng, 6)}
		if oneIn(rng, 16) {
			r.size = 2
		}
		a.vreplicas = append(a.vreplicas, r)
	}
}

func randomRequest(rng *rand.Rand) request {
	r := request{vpod: vpods[rng.IntN(len(vpods))], size: 1}
	if oneIn(rng, 16) {
		r.size = rng.Int64N(3)
	}
	if oneIn(rng, 2) {
		r.limit = 1 + rng.IntN(5)
	}
	return r
}

// randomPolicy makes any subset of levels hard.
func randomPolicy(rng *rand.Rand) policy {
	randomLevel := func() (l level) {
		if oneIn(rng, 2) {
			l.maxSkew = 1 + rng.IntN(3)
		}
		if oneIn(rng, 6) {
			l.minDomains = 1 + rng.IntN(3)
		}
		return l
	}
	return policy{zone: randomLevel(), host: randomLevel(), adapter: randomLevel(), fill: oneIn(rng, 3)}
}

// shuffled is the pool in another order; the adapters are the same.
func shuffled(rng *rand.Rand, p *pool) *pool {
	s := &pool{adapters: slices.Clone(p.adapters)}
	rng.Shuffle(len(s.adapters), func(i, j int) { s.adapters[i], s.adapters[j] = s.adapters[j], s.adapters[i] })
	return s
}

// The properties prove little if the clusters are all alike.
func TestRandomClustersReachEveryKind(t *testing.T) {
	if *clusters < 1000 {
		t.Skip("too few clusters to judge")
	}
	seen := map[string]int{}
	note := func(kind string, is bool) {
		if is {
			seen[kind]++
		} else {
			seen[kind] += 0
		}
	}
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, adapters := randomRequest(rng), rightful(p)
		eligible, used := eligibleOf(adapters, r), usedBy(adapters, r.vpod)
		is := func(f func(*adapter) bool) bool { return slices.ContainsFunc(p.adapters, f) }
		note("doubled ordinal", len(adapters) < len(p.adapters))
		note("no adapter", len(p.adapters) == 0)
		note("no zone label", is(func(a *adapter) bool { return a.zone == "" }))
		note("no host label", is(func(a *adapter) bool { return a.host == "" }))
		note("cordoned or tainted", is(func(a *adapter) bool { return !isOpen(a) }))
		note("full", is(func(a *adapter) bool { return freeOn(a) == 0 }))
		note("overcommitted", is(func(a *adapter) bool { return freeOn(a) < 0 }))
		note("at its limit", r.limit > 0 && used == r.limit)
		note("above its limit", r.limit > 0 && used > r.limit)
		note("several eligible", len(eligible) > 1)
		note("none eligible", len(eligible) == 0)
		note("eligible, but waits by the rules", len(eligible) > 0 && oracle(p, r, randomPolicy(rng)) == nil)
		return nil
	})
	for kind, n := range seen {
		if n < *clusters/100 {
			t.Errorf("%s: %d of %d clusters, want at least 1%%", kind, n, *clusters)
		}
	}
}
