package pool

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// defaultDelay is the scaleDownDelay of a pool that does not say.
const defaultDelay = 5 * time.Minute

// view is what the number of adapters is decided on. There must be a StatefulSet.
func (s state) view(c census, patience time.Duration) view {
	v := view{
		delay: defaultDelay, patience: patience, set: s.set.UID, replicas: int32(len(s.members)),
		target: s.pool.Status.TargetAdapters, reason: s.scaledReason(),
		size: s.size(c), missing: s.missing(), excess: s.excess(), holdup: s.holdup(),
	}
	if d := s.pool.Spec.Autoscaling.ScaleDownDelay; d != nil {
		v.delay = d.Duration
	}
	hasRoom := s.hasRoom(c)
	for id, t := range c.all() {
		if !c.demand(id, t).AtLimit { // Else more adapters would not help.
			v.lacking = append(v.lacking, t.lacking()...)
			v.waiting += s.waitFor(t, hasRoom)
		}
		if t.isBeingMade() {
			v.again = silence
		}
	}
	if hasRoom && v.waiting > 0 {
		v.again = retry.Soonest(v.again, lackFor)
	}
	for i, m := range s.members {
		v.adapters = append(v.adapters, occupancy{
			pod: m.id.PodName(s.pool), held: c.held[m.id.NodeName()],
			closed: m.node == nil || m.isTaken() || m.node.Spec.Unschedulable,
		})
		if m.berth() == placement.Starting {
			v.adapters[i].absent = m.trouble()
		}
	}
	v.shrink = func(lowest int32) (int32, string) { return s.shrink(c, lowest) }
	return v
}

// hasRoom says whether some adapter takes one more vreplica now.
func (s state) hasRoom(c census) bool {
	return slices.ContainsFunc(s.members, func(m member) bool {
		if m.node == nil || m.isTaken() || m.node.Spec.Unschedulable || isBarred(m.node) {
			return false
		}
		return capacityOf(m.node) > c.own[m.node.Name]+c.foreign[m.node.Name]
	})
}

// waitFor is how many vreplicas wait for more adapters. Whoever was found no place for a while, though there is room, waits
// for something else, such as for a node that its own rules let it on.
func (s state) waitFor(t *tenancy, hasRoom bool) int64 {
	var n int64
	for _, since := range t.waiting {
		if !hasRoom || s.now.Sub(since) < lackFor {
			n++
		}
	}
	return n
}

// scaledReason is the reason of the condition Scaled as it is stored.
func (s state) scaledReason() string {
	if c := meta.FindStatusCondition(s.pool.Status.Conditions, v1alpha1.ConditionScaled); c != nil {
		return c.Reason
	}
	return ""
}

// missing are the pods of the StatefulSet that it has not created.
func (s state) missing() []string {
	exists := make(map[string]bool, len(s.pods))
	for _, pod := range s.pods {
		exists[pod.Name] = true
	}
	var names []string
	for _, m := range s.members {
		if name := m.id.PodName(s.pool); !exists[name] {
			names = append(names, name)
		}
	}
	return names
}

// excess are the pods of the StatefulSet that it has not begun to delete, though it has no such replica any more.
func (s state) excess() []string {
	known := make(map[string]bool, len(s.members))
	for _, m := range s.members {
		known[m.id.PodName(s.pool)] = true
	}
	var ordinals []int
	for _, pod := range s.pods {
		if _, ordinal, ok := adapter.Parse(pod.Name); ok && !known[pod.Name] && pod.DeletionTimestamp == nil {
			ordinals = append(ordinals, ordinal)
		}
	}
	slices.Sort(ordinals)
	var names []string
	for _, ordinal := range ordinals {
		names = append(names, adapter.ID{Ordinal: ordinal}.PodName(s.pool))
	}
	return names
}

// holdup is the first adapter that is there and not ready, which may be what the StatefulSet waits for.
func (s state) holdup() string {
	unready := slices.DeleteFunc(slices.Clone(s.pods), adapter.IsPodReady)
	if len(unready) == 0 {
		return ""
	}
	first := slices.MinFunc(unready, func(a, b *corev1.Pod) int {
		_, i, _ := adapter.Parse(a.Name)
		_, j, _ := adapter.Parse(b.Name)
		return cmp.Compare(i, j)
	})
	words := first.Name + " is not ready"
	if s.set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		words += ", and with podManagementPolicy OrderedReady one pod that is not ready holds up the others"
	}
	return words
}
