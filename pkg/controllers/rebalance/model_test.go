package rebalance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// model is a cluster with all that acts on a pool: this controller, that of VPods, the scheduler and adapters. The controller
// is woken as it is in a cluster: by changes, and when it asked for it.
type model struct {
	*state
	rng *rand.Rand
	now time.Time
	// memory, looked and wake are those of the controller; changed: something happened since it looked.
	memory       memory
	looked, wake time.Time
	changed      bool
	// guarded are the VPods whose PodDisruptionBudget refuses all evictions, and odd those whose profile places at random.
	guarded, odd map[types.UID]bool
	// serial numbers placeholders, so that no two have the same UID.
	serial int

	// begun and ended are the moves so far, before what they were when they began.
	begun, ended []*move
	before       potential
	lookedAt     int
	wrong        []string
}

// potential is what each move of a VPod lessens, lexicographically: see placement.Pool.Rebalance.
type potential [4]int

func (m *model) potentialOf(v *v1alpha1.VPod) potential {
	zones, hosts, adapters := map[string]int{}, map[string]int{}, map[string]int{}
	var p potential
	for _, pod := range m.pods {
		if pod.Spec.NodeName == "" || !isAlive(pod) || snapshot.VPodOf(pod) != idOf(v) {
			continue
		}
		node := m.nodes[slices.IndexFunc(m.nodes, func(n *corev1.Node) bool { return n.Name == pod.Spec.NodeName })]
		zones[node.Labels[corev1.LabelTopologyZone]]++
		hosts[snapshot.HostOf(node)]++
		adapters[node.Name]++
		id, _ := adapter.OfNodeName(node.Name)
		p[3] += id.Ordinal
	}
	if v.Spec.SchedulerName == v1alpha1.SchedulerNameMaxFillUp {
		p[0] = len(adapters)
		return p
	}
	for level, counts := range []map[string]int{zones, hosts, adapters} {
		for _, n := range counts {
			p[level] += n * n
		}
	}
	return p
}

// randomModel is a pool whose vreplicas lie about as they may after much has happened.
func randomModel(rng *rand.Rand) *model {
	var adapters []string
	for range 1 + rng.IntN(8) {
		zone := rng.IntN(4)
		words := []string{fmt.Sprintf("room=%d", rng.IntN(16)), fmt.Sprintf("host=z%d-h%d", zone, rng.IntN(3))}
		if zone > 0 {
			words = append(words, fmt.Sprintf("zone=z%d", zone))
		}
		for kind, n := range map[string]int{"cordoned": 12, "unready": 24, "tainted": 24} {
			if rng.IntN(n) == 0 {
				words = append(words, kind)
			}
		}
		adapters = append(adapters, strings.Join(words, " "))
	}
	m := &model{
		state: poolOf(adapters...), rng: rng, now: noon, changed: true,
		guarded: map[types.UID]bool{}, odd: map[types.UID]bool{},
	}
	m.pool.Spec.Descheduling.Rebalance.EvictionsPerMinute = new([]int32{1, 6, 60, 600}[rng.IntN(4)])
	for _, name := range []string{"u", "v", "w", "x", "y", "z"}[:1+rng.IntN(6)] {
		m.addVPod(name)
	}
	return m
}

func (m *model) addVPod(name string) {
	m.serves(name, "0")
	v := m.vpod(name)
	switch m.rng.IntN(9) {
	case 0:
		v.Spec.SchedulerName = "mine"
	case 1, 2, 3:
		v.Spec.SchedulerName = v1alpha1.SchedulerNameMaxFillUp
	}
	m.odd[v.UID], m.guarded[v.UID] = m.rng.IntN(12) == 0, m.rng.IntN(12) == 0
	for range m.rng.IntN(12) {
		i := min(m.rng.IntN(len(m.nodes)), m.rng.IntN(len(m.nodes)))
		if slot, ok := m.count().adapters.Slot(m.nodes[i].Name); ok && m.count().adapters.At(slot).Free > 0 {
			m.add(v, m.nodes[i].Name)
			*v.Spec.Replicas++
		}
	}
	if m.rng.IntN(3) == 0 {
		v.Spec.MaxAdapters = new(int32(1 + m.rng.IntN(4)))
	}
}

