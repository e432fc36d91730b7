// Package placeholder does for placeholders what a kubelet does for its pods: it admits them or fails them, reports them as
// running, and as ready while their adapter is, and confirms that they are gone. It is the last guard of an adapter's
// capacity, whatever a scheduler or a person binds to the virtual node.
package placeholder

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// adapterState is a virtual node with the placeholders bound to it. Nothing in it is changed.
type adapterState struct {
	id           adapter.ID
	node         *corev1.Node
	placeholders []*corev1.Pod
	// draining: the pool is about to do without the adapter.
	draining bool
}

// brokenOffAge is how old a deletion without a grace period is, at least, that was not carried through: the API server makes
// two writes of it, the mark and the removal, and may have ended between them. Others are over at once.
const brokenOffAge = 2 * time.Second

// decision is what to do about the placeholders on one adapter. Each is in one of the lists at most.
type decision struct {
	// gone are those whose deletion waits for somebody to confirm it.
	gone []*corev1.Pod
	// rejected are to be failed.
	rejected []rejection
	// changed are those whose status is not what it should be.
	changed []change
	// after is when to look again, even if nothing happens until then. 0: not.
	after time.Duration
}

// change is a placeholder and its status as it should be.
type change struct {
	pod    *corev1.Pod
	status corev1.PodStatus
}

// rejection is a change that fails a placeholder for a reason.
type rejection struct {
	change
	reason, message string
	// vreplicas is how many it stands for.
	vreplicas int64
}

// decide is everything that this controller knows about its job. It depends on nothing but its arguments.
func decide(s adapterState, now time.Time) decision {
	var d decision
	var candidates []*corev1.Pod
	for _, pod := range s.placeholders {
		switch {
		case pod.DeletionTimestamp != nil:
			switch wait, confirmable := unconfirmed(pod, now); {
			case confirmable && wait <= 0:
				d.gone = append(d.gone, pod)
			case confirmable:
				d.after = max(d.after, wait)
			}
		case adapter.IsFinished(pod):
		default:
			if reason, message := s.misplaced(pod); reason != "" {
				d.rejected = append(d.rejected, reject(pod, reason, message, now))
				continue
			}
			candidates = append(candidates, pod)
		}
	}
	surplus, known := s.surplus()
	if !known {
		return d
	}
	for _, pod := range candidates {
		if fit, isSurplus := surplus[string(pod.UID)]; isSurplus {
			d.rejected = append(d.rejected, reject(pod, v1alpha1.PodOutOfVReplicas, s.hasNoRoom(fit), now))
			continue
		}
		if status := run(pod, s.node, now); !apiequality.Semantic.DeepEqual(pod.Status, status) {
			d.changed = append(d.changed, change{pod: pod, status: status})
		}
	}
	// There may be hundreds. Those that are served go first, for only they are too many for the adapter.
	slices.SortStableFunc(d.rejected, func(a, b rejection) int { return cmp.Compare(unserved(a.pod), unserved(b.pod)) })
	return d
}

// misplaced says why a placeholder may not be on the adapter, whatever room there is; "" if it may.
func (s adapterState) misplaced(pod *corev1.Pod) (reason, message string) {
	switch pool := pod.Labels[v1alpha1.LabelPool]; {
	case pool != s.id.Pool:
		return v1alpha1.PodOtherPool, fmt.Sprintf("the pod is for adapters of pool %s, and was bound to %s", pool, s.node.Name)
	case s.draining && unserved(pod) == 1:
		// Its scheduler was late. What is served goes on until it is served elsewhere; so an adapter that was seen empty
		// stays unserved.
		return v1alpha1.PodAdapterDraining, fmt.Sprintf("adapter %s takes no more vreplicas, because AdapterPool %s is about "+
			"to do without it", s.node.Name, s.id.Pool)
	}
	return "", ""
}

// unserved is 0 for a placeholder that was admitted, and 1 for one that was not.
func unserved(pod *corev1.Pod) int {
	if pod.Status.Phase == corev1.PodRunning {
		return 0
	}
	return 1
}

// unconfirmed says how long to wait before a deletion is confirmed, if there is anything to confirm.
func unconfirmed(pod *corev1.Pod, now time.Time) (wait time.Duration, confirmable bool) {
	switch seconds := pod.DeletionGracePeriodSeconds; {
	case seconds == nil || *seconds > 0:
		return 0, true
	case len(pod.Finalizers) > 0:
		return 0, false // They alone hold it.
	}
	return pod.DeletionTimestamp.Add(brokenOffAge).Sub(now), true
}

// surplus returns by UID the placeholders that do not fit, with the numbers. While the node does not say what it has room
// for, nothing is known.
func (s adapterState) surplus() (map[string]placement.Fit, bool) {
	capacity, known := s.node.Status.Allocatable[v1alpha1.ResourceVReplicas]
	if !known {
		return nil, false
	}
	var occupants []placement.Occupant
	for _, pod := range s.placeholders {
		if !adapter.IsFinished(pod) && (pod.DeletionTimestamp != nil || pod.Labels[v1alpha1.LabelPool] == s.id.Pool) {
			occupants = append(occupants, occupant(pod))
		}
	}
	surplus := map[string]placement.Fit{}
	for _, r := range placement.Surplus(capacity.Value(), occupants) {
		surplus[r.ID] = r.Fit
	}
	return surplus, true
}

func (s adapterState) hasNoRoom(fit placement.Fit) string {
	return fmt.Sprintf("adapter %s has no room: requested vreplicas: %d, free: %d, capacity: %d",
		s.node.Name, fit.Requested, fit.Free, fit.Capacity)
}

func occupant(pod *corev1.Pod) placement.Occupant {
	return placement.Occupant{
		ID:       string(pod.UID),
		Size:     snapshot.Requested(pod, v1alpha1.ResourceVReplicas),
		Admitted: pod.Status.Phase == corev1.PodRunning,
		Since:    since(pod).UnixNano(),
		Created:  pod.CreationTimestamp.UnixNano(),
		Leaving:  pod.DeletionTimestamp != nil,
	}
}

// since is when a placeholder was admitted, or bound.
func since(pod *corev1.Pod) time.Time {
	if pod.Status.Phase == corev1.PodRunning && pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}
