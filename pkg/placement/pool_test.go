package placement_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// A pool that was changed step by step is the pool that is built from what is left.
func TestPoolChangedInStepsEqualsPoolFromScratch(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		built, now := build(p), p.clone()
		for range 3 {
			step := changeAtRandom(rng, now, built)
			if built.Len() != len(now.adapters) {
				return fmt.Errorf("after %s: %d adapters, want %d", step, built.Len(), len(now.adapters))
			}
			r, scratch := randomRequest(rng), build(now)
			if err := same(look(now, scratch, tally(now, scratch, r)), look(now, built, tally(now, built, r))); err != nil {
				return fmt.Errorf("after %s to\n%v%+v: %w", step, now, r, err)
			}
		}
		return nil
	})
}

// changeAtRandom adds, replaces or removes an adapter, in the model and in the pool that was built from it.
func changeAtRandom(rng *rand.Rand, p *pool, built *placement.Pool) string {
	name := fmt.Sprintf("a-%d", rng.IntN(len(p.adapters)+2))
	known := slices.IndexFunc(p.adapters, func(a *adapter) bool { return a.name == name })
	if known >= 0 && oneIn(rng, 2) {
		p.adapters = slices.Delete(p.adapters, known, known+1)
		built.Remove(name)
		return "removing " + name
	}
	a := randomAdapter(rng, name, rng.IntN(9), 4, 3)
	put(built, a)
	if known < 0 {
		p.adapters = append(p.adapters, a)
		return "adding " + name
	}
	p.adapters[known] = a
	return "replacing " + name
}

func TestRemoveOfUnknownAdapterIsIgnored(t *testing.T) {
	p := &pool{adapters: []*adapter{{name: "a-0", capacity: 1}}}
	built := build(p)
	built.Remove("a-1")
	if _, known := built.Slot("a-1"); known || built.Len() != 1 {
		t.Errorf("a-1 known %t, %d adapters, want only a-0", known, built.Len())
	}
}

// Where hosts come and go for months, a tally must not grow with those that are gone.
func TestTallyForgetsWhatIsGone(t *testing.T) {
	p := &pool{adapters: []*adapter{{name: "a-0", capacity: 1}}}
	built := build(p)
	bytesOfTally := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			tally(p, built, request{vpod: "x", size: 1})
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 100
	}
	want := bytesOfTally()
	for i := range 5000 {
		passing := &adapter{name: fmt.Sprintf("b-%d", i), ordinal: i + 1, zone: fmt.Sprintf("z%d", i), host: fmt.Sprintf("h%d", i)}
		put(built, passing)
		built.Remove(passing.name)
	}
	if got := bytesOfTally(); got > 2*want {
		t.Errorf("a tally takes %d bytes after 5000 adapters came and went, want about %d as before", got, want)
	}
}

// Preemption supposes pods away on a clone: that is the pool without them, and the original is as before.
func TestCloneAndAddEqualPoolWithThatChange(t *testing.T) {
	everyCluster(t, func(rng *rand.Rand, p *pool) error {
		if len(p.adapters) == 0 {
			return nil
		}
		r, built := randomRequest(rng), build(p)
		original := tally(p, built, r)
		supposed, changed := original.Clone(), p.clone()
		before := look(p, built, original)
		for range 1 + rng.IntN(4) {
			a := changed.adapters[rng.IntN(len(changed.adapters))]
			slot, _ := built.Slot(a.name)
			size, n := changeVReplicas(rng, a, r.vpod)
			supposed.Add(slot, size, n)
			if oneIn(rng, 2) {
				original, supposed = supposed, supposed.Clone()
				before = look(p, built, original)
			}
		}
		rebuilt := build(changed)
		want, got := look(changed, rebuilt, tally(changed, rebuilt, r)), look(changed, built, supposed)
		if err := same(withoutAdapters(want), withoutAdapters(got)); err != nil {
			return fmt.Errorf("%+v with supposed vreplicas:\n%s%w", r, changed, err)
		}
		if err := same(before, look(p, built, original)); err != nil {
			return fmt.Errorf("%+v, original of the clone: %w", r, err)
		}
		return nil
	})
}

// changeVReplicas adds or removes a pod of the model, and returns the room and the vreplicas of vpod that this takes.
func changeVReplicas(rng *rand.Rand, a *adapter, vpod string) (size int64, n int) {
	counted := func(r vreplica) int {
		if r.vpod == vpod && !r.terminating {
			return 1
		}
		return 0
	}
	if len(a.vreplicas) > 0 && !oneIn(rng, 3) {
		i := rng.IntN(len(a.vreplicas))
		gone := a.vreplicas[i]
		a.vreplicas = slices.Delete(a.vreplicas, i, i+1)
		return -gone.size, -counted(gone)
	}
	added := vreplica{vpod: vpods[rng.IntN(len(vpods))], size: 1 + rng.Int64N(2), terminating: oneIn(rng, 6)}
	a.vreplicas = append(a.vreplicas, added)
	return added.size, counted(added)
}

// withoutAdapters leaves out what the pool was told: a supposition changes a tally only.
func withoutAdapters(v view) view {
	for i := range v.Adapters {
		v.Adapters[i].Adapter.Free = 0
	}
	return v
}

func TestOrdinalClaimedTwice(t *testing.T) {
	tests := map[string]struct {
		adapters []*adapter
		remove   string
		want     []string
	}{
		"born 1 and 2: the older":  {adapters: []*adapter{{name: "a", born: 2}, {name: "b", born: 1}}, want: []string{"b"}},
		"born alike: lesser name":  {adapters: []*adapter{{name: "b", born: 1}, {name: "a", born: 1}}, want: []string{"a"}},
		"three, the older removed": {adapters: []*adapter{{name: "c", born: 3}, {name: "b", born: 2}, {name: "a", born: 1}}, remove: "a", want: []string{"b"}},
		"ordinals 0 and 1: both":   {adapters: []*adapter{{name: "a"}, {name: "b", ordinal: 1}}, want: []string{"a", "b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			built := build(&pool{adapters: tc.adapters})
			built.Remove(tc.remove)
			var got []string
			for _, a := range tc.adapters {
				if slot, ok := built.Slot(a.name); ok && !built.Rival(slot) {
					got = append(got, a.name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("holders of an ordinal (-want +got):\n%s", diff)
			}
		})
	}
}