// add makes one more placeholder, with the lowest index that is free.
func (m *model) add(v *v1alpha1.VPod, node string) {
	index := 0
	for slices.ContainsFunc(m.pods, func(p *corev1.Pod) bool { return p.Name == fmt.Sprintf("%s-vreplica-%d", v.Name, index) }) {
		index++
	}
	pod := placeholder(v, index, node)
	m.serial++
	pod.UID = types.UID(fmt.Sprintf("%s-%d", pod.Name, m.serial))
	m.pods = append(m.pods, pod)
	m.changed = true
}

func (m *model) remove(pod *corev1.Pod) {
	m.pods = slices.DeleteFunc(slices.Clone(m.pods), func(p *corev1.Pod) bool { return p == pod })
	m.changed = true
}

func (m *model) edit(pod *corev1.Pod, edit func(*corev1.Pod)) {
	i := slices.Index(m.pods, pod)
	m.pods = slices.Clone(m.pods)
	m.pods[i] = pod.DeepCopy()
	edit(m.pods[i])
	m.pods[i].ResourceVersion += "1"
	m.changed = true
}

// others do one thing each that there is to be done, or nothing.
func (m *model) others() {
	for _, pod := range slices.Clone(m.pods) {
		switch {
		case m.rng.IntN(3) == 0:
		case pod.DeletionTimestamp != nil:
			m.remove(pod)
		case pod.Spec.NodeName == "":
			if node := m.choose(pod); node != "" {
				m.edit(pod, func(p *corev1.Pod) { p.Spec.NodeName = node })
			}
		case pod.Status.Phase == corev1.PodPending:
			m.edit(pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
		}
	}
	for _, v := range m.vpods {
		if m.rng.IntN(3) > 0 {
			m.keep(v)
		}
	}
}

// isIdle says whether others have nothing to do.
func (m *model) isIdle() bool {
	for _, pod := range m.pods {
		if isMoving(pod) || pod.DeletionTimestamp != nil || !isAdmitted(pod) && (pod.Spec.NodeName != "" || m.choose(pod) != "") {
			return false
		}
	}
	return !slices.ContainsFunc(m.vpods, func(v *v1alpha1.VPod) bool { return len(m.own(v)) != int(*v.Spec.Replicas) })
}

// own are the placeholders of a VPod that are there to stay.
func (m *model) own(v *v1alpha1.VPod) []*corev1.Pod {
	var own []*corev1.Pod
	for _, pod := range m.pods {
		if isAlive(pod) && pod.OwnerReferences[0].UID == v.UID {
			own = append(own, pod)
		}
	}
	return own
}

// choose is the scheduler.
func (m *model) choose(pod *corev1.Pod) string {
	v := m.count()
	vpod := v.controllerOf(pod)
	t := v.adapters.Tally(v.request(vpod))
	rules := placement.Availability
	if vpod.Spec.SchedulerName == v1alpha1.SchedulerNameMaxFillUp {
		rules = placement.MaxFillUp
	}
	slot, found := t.Choose(rules)
	if found && m.odd[vpod.UID] {
		slots := t.Contenders(placement.Rules{})
		slot = slots[m.rng.IntN(len(slots))]
	}
	if !found {
		return ""
	}
	return v.adapters.At(slot).Name
}

// keep is the controller of VPods: it makes what is missing, has one more while one moves, and evicts that once each of the
// others is served.
func (m *model) keep(v *v1alpha1.VPod) {
	own := m.own(v)
	moving := slices.IndexFunc(own, isMoving)
	surplus := len(own) - int(*v.Spec.Replicas)
	unserved := slices.IndexFunc(own, func(p *corev1.Pod) bool { return !isAdmitted(p) })
	switch {
	case surplus < 0, surplus == 0 && moving >= 0:
		m.add(v, "")
	case surplus > 0 && moving < 0:
		if unserved < 0 {
			unserved = len(own) - 1 // the youngest
		}
		m.edit(own[unserved], leaving)
	case surplus > 0 && unserved < 0 && !m.guarded[v.UID]:
		m.edit(own[moving], leaving)
	}
}
