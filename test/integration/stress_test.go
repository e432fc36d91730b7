package integration

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

var (
	stressSeed  = flag.Uint64("stress.seed", 20261130, "seed of the random changes of TestG2_RandomChanges")
	stressSteps = flag.Int("stress.steps", 110, "number of these changes")
)

// verdict is how soon a vreplica has to be placed or refused after a change: a failover, and a wide margin. One that was
// not woken waits for minutes.
const verdict = 15 * time.Second

// stress is a pool to which random things happen.
type stress struct {
	*pool
	random   *rand.Rand
	books    *ledger
	replicas []*replica
	// classes are the priorities above the default: one preempts, the other waits.
	classes []func(*corev1.Pod)
	// lowered are capacities that hold once what was begun before them is over.
	lowered map[string]int
	changes []change
	history []string
}

// change is something that may happen, weight times as likely as what has weight 1. It says what it did.
type change struct {
	weight int
	do     func(*view) string
}

// After each change, no adapter takes more than its capacity at any moment, unless by hand, and nothing waits in vain.
// That is judged by what the API server has, independently of the code of the scheduler.
func TestG2_RandomChanges(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{})
	s := &stress{pool: newPool(t, l), random: rand.New(rand.NewPCG(*stressSeed, 0)), lowered: map[string]int{}}
	for range 2 {
		s.replicas = append(s.replicas, startReplica(t, l, lab.FastFailover))
	}
	s.books = s.audit(1)
	s.classes = []func(*corev1.Pod){
		s.priority("preempts", 100, corev1.PreemptLowerPriority), s.priority("waits", 100, corev1.PreemptNever),
	}
	s.changes = []change{
		{6, s.join}, {4, s.leave}, {4, s.blink}, {6, s.cordonOne}, {5, s.taintOne}, {8, s.resize}, {8, s.relabelNode},
		{21, s.growOne}, {16, s.shrink}, {5, s.releaseAll}, {8, s.limitOne}, {4, s.relabelPod}, {3, s.byHand}, {4, s.crash},
	}
	for range 5 {
		s.join(nil)
	}
	waited := 0
	for step := range *stressSteps {
		v := s.settled()
		waited += len(v.waiting)
		s.history = append(s.history, fmt.Sprintf("%d: %s", step, s.pick()(v)))
	}
	s.settled()
	s.books.check(t)
	t.Logf("seed %d, %d changes: %.1f vreplicas waited on average", *stressSeed, *stressSteps, float64(waited)/float64(*stressSteps))
}

// settled waits until all are placed or rightly refused.
func (s *stress) settled() *view {
	s.t.Helper()
	if len(s.lowered) > 0 {
		s.seen()
	}
	ctx, cancel := context.WithTimeoutCause(labtest.TimeLimit(s.t), verdict, errors.New("it took too long"))
	defer cancel()
	var v *view
	err := lab.Wait(ctx, "no vreplica waits in vain", func(ctx context.Context) error {
		now, err := s.view(ctx)
		if err != nil {
			return err
		}
		v = now // The last look may be cut short, and a failure needs the one before.
		return v.waitsInVain()
	})
	if err != nil {
		s.t.Fatalf("seed %d: %v\n%v\nlast changes:\n%s", *stressSeed, err, v, strings.Join(s.history[max(0, len(s.history)-15):], "\n"))
	}
	for node, n := range s.lowered {
		s.books.allow(node, n)
	}
	clear(s.lowered)
	return v
}

func (s *stress) join(*view) string {
	a := lab.Adapter{Pool: s.name, Ordinal: s.random.IntN(1000), Capacity: s.random.Int64N(8)}
	a.Zone, a.Host = oneOf(s, "", "z1", "z2", "z3"), oneOf(s, "", "h1", "h2", "h3")
	if _, err := s.Client().CoreV1().Nodes().Get(s.t.Context(), a.Name(), metav1.GetOptions{}); err == nil {
		return "nothing"
	}
	// Pods may be left from an earlier node of the name, or on their way there.
	s.books.allow(a.Name(), int(a.Capacity))
	s.adapter(a)
	return fmt.Sprintf("join %+v", a)
}

func (s *stress) leave(v *view) string {
	n := v.anyNode(s.random)
	s.must(s.Client().CoreV1().Nodes().Delete(s.t.Context(), n.name, metav1.DeleteOptions{}))
	return "leave " + n.name
}

// blink replaces a node by one of the same name, with pods on it.
func (s *stress) blink(v *view) string {
	n := v.anyNode(s.random)
	s.must(s.Client().CoreV1().Nodes().Delete(s.t.Context(), n.name, metav1.DeleteOptions{}))
	s.adapter(lab.Adapter{Ordinal: n.number, Zone: oneOf(s, "", "z1"), Capacity: n.capacity})
	return "blink " + n.name
}

