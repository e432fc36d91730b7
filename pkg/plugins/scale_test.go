package plugins_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// G3, C33: in a pool of 10,000 adapters, where ordinals alone have a hundred times more ranks than there are scores, the
// shipped profile picks exactly the first in the order zone, host, adapter, ordinal; whatever the order in which the
// nodes came; and so it does without Contenders, when all are filtered and scored.
func TestG3_ExactOrderAt10000Adapters(t *testing.T) {
	const seed, adapters, builds, runs = 20261130, 10_000, 4, 5
	random := rand.New(rand.NewPCG(seed, 0))
	type site struct {
		ordinal, zone, host, count int
	}
	sites := make([]site, adapters)
	zones, hosts := map[int]int{}, map[int]int{}
	for i := range sites {
		host := random.IntN(400)
		sites[i] = site{ordinal: i, host: host, zone: host % 3}
		if random.IntN(3) == 0 {
			sites[i].count = 1
		}
		zones[sites[i].zone] += sites[i].count
		hosts[host] += sites[i].count
	}
	want := slices.MinFunc(sites, func(a, b site) int {
		return cmp.Or(
			cmp.Compare(zones[a.zone], zones[b.zone]), cmp.Compare(hosts[a.host], hosts[b.host]),
			cmp.Compare(a.count, b.count), cmp.Compare(a.ordinal, b.ordinal),
		)
	})

	order := slices.Clone(sites)
	for build := range builds {
		profile := shipped(t, v1alpha1.SchedulerName)
		if build == 0 {
			profile = enable(t, nil, append(slices.Clone(inTree), "PodFitsResources", "NoMaxResourceCount", "EvenPodSpread*101",
				"AvailabilityZonePriority*1030301", "AvailabilityNodePriority*10201", "LowestOrdinalPriority*1")...)
		}
		c := newCluster(t, profile)
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, s := range order {
			name := fmt.Sprint("a-", s.ordinal)
			c.addNode(adapter(name, s.ordinal, fmt.Sprint("z", s.zone), fmt.Sprint("h", s.host), 2))
			if s.count > 0 {
				c.put(c.vreplica("x").Obj(), name)
			}
		}
		for run := range runs {
			o := c.cycle(c.vreplica("x").Obj())
			if got := fmt.Sprint(o.best); got != fmt.Sprintf("[a-%d]", want.ordinal) {
				t.Fatalf("seed %d, build %d, run %d: picked %s, want a-%d, having judged %d", seed, build, run, got, want.ordinal, o.judged)
			}
		}
	}
}

// C35: scores stay between 0 and 100, however far apart ordinals and counts are: the framework fails a cycle otherwise.
func TestC35_HugeOrdinalsAndSkewsScoreInRange(t *testing.T) {
	for _, profile := range []string{v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp} {
		c := newCluster(t, shipped(t, profile))
		c.addNode(adapter("a-0", 0, "z1", "h1", 2000))
		c.addNode(adapter("a-5000", 5000, "z2", "h2", 2000))
		c.addNode(adapter("a-2147483647", 2147483647, "z3", "h3", 2000))
		for range 1000 {
			c.put(c.vreplica("x").Obj(), "a-0")
		}
		want := map[string]string{v1alpha1.SchedulerName: "a-5000", v1alpha1.SchedulerNameMaxFillUp: "a-0"}[profile]
		if got := c.place(c.vreplica("x").Obj()); got != want {
			t.Errorf("%s: placed on %q, want %q", profile, got, want)
		}
	}
}
