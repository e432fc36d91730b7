package placement_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// view is all that a tally says of a pool, with names instead of slots, so that pools with other slots compare.
type view struct {
	// Adapters are in the order of the model.
	Adapters   []sight
	Eligible   int
	Contenders []string
	Domains    [len(domainsOf)]placement.Domains
}

type sight struct {
	Adapter placement.Adapter
	Rival   bool
	Fit     placement.Fit
	Limit   placement.Limit
	Skew    [len(domainsOf)]placement.Skew
}

// look asks with maxSkew 2 and 2 domains; the arithmetic of verdicts has tables of its own.
func look(p *pool, built *placement.Pool, tallied *placement.Tally) view {
	v := view{Eligible: tallied.Eligible(), Contenders: namesOf(built, tallied.Contenders(placement.Rules{}))}
	for _, a := range p.adapters {
		slot, _ := built.Slot(a.name)
		s := sight{Adapter: built.At(slot), Rival: built.Rival(slot), Fit: tallied.Fit(slot), Limit: tallied.WithinLimit(slot)}
		for topology := range domainsOf {
			s.Skew[topology] = tallied.Skew(slot, placement.Topology(topology), 2)
		}
		v.Adapters = append(v.Adapters, s)
	}
	for topology := range domainsOf {
		v.Domains[topology] = tallied.Domains(placement.Topology(topology), 2)
	}
	return v
}

var domainsOf = [...]domainOf{placement.ByZone: zoneOf, placement.ByHost: hostOf, placement.ByAdapter: itself}

// same compares first, since a diff is slow.
func same(want, got view) error {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return fmt.Errorf("view differs (-want +got):\n%s", cmp.Diff(want, got))
}

// Every number of every verdict, for adapters that pass and for those that do not.
func TestVerdictsCountAsOracle(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		r, built, adapters := randomRequest(rng), build(p), rightful(p)
		eligible := eligibleOf(adapters, r)
		got := look(p, built, tally(p, built, r))
		for i, a := range p.adapters {
			s := got.Adapters[i]
			rival := !slices.Contains(adapters, a)
			if s.Rival != rival {
				return fmt.Errorf("%s: rival %t, want %t", a.name, s.Rival, rival)
			}
			if want := (placement.Fit{Capacity: a.capacity, Free: freeOn(a), Requested: r.size}); s.Fit != want {
				return fmt.Errorf("%+v on %s: %+v, want %+v", r, a.name, s.Fit, want)
			}
			want := placement.Limit{Serves: !rival && countOn(a, r.vpod) > 0, Used: usedBy(adapters, r.vpod), Limit: r.limit}
			if s.Limit != want {
				return fmt.Errorf("%+v on %s: %+v, want %+v", r, a.name, s.Limit, want)
			}
			for topology, domain := range domainsOf {
				want := placement.Skew{Count: countIn(adapters, r.vpod, domain, domain(a)), MaxSkew: 2}
				want.Min = want.Count
				if len(eligible) > 0 {
					want.Min = least(adapters, eligible, r.vpod, domain)
				}
				if s.Skew[topology] != want {
					return fmt.Errorf("%+v on %s at level %d: %+v, want %+v", r, a.name, topology, s.Skew[topology], want)
				}
			}
		}
		for topology, domain := range domainsOf {
			if want := (placement.Domains{Open: openDomains(adapters, domain), Min: 2}); got.Domains[topology] != want {
				return fmt.Errorf("%+v at level %d: %+v, want %+v", r, topology, got.Domains[topology], want)
			}
		}
		if got.Eligible != len(eligible) {
			return fmt.Errorf("%+v: %d eligible, want %d", r, got.Eligible, len(eligible))
		}
		return nil
	})
}

// Filters of one cycle run in parallel on one tally; the race detector watches.
func TestTallyIsReadInParallel(t *testing.T) {
	rng := rand.New(rand.NewPCG(*firstSeed, 0))
	p := randomPool(rng)
	for len(p.adapters) < 5 {
		p = randomPool(rng)
	}
	built := build(p)
	tallied := tally(p, built, request{vpod: "x", size: 1})
	want := look(p, built, tallied)

	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			if err := same(want, look(p, built, tallied)); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
}
