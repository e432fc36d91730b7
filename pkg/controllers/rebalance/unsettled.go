package rebalance

import (
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// unsettled are the vpods of which something is about to change: a vreplica waits, is not admitted yet, moves or is about to
// be gone, or there is one too many or too few. Nothing else is moved meanwhile: it would be in the way, and what a dry run
// says would not hold for long.
//
// A vreplica waits for something only where an adapter could take it. One that finds none, because its vpod uses as many
// adapters as it may, waits whatever is done here. Where none finds one, the pool is full, and nothing can move either.
func (v view) unsettled() map[placement.VPod]bool {
	all := map[placement.VPod]bool{}
	hopes := map[placement.VPod]bool{}
	hasRoom := func(r placement.Request) bool {
		is, known := hopes[r.VPod]
		if !known {
			is = v.adapters.Tally(r).Eligible() > 0
			hopes[r.VPod] = is
		}
		return is
	}
	for _, pod := range v.pods {
		if v.isUnderWay(pod, hasRoom) {
			all[snapshot.VPodOf(pod)] = true
		}
	}
	for _, vpod := range v.vpods {
		surplus := len(v.own[vpod.UID]) - adapter.DesiredReplicas(vpod)
		if vpod.DeletionTimestamp == nil && (surplus > 0 || surplus < 0 && hasRoom(v.request(vpod))) {
			all[idOf(vpod)] = true
		}
	}
	return all
}

// isUnderWay says whether a placeholder is about to be bound, to run or to go.
func (v view) isUnderWay(pod *corev1.Pod, hasRoom func(placement.Request) bool) bool {
	switch {
	case adapter.IsFinished(pod):
		return false
	case isMoving(pod), pod.DeletionTimestamp != nil:
		return true
	case pod.Spec.NodeName != "":
		return !isAdmitted(pod)
	}
	// What is malformed is never placed.
	r, err := snapshot.VreplicaOf(pod, v1alpha1.ResourceVReplicas)
	return err == nil && hasRoom(placement.Request{VPod: r.VPod, Size: 1, Limit: r.Limit, Open: v.isOpen})
}
