package rebalance

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

var (
	firstSeed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the first random pool")
	pools     = flag.Int("pools", 100, "number of random pools for each property")
)

// everyPool runs random pools, and tells the seed of one that goes wrong.
func everyPool(t *testing.T, run func(*model)) {
	t.Helper()
	t.Parallel()
	t.Logf("seed %d", *firstSeed)
	for i := range *pools {
		seed := *firstSeed + uint64(i)
		m := randomModel(rand.New(rand.NewPCG(seed, 0)))
		first := m.String()
		run(m)
		if len(m.wrong) > 0 {
			t.Fatalf("%v\nat first:\n%sat last:\n%sreproduce: go test ./pkg/controllers/rebalance -run '^%s$' -args -seed=%d -pools=1",
				m.wrong, first, m.String(), t.Name(), seed)
		}
	}
}

func (m *model) fail(format string, args ...any) {
	m.wrong = append(m.wrong, fmt.Sprintf("after %v: ", m.now.Sub(noon))+fmt.Sprintf(format, args...))
}

// String tells where all is.
func (m *model) String() string {
	text := ""
	for _, n := range m.nodes {
		quantity := n.Status.Allocatable[v1alpha1.ResourceVReplicas]
		text += fmt.Sprintf("  %s room %s labels %v open %t ready %t\n", n.Name, quantity.String(), n.Labels, isOpen(n),
			n.Status.Conditions[0].Status == corev1.ConditionTrue)
	}
	for _, v := range m.vpods {
		counts := map[string]int{}
		for _, pod := range m.count().own[v.UID] {
			counts[pod.Spec.NodeName]++
		}
		text += fmt.Sprintf("  %s by %s limit %v guarded %t odd %t: %v of %d\n", v.Name, v.Spec.SchedulerName, v.Spec.MaxAdapters,
			m.guarded[v.UID], m.odd[v.UID], counts, *v.Spec.Replicas)
	}
	return text
}

// judgeBegin checks what must hold when a move begins.
func (m *model) judgeBegin(next *move) {
	v := m.count()
	for _, pod := range m.pods {
		switch {
		case pod.DeletionTimestamp != nil:
			m.fail("%s begins to move, and %s is about to be gone", next.pod.Name, pod.Name)
		case isMoving(pod):
			m.fail("%s begins to move, and %s is on its way", next.pod.Name, pod.Name)
		case pod.Spec.NodeName == "" && v.adapters.Tally(v.request(v.controllerOf(pod))).Eligible() > 0:
			m.fail("%s begins to move, and %s waits for room that is there", next.pod.Name, pod.Name)
		case pod.Spec.NodeName != "" && !isAdmitted(pod):
			m.fail("%s begins to move, and %s is not admitted", next.pod.Name, pod.Name)
		}
	}
	every := time.Minute / time.Duration(*m.pool.Spec.Descheduling.Rebalance.EvictionsPerMinute)
	if n := len(m.begun); n > 0 && m.now.Sub(m.begun[n-1].begun) < every {
		m.fail("two moves within %v, want no more than one in %v", m.now.Sub(m.begun[n-1].begun), every)
	}
	// Nobody who would be better off, and may, has waited for longer.
	for _, other := range m.vpods {
		t := m.memory.turns[other.UID]
		if t.begun.Before(m.memory.turns[next.vpod.UID].begun) && t.wait(other.Generation, m.now) == 0 && v.better(other) != nil {
			m.fail("%s has a turn, and %s had its last one before", next.vpod.Name, other.Name)
		}
	}
}

// judgeEnd checks what a move did.
func (m *model) judgeEnd(was memory, p plan) {
	for _, o := range p.outcomes {
		if !o.moved {
			continue
		}
		m.ended = append(m.ended, was.move)
		if after := m.potentialOf(o.vpod); slices.Compare(after[:], m.before[:]) >= 0 {
			m.fail("%s moved, and its potential went from %v to %v", o.pod.Name, m.before, after)
		}
	}
}

