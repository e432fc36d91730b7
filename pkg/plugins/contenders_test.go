package plugins_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/plugins/contenders"
	"vpod.dev/vpod-scheduler/pkg/plugins/podfitsresources"
)

// inTree are the in-tree filters of the shipped profiles.
var inTree = []string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity"}

// The profiles of this test have random rules and weights; two clusters live the same random life, and only one of them
// narrows to contenders.
func TestContendersChangeNoChoice(t *testing.T) {
	const seed, profiles, steps = 20261130, 60, 80
	waited, placed := 0, 0
	for n := range profiles {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		args, names := randomRules(random)
		all := newCluster(t, enable(t, args, append(slices.Clone(inTree), names...)...))
		narrowed := newCluster(t, enable(t, args, append(append([]string{contenders.Name}, inTree...), names...)...))
		narrowed.serial = 1 << 20 // The pods of the two must not share names.
		life := rand.New(rand.NewPCG(seed, uint64(n)+1<<32))
		for step := range steps {
			change := randomChange(life, step)
			change(all)
			change(narrowed)
			pod := randomVreplica(life, all)
			want, got := all.cycle(pod), narrowed.cycle(pod)
			if diff := cmp.Diff(want.best, got.best); diff != "" {
				t.Fatalf("seed %d, profile %d %v %v, step %d: choice differs (-all +contenders):\n%s", seed, n, names, args, step, diff)
			}
			if len(want.best) == 0 {
				waited++
				if diff := cmp.Diff(want.reasons, got.reasons); diff != "" {
					t.Fatalf("seed %d, profile %d, step %d: reasons differ (-all +contenders):\n%s", seed, n, step, diff)
				}
				continue
			}
			placed++
			all.put(pod, want.best[0])
			narrowed.put(pod, want.best[0])
		}
	}
	if waited < 100 || placed < 1000 {
		t.Errorf("only %d placed and %d waited: the clusters prove too little", placed, waited)
	}
}

// randomRules returns a profile's plugins with weights, and their arguments.
func randomRules(random *rand.Rand) (map[string]any, []string) {
	spread := func(domains bool) map[string]any {
		args := map[string]any{"maxSkew": 1 + random.IntN(3), "whenUnsatisfiable": []string{"DoNotSchedule", "ScheduleAnyway"}[random.IntN(2)]}
		if domains {
			args["minDomains"] = random.IntN(3)
		}
		return args
	}
	names := []string{"PodFitsResources", "NoMaxResourceCount", fmt.Sprintf("LowestOrdinalPriority*%d", 1+random.IntN(50))}
	args := map[string]any{}
	for _, name := range []string{"EvenPodSpread", "AvailabilityZonePriority", "AvailabilityNodePriority", "MaxFillUp"} {
		if random.IntN(3) == 0 {
			continue
		}
		names = append(names, fmt.Sprintf("%s*%d", name, 1+random.IntN(200)))
		if name != "MaxFillUp" {
			args[name] = spread(name != "EvenPodSpread")
		}
	}
	return args, names
}

// randomChange is something that happens to a cluster beside the placement of the test's own vreplicas.
func randomChange(random *rand.Rand, step int) func(*cluster) {
	if step < 9 || random.IntN(12) == 0 {
		ordinal := random.IntN(30)
		n := adapter(fmt.Sprintf("n-%d", step), ordinal, []string{"", "z1", "z2", "z3"}[random.IntN(4)], []string{"", "h1", "h2", "h3"}[random.IntN(4)], random.IntN(7))
		n.Unschedulable(random.IntN(8) == 0)
		n.Label("size", []string{"s", "m"}[random.IntN(2)])
		switch random.IntN(12) {
		case 0:
			n.Label(v1alpha1.LabelOrdinal, "x")
		case 1:
			n.Label(v1alpha1.LabelPool, "other")
		case 2:
			n.Taints([]v1.Taint{{Key: "broken", Effect: v1.TaintEffectNoExecute}})
		}
		return func(c *cluster) { c.addNode(n) }
	}
	if random.IntN(3) > 0 {
		return func(*cluster) {}
	}
	node, vpod, terminating := fmt.Sprintf("n-%d", random.IntN(9)), []string{"x", "y", "z"}[random.IntN(3)], random.IntN(4) == 0
	return func(c *cluster) {
		pod := c.vreplica(vpod)
		if terminating {
			pod.Terminating()
		}
		c.put(pod.Obj(), node)
	}
}

