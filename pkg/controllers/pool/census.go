package pool

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// silence is how old a placeholder is that counts though the controller of its VPod has not said that it knows the spec. It
// creates placeholders for no longer than a plan may be carried out, and publishes then.
const silence = 2 * retry.PlanLife

// census is who has, and who wants, how much of a pool.
type census struct {
	// held is the number of placeholders by the name of the node, own that of those which VPods control, and foreign the room
	// that the others take.
	held, own, foreign map[string]int64
	// fixed are the nodes with some that nothing moves.
	fixed map[string]bool
	// tenants are the VPods of the pool, and others whose placeholders no VPod controls.
	tenants, others map[placement.VPod]*tenancy
	// pool are the adapters of the StatefulSet that have a virtual node, as the scheduler sees them, and states what each
	// can be counted on for, by the name of its node. ready are those that are ready.
	pool   *placement.Pool
	states map[string]placement.State
	ready  map[string]bool
}

// tenancy is what one vpod has and wants.
type tenancy struct {
	// vpod is nil if no VPod controls the placeholders.
	vpod *v1alpha1.VPod
	// limit is the most adapters that it may use; 0 is no limit.
	limit int
	// alive is the number of vreplicas that there are, and unbound that of those without an adapter. young are those for which the controller of the VPod may not have published anything
	// yet. One that is being deleted is nobody's any more.
	alive, unbound, young int64
	// waiting are those for which a scheduler found no room, by since when.
	waiting []time.Time
}

// count takes the census.
func (s state) count() census {
	c := census{
		held: map[string]int64{}, own: map[string]int64{}, foreign: map[string]int64{}, fixed: map[string]bool{},
		tenants: map[placement.VPod]*tenancy{}, others: map[placement.VPod]*tenancy{},
		states: map[string]placement.State{}, ready: map[string]bool{},
	}
	var nodes []*corev1.Node
	for _, m := range s.members {
		if m.node != nil && !m.isTaken() {
			nodes = append(nodes, m.node)
			c.states[m.node.Name], c.ready[m.node.Name] = m.berth(), m.isReady()
		}
	}
	vpods := s.byName()
	for _, vpod := range s.vpods {
		c.tenants[idOf(vpod)] = &tenancy{vpod: vpod, limit: limitOf(vpod)}
	}
	var held []*corev1.Pod
	for _, pod := range s.placeholders {
		if adapter.IsFinished(pod) {
			continue
		}
		vpod := controllerOf(pod, vpods)
		isGoing := goes(pod, vpod)
		if pod.Spec.NodeName != "" {
			c.hold(pod, vpod, isGoing)
			held = append(held, asScheduler(pod, isGoing))
		}
		if pod.DeletionTimestamp == nil && (vpod != nil || !isGoing) && !isHopeless(pod) {
			c.tenant(pod, vpod).add(pod, s.now)
		}
	}
	c.pool = snapshot.PoolOf(nodes, held)
	return c
}

// hold counts a placeholder on an adapter.
func (c census) hold(pod *corev1.Pod, vpod *v1alpha1.VPod, isGoing bool) {
	node := pod.Spec.NodeName
	c.held[node]++
	if vpod != nil {
		c.own[node]++
		return
	}
	c.foreign[node] += snapshot.Requested(pod, v1alpha1.ResourceVReplicas)
	c.fixed[node] = c.fixed[node] || !isGoing
}

// asScheduler is what the scheduler is about to see of a placeholder: one that goes is nobody's any more.
func asScheduler(pod *corev1.Pod, isGoing bool) *corev1.Pod {
	if !isGoing || pod.DeletionTimestamp != nil {
		return pod
	}
	going := *pod
	going.DeletionTimestamp = &metav1.Time{}
	return &going
}

// tenant finds whose vreplica a placeholder is.
func (c census) tenant(pod *corev1.Pod, vpod *v1alpha1.VPod) *tenancy {
	if vpod != nil {
		return c.tenants[idOf(vpod)]
	}
	id := snapshot.VPodOf(pod)
	if c.others[id] == nil {
		c.others[id] = &tenancy{}
		if v, err := snapshot.VreplicaOf(pod, v1alpha1.ResourceVReplicas); err == nil {
			c.others[id].limit = v.Limit
		}
	}
	return c.others[id]
}