// judgeRest checks that a pool is where it should end up.
func (m *model) judgeRest() {
	v := m.count()
	for _, vpod := range m.vpods {
		if next := v.better(vpod); next != nil && !m.guarded[vpod.UID] && !m.odd[vpod.UID] {
			m.fail("a vreplica of %s would still be better %v", vpod.Name, next.Improvement)
		}
	}
	for _, pod := range v.marked() {
		if vpod := v.controllerOf(pod); !m.guarded[vpod.UID] && !m.odd[vpod.UID] { // Those try again from time to time.
			m.fail("%s still has its mark", pod.Name)
		}
	}
}

// isOrdinary: all moves are of use.
func (m *model) isOrdinary() bool {
	return !slices.ContainsFunc(m.vpods, func(v *v1alpha1.VPod) bool { return m.guarded[v.UID] || m.odd[v.UID] })
}

// A pool that nobody changes comes to where nothing can be improved, and rests: no more moves, and not even looks.
func TestPoolsComeToRest(t *testing.T) {
	moves, vreplicas, mostOften := 0, 0, 0.0
	everyPool(t, func(m *model) {
		m.run(2*time.Hour, nil)
		m.judgeRest()
		moves += len(m.ended)
		for _, v := range m.vpods {
			vreplicas += int(*v.Spec.Replicas)
		}
		if n := len(m.pods); n > 0 {
			mostOften = max(mostOften, float64(len(m.ended))/float64(n))
		}
		if !m.isOrdinary() {
			return
		}
		if len(m.begun) != len(m.ended) {
			m.fail("%d moves were begun, and %d did what they should", len(m.begun), len(m.ended))
		}
		if len(m.ended) > 4*len(m.pods) { // Far above what was ever seen, and no theorem.
			m.fail("%d moves of %d vreplicas", len(m.ended), len(m.pods))
		}
		looks := m.lookedAt
		if m.run(24*time.Hour, nil); m.lookedAt != looks {
			m.fail("it looked %d times at a pool where nothing happens", m.lookedAt-looks)
		}
	})
	t.Logf("%d vreplicas, %d moves; at most %.2f moves a vreplica in a pool", vreplicas, moves, mostOften)
}

// While VPods are scaled, adapters are cordoned and break, and the controller restarts, nothing moves at the wrong time.
// Afterwards the pool comes to rest all the same.
func TestDisturbedPoolsComeToRest(t *testing.T) {
	everyPool(t, func(m *model) {
		m.run(20*time.Minute, func() {
			switch v := m.vpods[m.rng.IntN(len(m.vpods))]; m.rng.IntN(80) {
			case 0:
				m.scale(v, 1+m.rng.IntN(3))
			case 1:
				m.scale(v, -1)
			case 2:
				m.flip()
			case 3:
				m.forget()
			}
		})
		m.run(2*time.Hour, nil)
		m.judgeRest()
	})
}

// Whatever restarts, the pool ends up as well as without.
func TestRestartsChangeNothingEssential(t *testing.T) {
	everyPool(t, func(m *model) {
		*m.pool.Spec.Descheduling.Rebalance.EvictionsPerMinute = 60
		m.run(30*time.Minute, func() {
			if m.rng.IntN(40) == 0 {
				m.forget()
			}
		})
		m.run(2*time.Hour, nil)
		m.judgeRest()
	})
}

// scale asks for more or fewer vreplicas of a VPod.
func (m *model) scale(v *v1alpha1.VPod, by int) {
	i := slices.Index(m.vpods, v)
	m.vpods = slices.Clone(m.vpods)
	m.vpods[i] = v.DeepCopy()
	m.vpods[i].Generation++
	*m.vpods[i].Spec.Replicas = max(0, *v.Spec.Replicas+int32(by))
	m.changed = true
}

// flip cordons an adapter or makes it ready no more, or undoes that.
func (m *model) flip() {
	i := m.rng.IntN(len(m.nodes))
	m.nodes = slices.Clone(m.nodes)
	node := m.nodes[i].DeepCopy()
	m.nodes[i], m.changed = node, true
	if m.rng.IntN(2) == 0 {
		node.Spec.Unschedulable = !node.Spec.Unschedulable
		return
	}
	ready := &node.Status.Conditions[0]
	if ready.Status == corev1.ConditionTrue {
		ready.Status = corev1.ConditionFalse
	} else {
		ready.Status = corev1.ConditionTrue
	}
}
