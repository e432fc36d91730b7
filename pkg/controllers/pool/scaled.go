package pool

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

// scaled says whether a pool has as many adapters as are wanted, and in numbers why so many.
func (v view) scaled(d decision, m memory, now time.Time) metav1.Condition {
	reason, words := v.scaling(d, m, now)
	status := metav1.ConditionFalse
	if reason == v1alpha1.ReasonWantedSize {
		status = metav1.ConditionTrue
	}
	if words != "" {
		words += "; "
	}
	return metav1.Condition{
		Type: v1alpha1.ConditionScaled, Status: status, Reason: reason, Message: words + "size " + v.size.String(),
	}
}

// scaling is what is going on, and of several things the one that the others wait for. Where there are fewer, or more,
// replicas than the target, it always says so: see touched.
func (v view) scaling(d decision, m memory, now time.Time) (reason, words string) {
	absent := v.absent()
	switch {
	case m.refusal.words != "":
		return v1alpha1.ReasonStatefulSetStuck, fmt.Sprintf("the number of adapters stays %d: %s", v.replicas, m.refusal.words)
	case m.lag.isStuck(now):
		return v1alpha1.ReasonStatefulSetStuck, v.stuck()
	case d.target > v.replicas:
		return v1alpha1.ReasonScalingUp, fmt.Sprintf("there are to be %d adapters instead of %d", d.target, v.replicas)
	case d.target < v.replicas:
		return v1alpha1.ReasonDraining, v.draining(d, m)
	case m.blocked != "":
		return v1alpha1.ReasonDrainBlocked, fmt.Sprintf("%d adapters stay: %s", d.target, m.blocked)
	case v.size.Needed > v.size.Bounds.Max:
		return v1alpha1.ReasonMaxReplicas, ""
	case len(absent) > 0:
		return v1alpha1.ReasonScalingUp,
			fmt.Sprintf("%d of %d adapters are not there yet: %s", len(absent), v.replicas, wording.List(absent, maxNamed))
	case d.target > v.wanted() && v.waiting > 0:
		return v1alpha1.ReasonScaleDownDelayed, fmt.Sprintf("%d adapters stay while %s for room",
			d.target, wording.Count(v.waiting, "vreplica waits", "vreplicas wait"))
	case d.target > v.wanted():
		return v1alpha1.ReasonScaleDownDelayed,
			fmt.Sprintf("%d adapters stay until fewer have been enough for %s", d.target, v.delay)
	}
	return v1alpha1.ReasonWantedSize, ""
}

// draining says what is still to be done before adapters can be removed.
func (v view) draining(d decision, m memory) string {
	leaving := v.replicas - d.target
	words := fmt.Sprintf("%d of %d adapters are to be removed", leaving, v.replicas)
	if held := v.heldFrom(d.target); held > 0 {
		words += fmt.Sprintf(", and %s on %s",
			wording.Count(held, "vreplica is still", "vreplicas are still"), wording.List(v.occupied(d.target), maxNamed))
	}
	if m.blocked != "" {
		words += "; no more than those: " + m.blocked
	}
	return words
}

// stuck says what the StatefulSet does not do.
func (v view) stuck() string {
	words := fmt.Sprintf("the StatefulSet was asked for %s", wording.Count(v.replicas, "pod", "pods"))
	if len(v.missing) > 0 {
		words += ", and has not created " + wording.List(v.missing, maxNamed)
	}
	if len(v.excess) > 0 {
		words += ", and has not removed " + wording.List(v.excess, maxNamed)
	}
	if v.holdup != "" {
		words += ": " + v.holdup
	}
	return words
}

// absent are the adapters without a host, with what is known of them.
func (v view) absent() []string {
	var names []string
	for _, a := range v.adapters {
		if a.absent != "" {
			names = append(names, fmt.Sprintf("%s (%s)", a.pod, a.absent))
		}
	}
	return names
}