func (t *tenancy) add(pod *corev1.Pod, now time.Time) {
	t.alive++
	if now.Sub(pod.CreationTimestamp.Time) < silence {
		t.young++
	}
	if pod.Spec.NodeName != "" {
		return
	}
	t.unbound++
	if isLeaving := t.vpod != nil && t.vpod.DeletionTimestamp != nil; !isLeaving && waitsForRoom(pod) {
		t.waiting = append(t.waiting, waitsSince(pod))
	}
}

// wanted is how many vreplicas a vpod wants on adapters. Of placeholders that no VPod controls, only those that wait: what
// the others take of their adapters is no room for anybody else. Of a VPod whose placeholders the API server refuses, such
// as for a ResourceQuota, only those that there are: nobody knows how many more it would let it have, and once it does, they
// count. While that is not known yet, none are counted in advance, and those that its controller is just creating neither,
// so that a leap is one write.
func (t *tenancy) wanted() int64 {
	switch {
	case t.vpod == nil:
		return t.unbound
	case t.vpod.DeletionTimestamp != nil:
		return t.alive - t.unbound // They hold their room until they are gone, and somebody's finalizer may keep them.
	}
	desired := int64(adapter.DesiredReplicas(t.vpod))
	if isRefused(t.vpod) {
		return min(desired, t.alive)
	}
	return max(seen(t.vpod), min(desired, t.alive-t.young))
}

// isBeingMade says whether placeholders of a VPod are not counted that will be if its controller remains silent.
func (t *tenancy) isBeingMade() bool {
	return t.vpod != nil && t.vpod.Status.ObservedGeneration != t.vpod.Generation && t.young > 0
}

// seen is how many vreplicas a VPod asks for, as far as its controller knows. By then it has asked the API server for the
// placeholders, or the first of them.
func seen(vpod *v1alpha1.VPod) int64 {
	desired := int64(adapter.DesiredReplicas(vpod))
	switch before := vpod.Status.DesiredReplicas; {
	case vpod.Status.ObservedGeneration == vpod.Generation:
		return desired
	case before == nil:
		return 0
	default:
		return min(desired, int64(*before))
	}
}

// lacking are those of the waiting that are not to take the place of one that is placed: the last ones, so that nothing is
// taken for a lack that lasts but what is one.
func (t *tenancy) lacking() []time.Time {
	slices.SortFunc(t.waiting, time.Time.Compare)
	waiting := int64(len(t.waiting))
	return t.waiting[waiting-min(waiting, t.short()):]
}

// short is how many vreplicas a vpod has too few on adapters. Placeholders beyond that are spare: each is to take the place
// of one that moves, and until then nothing lacks.
func (t *tenancy) short() int64 {
	if t.vpod == nil {
		return t.unbound
	}
	return max(0, min(t.unbound, t.wanted()-(t.alive-t.unbound)))
}

// waiting is how many vreplicas wait for an adapter of the pool.
func (c census) waiting() int64 {
	var n int64
	for _, t := range c.all() {
		n += t.short()
	}
	return n
}

func isRefused(vpod *v1alpha1.VPod) bool {
	c := apimeta.FindStatusCondition(vpod.Status.Conditions, v1alpha1.ConditionScheduled)
	return c != nil && c.Reason == v1alpha1.ReasonCreationRefused
}

// demand is what a vpod demands of the pool.
func (c census) demand(id placement.VPod, t *tenancy) placement.Demand {
	d := c.pool.Demand(id, t.wanted(), t.limit, c.state)
	if t.vpod == nil {
		d.Reach -= t.alive - t.unbound // Those that are placed are not demanded.
	}
	return d
}

func (c census) state(slot int) placement.State { return c.states[c.pool.At(slot).Name] }

// serves says whether an adapter takes vreplicas and is ready: what is served is moved to no other.
func (c census) serves(slot int) bool {
	return c.state(slot) == placement.Open && c.ready[c.pool.At(slot).Name]
}