func (s *stress) cordonOne(v *view) string {
	n, cordoned := v.anyNode(s.random), s.random.IntN(2) == 0
	s.cordon(n.number, cordoned)
	return fmt.Sprintf("cordon %s: %t", n.name, cordoned)
}

func (s *stress) taintOne(v *view) string {
	n, effect := v.anyNode(s.random), oneOf(s, "", corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)
	if effect == "" {
		s.taint(n.number)
	} else {
		s.taint(n.number, corev1.Taint{Key: taintOfTest, Effect: effect})
	}
	return fmt.Sprintf("taint %s: %s", n.name, effect)
}

func (s *stress) resize(v *view) string {
	n, capacity := v.anyNode(s.random), s.random.IntN(8)
	if capacity >= int(n.capacity) {
		s.books.allow(n.name, capacity)
	} else {
		s.lowered[n.name] = capacity
	}
	s.capacity(n.number, strconv.Itoa(capacity))
	return fmt.Sprintf("resize %s to %d", n.name, capacity)
}

func (s *stress) relabelNode(v *view) string {
	n := v.anyNode(s.random)
	label := oneOf(s,
		[2]string{corev1.LabelTopologyZone, oneOf(s, "z1", "z2")}, [2]string{v1alpha1.LabelHost, oneOf(s, "h1", "h2")},
		[2]string{v1alpha1.LabelOrdinal, oneOf(s, strconv.Itoa(n.number), "1", "2", "x")},
		[2]string{v1alpha1.LabelPool, oneOf(s, s.name, s.name, "elsewhere")})
	s.nodeLabel(n.number, label[0], label[1])
	return fmt.Sprintf("label %s: %v", n.name, label)
}

func (s *stress) growOne(v *view) string {
	if len(v.waiting) > 6 {
		return s.shrink(v)
	}
	i := s.random.IntN(4)
	x := s.vpod(fmt.Sprint("v", i))
	x.MaxAdapters = max(0, s.random.IntN(6)-2)
	x.SchedulerName = []string{v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp}[i%2]
	edits := []func(*corev1.Pod){oneOf(s, s.classes[0], s.classes[1], func(*corev1.Pod) {}, func(*corev1.Pod) {})}
	if s.random.IntN(4) == 0 {
		edits = append(edits, withFinalizer)
	}
	pods := s.grow(x, 1+s.random.IntN(4), edits...)
	return fmt.Sprintf("grow %s by %d, limit %d, %s", x.Name, len(pods), x.MaxAdapters, pods[0].Spec.PriorityClassName)
}

func (s *stress) shrink(v *view) string {
	for range 1 + s.random.IntN(4) {
		if p := v.anyPod(s.random); p != nil {
			s.must(s.Client().CoreV1().Pods(s.name).Delete(s.t.Context(), p.Name, metav1.DeleteOptions{}))
		}
	}
	return "shrink"
}

func (s *stress) releaseAll(v *view) string {
	for _, p := range v.pods {
		if p.DeletionTimestamp != nil {
			s.patchAny(p.Name, object{"metadata": object{"finalizers": nil}})
		}
	}
	return "release"
}

// limitOne changes the limit of all vreplicas of a vpod, or of some.
func (s *stress) limitOne(v *view) string {
	vpod, limit, one := fmt.Sprint("v", s.random.IntN(4)), strconv.Itoa(1+s.random.IntN(4)), 1+2*s.random.IntN(2)
	for _, p := range v.pods {
		if p.Labels[v1alpha1.LabelVPod] == vpod && s.random.IntN(one) == 0 {
			s.patchAny(p.Name, metadata("annotations", v1alpha1.AnnotationMaxAdapters, limit))
		}
	}
	return fmt.Sprintf("limit one in %d of %s to %s", one, vpod, limit)
}

func (s *stress) relabelPod(v *view) string {
	p, vpod := v.anyPod(s.random), fmt.Sprint("v", s.random.IntN(4))
	if p == nil {
		return "nothing"
	}
	s.patchAny(p.Name, metadata("labels", v1alpha1.LabelVPod, vpod))
	return "give " + p.Name + " to " + vpod
}

// byHand puts a vreplica where there may be no room for it.
func (s *stress) byHand(v *view) string {
	n := v.anyNode(s.random)
	s.books.allow(n.name, 1000)
	s.books.hasSeen(s.t, s.grow(s.vpod("hand"), 1, s.on(n.number))[0])
	s.lowered[n.name] = int(n.capacity)
	return "by hand on " + n.name
}

func (s *stress) crash(v *view) string {
	what := s.growOne(v)
	crashLeader(s.t, s.replicas)
	return "crash amid " + what
}
