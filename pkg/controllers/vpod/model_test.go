package vpod

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// world is a VPod whose plans are carried out, and whose placeholders are placed by the scheduler's arithmetic.
type world struct {
	observation
	adapters []*corev1.Node
	rng      *rand.Rand
	created  int
	// thieves are other VPods that wait for room.
	thieves int
	// quota is how many placeholders may exist; 0 is no limit.
	quota int
	// budget is how many may be evicted now; a disruption controller adds to it. nil is no limit.
	budget *int
	// evicted are those that were, by name.
	evicted map[string]bool
	history []string
}

func newWorld(rng *rand.Rand) *world {
	w := &world{rng: rng, evicted: map[string]bool{}}
	zones := 1 + rng.IntN(3)
	for i := range 1 + rng.IntN(5) {
		w.adapters = append(w.adapters, adapterNode(fmt.Sprintf("a-%d zone=z%d host=h%d room=%d", i, i%zones, i, 4+rng.IntN(8))))
	}
	w.observation = observed(xVPod(rng.IntN(12)), w.adapters)
	if rng.IntN(4) == 0 {
		limitedTo(1 + rng.IntN(3))(w.vpod)
	}
	return w
}

// control carries out one plan, and says whether there was anything to do.
func (w *world) control() bool {
	w.held, w.shrinks, w.lacking = w.hold(w.held), w.isShrinking(w.shrinks), w.lacksRoomSince(w.lacking)
	w.tried = w.triedInVain(w.tried)
	if !slices.ContainsFunc(w.pods, w.isLeaving) {
		w.eviction = nil
	}
	p := decide(w.observation)
	defer w.publish()
	if p.isEmpty() {
		if !w.holdsBack(len(w.alive())) {
			w.refusal = nil
		}
		return false
	}
	p.evict = w.ask(p)
	left := w.observation
	left.pods = without(w.pods, p.leaves())
	w.vpod.Status = left.status()
	w.pods = without(w.pods, p.remove)
	gone := slices.Concat(p.remove, w.evict(p))
	for _, pod := range gone {
		if w.thieves > 0 && !isWaiting(pod) && isOpen(w.nodes[pod.Spec.NodeName]) && w.rng.IntN(3) == 0 {
			w.steal(pod.Spec.NodeName)
		}
	}
	for _, pod := range p.mend {
		called := w.isCalledOff(pod)
		mend(w.vpod, pod)
		if called {
			delete(pod.Annotations, v1alpha1.AnnotationMove)
		}
	}
	w.create(p.create)
	w.note("%s -> %s", p, w)
	return true
}

// steal has another VPod take the room that a removed placeholder leaves.
func (w *world) steal(node string) {
	w.thieves--
	w.takenByOthers(map[string]int64{node: w.census.others(node, client.ObjectKeyFromObject(w.vpod)) + 1})
	w.note("another takes its room on %s", node)
}

// fill has another VPod take all the room that is left.
func (w *world) fill() {
	counts := w.counts()
	for _, node := range w.adapters {
		w.takenByOthers(map[string]int64{node.Name: capacityOf(node) - int64(counts[node.Name])})
	}
}

// schedule tries one of the placeholders that wait, and says whether that changed anything.
func (w *world) schedule() bool {
	waiting := filter(w.alive(), isWaiting)
	for _, i := range w.rng.Perm(len(waiting)) {
		pod := waiting[i]
		if node := w.choose(); node != "" {
			pod.Spec.NodeName, pod.Status.Conditions, pod.Status.Phase = node, nil, corev1.PodRunning
			w.note("%s on %s", pod.Name, node)
			return true
		}
		if !isRefused(pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}
			return true
		}
	}
	return false
}

func (w *world) choose() string {
	v := placement.VPod{Namespace: "ns", Kind: v1alpha1.KindVPod, Name: "x"}
	pool, counts := placement.NewPool(), w.counts()
	for _, node := range w.adapters {
		capacity := capacityOf(node)
		pool.Put(placement.Adapter{
			Name: node.Name, Ordinal: ordinalOf(node), Zone: node.Labels[corev1.LabelTopologyZone], Host: snapshot.HostOf(node),
			Capacity: capacity,
			Free:     capacity - int64(counts[node.Name]) - w.census.others(node.Name, client.ObjectKeyFromObject(w.vpod)),
		}, map[placement.VPod]int{v: counts[node.Name]})
	}
	request := placement.Request{VPod: v, Size: 1, Open: func(slot int) bool { return isOpen(w.nodes[pool.At(slot).Name]) }}
	if w.vpod.Spec.MaxAdapters != nil {
		request.Limit = int(*w.vpod.Spec.MaxAdapters)
	}
	slot, ok := pool.Tally(request).Choose(placement.Availability)
	if !ok {
		return ""
	}
	return pool.At(slot).Name
}

// counts are the bound placeholders by adapter, as the scheduler counts: by the VPod that their label names.
func (w *world) counts() map[string]int {
	counts := map[string]int{}
	for _, pod := range w.pods {
		if !isWaiting(pod) && pod.Labels[v1alpha1.LabelVPod] == "x" && !adapter.IsFinished(pod) {
			counts[pod.Spec.NodeName]++
		}
	}
	return counts
}

// settle lets controller and scheduler act in random turns until neither has anything to do.
func (w *world) settle(holds func() error) error {
	for range 1000 {
		first, second := w.control, w.schedule
		if w.rng.IntN(2) == 0 {
			first, second = second, first
		}
		if !first() && !second() && !w.pass() {
			return nil
		}
		if err := holds(); err != nil {
			return err
		}
	}
	return fmt.Errorf("no end: %s", w)
}

func (w *world) always() error { return nil }

func (w *world) note(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf(format, args...))
}

// String tells how many are on each adapter, and how many wait.
func (w *world) String() string {
	counts := w.counts()
	texts := make([]string, len(w.adapters))
	for i, node := range w.adapters {
		texts[i] = fmt.Sprint(counts[node.Name])
	}
	return fmt.Sprintf("%s+%d", strings.Join(texts, "/"), len(filter(w.alive(), isWaiting)))
}

func byAdapter(node *corev1.Node) string { return node.Name }
func byZone(node *corev1.Node) string    { return node.Labels[corev1.LabelTopologyZone] }

// skew is by how much domains differ, those left aside that have fewer because they are full.
func (w *world) skew(by func(*corev1.Node) string) int {
	counts, sums, room := w.counts(), map[string]int{}, map[string]int64{}
	for _, node := range w.adapters {
		n := counts[node.Name]
		sums[by(node)] += n
		room[by(node)] += capacityOf(node) - int64(n)
	}
	least, most := 1000, 0
	for domain, n := range sums {
		most = max(most, n)
		if room[domain] > 0 {
			least = min(least, n)
		}
	}
	return max(0, most-least)
}