func randomVreplica(random *rand.Rand, c *cluster) *v1.Pod {
	pod := c.vreplica([]string{"x", "y"}[random.IntN(2)])
	if limit := random.IntN(6); limit > 0 {
		pod.Annotation(v1alpha1.AnnotationMaxAdapters, fmt.Sprint(limit))
	}
	if random.IntN(6) == 0 {
		pod.NodeAffinityIn("size", []string{"s"}, st.NodeSelectorTypeMatchExpressions)
	}
	return pod.Obj()
}

func TestContendersAreFew(t *testing.T) {
	c := newCluster(t, shipped(t, v1alpha1.SchedulerName))
	for i := range 300 {
		c.addNode(adapter(fmt.Sprint("a-", i), i, fmt.Sprint("z", i%3), fmt.Sprint("h", i%30), 2))
	}
	for i := range 300 {
		o := c.cycle(c.vreplica("x").Obj())
		if o.judged > 12 {
			t.Fatalf("placement %d judged %d of 300 adapters, want a dozen at most", i, o.judged)
		}
		c.put(c.vreplica("x").Obj(), o.best[0])
	}
}

func TestAllAreJudgedWhereNoneIsEligible(t *testing.T) {
	c := newCluster(t, shipped(t, v1alpha1.SchedulerName))
	for i := range 5 {
		c.addNode(adapter(fmt.Sprint("a-", i), i, "z", "", i%2)) // a-0, a-2 and a-4 offer nothing
	}
	c.addNode(st.MakeNode().Name("real"))
	c.put(c.vreplica("y").Obj(), "a-1")
	c.put(c.vreplica("y").Obj(), "a-3")
	o := c.cycle(c.vreplica("x").Obj())
	want := map[string]int{podfitsresources.ReasonNoCapacity: 3, podfitsresources.ReasonFull: 2}
	if diff := cmp.Diff(want, o.reasons); diff != "" || o.judged != 5 {
		t.Errorf("judged %d, want the pool's 5; reasons (-want +got):\n%s", o.judged, diff)
	}
}

// A preemptor that is nominated to the contender holds its room, which only the filters see.
func TestNominatedContenderIsNotNarrowedTo(t *testing.T) {
	c := newCluster(t, shipped(t, v1alpha1.SchedulerName))
	for i := range 3 {
		c.addNode(adapter(fmt.Sprint("a-", i), i, "z", "", 1))
	}
	c.nominate(c.vreplica("y").Priority(10).Obj(), "a-0")
	if got := c.place(c.vreplica("x").Obj()); got != "a-1" {
		t.Errorf("placed on %q, want a-1", got)
	}
}

// An attempt that a foreign filter failed for all contenders is repeated over all adapters, at once and without
// preemption.
func TestNarrowedAttemptThatFailsIsRepeatedOverAll(t *testing.T) {
	c := newCluster(t, shipped(t, v1alpha1.SchedulerName))
	for i := range 3 {
		c.addNode(adapter(fmt.Sprint("a-", i), i, "z", "", 1))
	}
	pod := c.vreplica("x").Obj()
	first := c.cycle(pod)
	if first.judged != 1 {
		t.Fatalf("judged %d adapters, want the one contender", first.judged)
	}
	_, status := c.fw.RunPostFilterPlugins(c.ctx, first.state, pod, framework.NewDefaultNodeToStatus())
	if status.Code() != fwk.UnschedulableAndUnresolvable || status.Message() != contenders.Reason {
		t.Errorf("PostFilter answers %v %q, want an end of the attempt", status.Code(), status.Message())
	}
	if !c.activate[pod.UID] {
		t.Error("the vreplica is not tried again")
	}
	if second := c.cycle(pod); second.judged != 3 {
		t.Errorf("judged %d adapters the second time, want all 3", second.judged)
	}
	if third := c.cycle(pod); third.judged != 1 {
		t.Errorf("judged %d adapters the third time, want the one contender", third.judged)
	}
}
