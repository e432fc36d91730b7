package vpod

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// mostNames is how many names a message lists.
const mostNames = 10

// scheduled says whether each vreplica has an adapter, and if not, what is in the way. What somebody can mend comes first:
// creation, the pool, the scheduler; then what the scheduler found.
func (o observation) scheduled(t tally) metav1.Condition {
	placed := fmt.Sprintf("%d of %d vreplicas are placed", len(t.placed), t.desired)
	if t.waiting() == 0 {
		message := placed
		if o.refusal != nil {
			message += ". The API server refuses a placeholder that is to replace one of them: " + o.refusal.message
		}
		message += o.hindrance()
		if used := len(o.placements(t.placed)); o.vpod.Spec.MaxAdapters != nil && used > int(*o.vpod.Spec.MaxAdapters) {
			message += fmt.Sprintf(". %d adapters serve it, more than spec.maxAdapters, which is %d: what is placed stays",
				used, *o.vpod.Spec.MaxAdapters)
		}
		return condition(v1alpha1.ConditionScheduled, metav1.ConditionTrue, v1alpha1.ReasonAllScheduled, message)
	}
	reason, why := o.obstacle(t)
	return condition(v1alpha1.ConditionScheduled, metav1.ConditionFalse, reason, placed+". "+why)
}

func (o observation) obstacle(t tally) (reason, why string) {
	missing := t.desired - len(t.alive)
	silent := o.silent(t.alive)
	refused := filter(t.alive, isRefused)
	switch {
	case o.refusal != nil && missing > 0:
		return v1alpha1.ReasonCreationRefused,
			fmt.Sprintf("The API server refuses %s: %s", wording.Count(missing, "more placeholder", "more placeholders"), o.refusal.message)
	case o.pool == nil:
		return v1alpha1.ReasonPoolNotFound, fmt.Sprintf("There is no AdapterPool %q", o.vpod.Spec.PoolName)
	case o.pool.DeletionTimestamp != nil:
		return v1alpha1.ReasonPoolNotReady, fmt.Sprintf("AdapterPool %q is being deleted, and takes no more vreplicas", o.pool.Name)
	case o.empty:
		return v1alpha1.ReasonPoolNotReady, o.poolTrouble()
	case len(silent) > 0:
		return v1alpha1.ReasonSchedulerSilent, fmt.Sprintf(
			"No scheduler has tried to place %s for %.0f s: does one run that has the profile %q?",
			silent[0].Name, patience.Seconds(), silent[0].Spec.SchedulerName)
	case len(refused) == 0 || o.census == nil:
		return v1alpha1.ReasonScheduling, wording.Count(t.waiting(), "is", "are") + " being placed"
	}
	r := o.room()
	switch {
	case r.isLimit(o.vpod):
		return v1alpha1.ReasonAdapterLimit, o.limitReached(t, r)
	case r.eligible > 0:
		// The scheduler has not seen the room yet, or has a reason of its own.
		return v1alpha1.ReasonScheduling, fmt.Sprintf("%s being placed, on %s with room%s",
			wording.Count(t.waiting(), "is", "are"), wording.Count(r.eligible, "adapter", "adapters"), said(refused))
	}
	return v1alpha1.ReasonNoRoom, o.noRoom(t, r) + said(refused)
}

// poolTrouble passes on what the pool says of itself.
func (o observation) poolTrouble() string {
	trouble := fmt.Sprintf("AdapterPool %q has no adapters", o.pool.Name)
	if c := apimeta.FindStatusCondition(o.pool.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Message != "" {
		trouble += ": " + c.Message
	}
	return trouble
}

func (o observation) limitReached(t tally, r room) string {
	var names []string
	for _, node := range r.serving {
		names = append(names, o.podName(ordinalOf(node)))
	}
	return fmt.Sprintf("%s because of the adapter limit: spec.maxAdapters is %d, and the adapters in use have no room "+
		"(%s). More adapters would not help", wording.Count(t.waiting(), "waits", "wait"), *o.vpod.Spec.MaxAdapters, wording.List(names, mostNames))
}

func (o observation) noRoom(t tally, r room) string {
	why := fmt.Sprintf("%s for room: in AdapterPool %q, %d of %d are in use on %s", wording.Count(t.waiting(), "waits", "wait"),
		o.pool.Name, r.taken, r.capacity, wording.Count(r.open, "adapter", "adapters"))
	if r.closed > 0 {
		why += fmt.Sprintf("; %s cordoned or tainted", wording.Count(r.closed, "more is", "more are"))
	}
	if len(o.census.homeless) > 0 {
		why += "; without a host: " + wording.List(o.census.homeless, mostNames)
	}
	return why + o.outlook()
}

// outlook says whether there will be more adapters, where the pool has them scaled.
func (o observation) outlook() string {
	switch scaled(o.pool) {
	case v1alpha1.ReasonMaxReplicas:
		return fmt.Sprintf("; its maxReplicas, which is %d, allows no more", o.pool.Spec.Autoscaling.MaxReplicas)
	case v1alpha1.ReasonAutoscalingOff:
		return "; its autoscaling is off"
	case v1alpha1.ReasonScalingUp:
		return "; more adapters were asked for"
	case v1alpha1.ReasonStatefulSetStuck:
		return "; its StatefulSet is stuck, and gets no more"
	}
	return ""
}

// scaled is the reason that a pool gives for its size; "" if it is not scaled.
func scaled(pool *v1alpha1.AdapterPool) string {
	c := apimeta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionScaled)
	if c == nil || pool.Spec.Autoscaling == nil {
		return ""
	}
	return c.Reason
}

// said is what the scheduler said last of the oldest placeholder that it refused.
func said(refused []*corev1.Pod) string {
	oldest := slices.MinFunc(refused, compareAges)
	words := adapter.PodCondition(oldest, corev1.PodScheduled).Message
	if words == "" {
		return ""
	}
	return fmt.Sprintf(". The scheduler says of %s: %s", oldest.Name, words)
}

// silent are the placeholders that nobody has tried to place for too long, the oldest first.
func (o observation) silent(alive []*corev1.Pod) []*corev1.Pod {
	silent := filter(alive, func(pod *corev1.Pod) bool { return isUntried(pod) && o.age(pod) >= patience })
	slices.SortFunc(silent, compareAges)
	return silent
}

func (o observation) age(pod *corev1.Pod) time.Duration { return o.now.Sub(pod.CreationTimestamp.Time) }

func compareAges(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// readiness says whether each vreplica is on an adapter that is ready.
func (o observation) readiness(t tally) metav1.Condition {
	ready := fmt.Sprintf("%d of %d vreplicas are on adapters that are ready", len(t.ready), t.desired)
	switch {
	case t.waiting() > 0:
		message := fmt.Sprintf("%s, %s not placed", ready, wording.Count(t.waiting(), "is", "are"))
		return condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNotScheduled, message)
	case len(t.ready) == t.desired:
		return condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReady, ready)
	}
	var names []string
	for _, placement := range o.placements(without(t.placed, t.ready)) {
		names = append(names, placement.PodName)
	}
	return condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAdaptersNotReady,
		ready+"; not ready: "+wording.List(names, mostNames))
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// wake is when time alone may change what is decided or published: when somebody's patience ends. 0 is never.
func (o observation) wake() time.Duration {
	after := max(0, patience-o.now.Sub(o.lacking))
	for _, pod := range filter(o.alive(), isWaiting) {
		after = retry.Soonest(after, patience-o.age(pod))
	}
	for _, pod := range o.pending() {
		after = retry.Soonest(after, arrival-o.age(pod), patience-o.age(pod))
	}
	return after
}
