package node

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// health is how an adapter is, as the condition Ready of its virtual node says.
type health struct {
	ready           bool
	reason, message string
	// since is when it ceased to be ready, or now if it did so just now. Of an adapter that is ready it says nothing.
	since time.Time
	// lost: it was not ready for longer than the pool allows.
	lost bool
}

func (s state) health(now time.Time) health {
	h := s.readiness()
	if !h.ready {
		h.since = s.notReadySince(now)
		h.lost = s.isPool() && !now.Before(h.since.Add(s.timeout()))
	}
	return h
}

// readiness is health without its history.
func (s state) readiness() health {
	if s.pool == nil {
		return health{reason: v1alpha1.NodeAdapterMissing, message: fmt.Sprintf("there is no AdapterPool %s", s.id.Pool)}
	}
	name := s.pool.Spec.StatefulSetRef.Namespace + "/" + s.id.PodName(s.pool)
	switch {
	case s.pod == nil:
		return health{reason: v1alpha1.NodeAdapterMissing, message: fmt.Sprintf("there is no adapter pod %s", name)}
	case s.pod.DeletionTimestamp != nil:
		return health{reason: v1alpha1.NodeAdapterTerminating, message: fmt.Sprintf("adapter pod %s is being deleted", name)}
	case !s.hasHost():
		return health{reason: v1alpha1.NodeAdapterWaiting, message: fmt.Sprintf("adapter pod %s waits for a host", name)}
	case isServing(s.pod):
		return health{ready: true, reason: v1alpha1.NodeAdapterReady, message: fmt.Sprintf("adapter pod %s is ready", name)}
	}
	message := fmt.Sprintf("adapter pod %s is not ready", name)
	if c := adapter.PodCondition(s.pod, corev1.PodReady); c != nil && c.Message != "" {
		message += ": " + c.Message
	}
	return health{reason: v1alpha1.NodeAdapterNotReady, message: message}
}

// notReadySince is measured on what is in the cluster, so that no restart of ours sets it back. The node's own condition
// comes first: it goes on when one pod of the adapter follows another, none of which becomes ready.
func (s state) notReadySince(now time.Time) time.Time {
	if s.node != nil {
		c := adapter.NodeCondition(s.node, corev1.NodeReady)
		if c != nil && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	if s.pod == nil {
		return now
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.PodScheduled} {
		// A pod that has said nothing yet counts from when it got its host: until then it could not become ready.
		c := adapter.PodCondition(s.pod, kind)
		switch {
		case c == nil || c.LastTransitionTime.IsZero():
		case kind == corev1.PodReady && c.Status == corev1.ConditionTrue:
			return now // It is being deleted, or has finished.
		default:
			return c.LastTransitionTime.Time
		}
	}
	return s.pod.CreationTimestamp.Time
}

// isServing says whether an adapter pod is ready, and not about to go.
func isServing(pod *corev1.Pod) bool {
	return adapter.IsPodReady(pod) && pod.DeletionTimestamp == nil && !adapter.IsFinished(pod)
}

// cordon is why the adapter is out of use: the first of the Cordon reasons that applies, or "".
func (s state) cordon(f fate, h health) string {
	host := factsOf(s.host)
	switch {
	case f != inUse:
		return v1alpha1.CordonRemoved
	case s.id.IsDraining(s.pool, s.set):
		return v1alpha1.CordonDraining
	case s.pod != nil && s.pod.Annotations[v1alpha1.AnnotationUnschedulable] == "true":
		return v1alpha1.CordonMarked
	case !s.hasHost():
		return v1alpha1.CordonNoHost
	case host.cordoned:
		return v1alpha1.CordonHostCordoned
	case !host.ready || host.unreachable:
		return v1alpha1.CordonHostNotReady
	case h.lost:
		return v1alpha1.CordonLost
	}
	return ""
}

// hostFacts is all that an adapter has of its real node.
type hostFacts struct {
	zone                         string
	cordoned, ready, unreachable bool
}

// factsOf reads a real node. One that does not exist is not ready.
func factsOf(host *corev1.Node) hostFacts {
	if host == nil {
		return hostFacts{}
	}
	return hostFacts{
		zone:     host.Labels[corev1.LabelTopologyZone],
		cordoned: host.Spec.Unschedulable,
		ready:    adapter.IsNodeReady(host),
		unreachable: slices.ContainsFunc(host.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == corev1.TaintNodeUnreachable
		}),
	}
}
