package rule

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// An answer says whether an event may help a waiting pod, and why or why not.
type answer struct {
	hint fwk.QueueingHint
	why  string
}

func queue(why string) answer { return answer{fwk.Queue, why} }
func skip(why string) answer  { return answer{fwk.QueueSkip, why} }

// A judge answers for one waiting pod. Of old and changed, the one that does not exist is nil: old when something was
// added, changed when it was deleted.
type judge[T v1.Pod | v1.Node] func(waiting *v1.Pod, old, changed *T) answer

// PreFilterEvents are the events that help a vreplica that every plugin refuses: it is mended, or its pool appears.
func PreFilterEvents() []fwk.ClusterEventWithHint {
	return []fwk.ClusterEventWithHint{
		event(fwk.TargetPod, fwk.Update, mended),
		event(fwk.Node, fwk.Add|fwk.UpdateNodeLabel, adapterJoined),
	}
}

// RoomEvents are the events that make room for what counts as vreplicas.
func RoomEvents(name v1.ResourceName) []fwk.ClusterEventWithHint {
	return []fwk.ClusterEventWithHint{
		event(fwk.AssignedPod, fwk.Delete, podLeft(name)),
		event(fwk.Node, fwk.Add|fwk.Delete|fwk.UpdateNodeAllocatable|fwk.UpdateNodeLabel, adapterOffersMore(name)),
	}
}

// LimitEvents are the events by which a vpod uses fewer adapters, or another one against its limit, because a sibling
// has a higher limit or was moved by hand: all may use that one then.
func LimitEvents() []fwk.ClusterEventWithHint {
	return []fwk.ClusterEventWithHint{
		event(fwk.AssignedPod, fwk.Add|fwk.Delete|fwk.Update, siblingChanged),
		event(fwk.Node, fwk.Delete|fwk.UpdateNodeLabel, adapterLeft),
	}
}

// SpreadEvents are the events that change a count, or which adapters are eligible and so the minimum. A vreplica of
// another vpod does too: it fills an adapter, which then no longer holds the others back.
func SpreadEvents(name v1.ResourceName) []fwk.ClusterEventWithHint {
	return []fwk.ClusterEventWithHint{
		event(fwk.AssignedPod, fwk.Add|fwk.Delete|fwk.Update, countChanged(name)),
		event(fwk.Node, fwk.Add|fwk.Delete|fwk.UpdateNodeAllocatable|fwk.UpdateNodeLabel|fwk.UpdateNodeTaint, adapterChanged),
	}
}

// event wraps a judge as a queueing hint that logs its reason for either answer.
func event[T v1.Pod | v1.Node](resource fwk.EventResource, action fwk.ActionType, j judge[T]) fwk.ClusterEventWithHint {
	hint := func(logger klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
		old, err := as[T](oldObj)
		if err != nil {
			return fwk.Queue, err
		}
		changed, err := as[T](newObj)
		if err != nil {
			return fwk.Queue, err
		}
		a := j(pod, old, changed)
		logger.V(5).Info("Judged an event for a waiting vreplica", "pod", klog.KObj(pod), "resource", resource, "hint", a.hint, "reason", a.why)
		return a.hint, nil
	}
	return fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: resource, ActionType: action}, QueueingHintFn: hint}
}

func as[T any](obj any) (*T, error) {
	if obj == nil {
		return nil, nil
	}
	t, ok := obj.(*T)
	if !ok {
		return nil, fmt.Errorf("judging an event: got a %T, want a %T", obj, t)
	}
	return t, nil
}
