package snapshot

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// steps is how many random changes the cached tally is compared after.
const steps = 4000

func TestCachedTallyEqualsOneFromScratch(t *testing.T) {
	const seed = 20261130
	w := newWorld(t, rand.New(rand.NewPCG(seed, 1)))
	cached := NewCache(v1alpha1.ResourceVReplicas)
	for step := range steps {
		what := w.step()
		if w.random.IntN(4) == 0 {
			continue // The scheduler sees several changes at once.
		}
		nodes := w.nodes()
		cached.Update(nodes)
		scratch := NewCache(v1alpha1.ResourceVReplicas)
		scratch.Update(nodes)
		if diff := gocmp.Diff(describe(scratch), describe(cached)); diff != "" {
			t.Fatalf("seed %d, step %d (%s): cached tally differs (-scratch +cached):\n%s", seed, step, what, diff)
		}
	}
}

func TestUpdateRecountsOnlyWhatChanged(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(1, 1)))
	for i := range 50 {
		w.add(fmt.Sprintf("p-%d", i))
	}
	cached := NewCache(v1alpha1.ResourceVReplicas)
	cached.Update(w.nodes())
	// Nothing changed: the update only compares, which allocates nothing.
	nodes := w.nodes()
	cached.Update(nodes)
	if n := testing.AllocsPerRun(10, func() { cached.Update(nodes) }); n != 0 {
		t.Errorf("an update without a change allocates %v times, want 0", n)
	}
}

// world is a scheduler's cache to which random things happen.
type world struct {
	t        *testing.T
	random   *rand.Rand
	logger   klog.Logger
	cache    internalcache.Cache
	snapshot *internalcache.Snapshot
	known    map[string]*v1.Node
	pods     []*v1.Pod
	serial   int
}

func newWorld(t *testing.T, random *rand.Rand) *world {
	metrics.Register() // The scheduler's cache counts itself.
	return &world{
		t: t, random: random, logger: klog.Background(),
		cache:    internalcache.New(t.Context(), nil, false, false),
		snapshot: internalcache.NewEmptySnapshot(),
		known:    map[string]*v1.Node{},
	}
}

// nodes is what plugins are given.
func (w *world) nodes() []fwk.NodeInfo {
	if err := w.cache.UpdateSnapshot(w.logger, w.snapshot); err != nil {
		w.t.Fatal(err)
	}
	nodes, err := w.snapshot.NodeInfos().List()
	if err != nil {
		w.t.Fatal(err)
	}
	return nodes
}

func (w *world) step() string {
	name := fmt.Sprintf("n-%d", w.random.IntN(12))
	node := w.known[name]
	switch k := w.random.IntN(10); {
	case node == nil:
		w.add(name)
		return "add " + name
	case k == 0:
		if err := w.cache.RemoveNode(w.logger, node); err != nil {
			w.t.Fatal(err)
		}
		delete(w.known, name)
		return "remove " + name
	case k <= 3:
		changed := w.describeNode(name)
		changed.CreationTimestamp = node.CreationTimestamp
		w.cache.UpdateNode(w.logger, node, changed)
		w.known[name] = changed
		return "change " + name
	case k <= 7 || len(w.pods) == 0:
		w.place(name)
		return "place on " + name
	default:
		return w.unplace()
	}
}

func (w *world) add(name string) {
	w.known[name] = w.describeNode(name)
	w.cache.AddNode(w.logger, w.known[name])
}

// describeNode makes up a node: of two pools or none, with a good, doubled or broken ordinal.
func (w *world) describeNode(name string) *v1.Node {
	w.serial++
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{}, CreationTimestamp: metav1.NewTime(time.Unix(int64(w.serial), 0)),
	}}
	maybe := func(key string, values ...string) {
		if i := w.random.IntN(len(values) + 1); i < len(values) {
			node.Labels[key] = values[i]
		}
	}
	maybe(v1alpha1.LabelPool, "p", "p", "p", "q")
	maybe(v1alpha1.LabelOrdinal, "0", "1", "2", "3", "4", "x", "-1")
	maybe(v1alpha1.LabelHost, "h1", "h2")
	maybe(v1.LabelTopologyZone, "z1", "z2")
	node.Spec.Unschedulable = w.random.IntN(4) == 0
	if w.random.IntN(4) == 0 {
		node.Spec.Taints = []v1.Taint{{Key: "t", Value: strconv.Itoa(w.random.IntN(2)), Effect: v1.TaintEffectNoExecute}}
	}
	node.Status.Allocatable = v1.ResourceList{v1alpha1.ResourceVReplicas: *resource.NewQuantity(w.random.Int64N(5), resource.DecimalSI)}
	return node
}

func (w *world) place(node string) {
	w.serial++
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: fmt.Sprint("pod-", w.serial), UID: types.UID(fmt.Sprint(w.serial)),
		Labels: map[string]string{v1alpha1.LabelVPod: vpodNames[w.random.IntN(len(vpodNames))]},
	}, Spec: v1.PodSpec{NodeName: node}}
	if w.random.IntN(5) > 0 {
		one := v1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
		pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: one}}}
	}
	if err := w.cache.AddPod(w.logger, pod); err != nil {
		w.t.Fatal(err)
	}
	w.pods = append(w.pods, pod)
}

// unplace removes a pod, or has it terminate first.
func (w *world) unplace() string {
	i := w.random.IntN(len(w.pods))
	pod := w.pods[i]
	if pod.DeletionTimestamp == nil && w.random.IntN(2) == 0 {
		terminating := pod.DeepCopy()
		terminating.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		if err := w.cache.UpdatePod(w.logger, pod, terminating); err != nil {
			w.t.Fatal(err)
		}
		w.pods[i] = terminating
		return "terminate " + pod.Name
	}
	if err := w.cache.RemovePod(w.logger, pod); err != nil {
		w.t.Fatal(err)
	}
	w.pods = slices.Delete(w.pods, i, i+1)
	return "remove " + pod.Name
}

var vpodNames = []string{"a", "b", "c"}

// view is what a vreplica of each vpod sees of an adapter, without the number of its slot.
type view struct {
	Adapter placement.Adapter
	Rival   bool
	Taints  []v1.Taint
	Node    string
	Classes []string
}

// describe tells all that a cache knows.
func describe(c *Cache) map[string][]view {
	views := map[string][]view{}
	for pool, p := range c.pools {
		list := []view{}
		for name := range p.names {
			slot, found := p.Slot(name)
			if !found {
				list = append(list, view{Node: name})
				continue
			}
			list = append(list, view{
				Adapter: p.At(slot), Rival: p.Rival(slot), Node: name, Taints: p.taints[p.doors[slot]], Classes: classes(p.Pool, slot),
			})
		}
		slices.SortFunc(list, func(a, b view) int { return cmp.Compare(a.Node, b.Node) })
		views[pool] = list
	}
	return views
}

// classes tell what a vreplica of each vpod sees of the adapter in a slot.
func classes(p *placement.Pool, slot int) []string {
	var list []string
	for _, name := range vpodNames {
		t := p.Tally(placement.Request{VPod: placement.VPod{Namespace: "ns", Kind: "VPod", Name: name}, Size: 1, Limit: 2})
		list = append(list, fmt.Sprintf("%s: %d/%d/%d of %+v, %d eligible", name,
			t.Count(slot, placement.ByZone), t.Count(slot, placement.ByHost), t.Count(slot, placement.ByAdapter),
			t.WithinLimit(slot), t.Eligible()))
	}
	return list
}
