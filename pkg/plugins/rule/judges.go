package rule

import (
	v1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

func mended(waiting, old, changed *v1.Pod) answer {
	switch {
	case old == nil || changed == nil || changed.UID != waiting.UID:
		return skip("another pod changed")
	case relevant(old) != relevant(changed):
		return queue("the pod's pool, vpod, adapter limit or tolerations changed")
	default:
		return skip("nothing of the pod changed that a rule reads")
	}
}

// part is what of a pod may change while it waits, and a rule reads.
type part struct {
	pool, vpod, limit string
	limited           bool
	tolerations       int
}

func relevant(pod *v1.Pod) part {
	limit, limited := pod.Annotations[v1alpha1.AnnotationMaxAdapters]
	return part{
		pool: pod.Labels[v1alpha1.LabelPool], vpod: pod.Labels[v1alpha1.LabelVPod],
		limit: limit, limited: limited, tolerations: len(pod.Spec.Tolerations),
	}
}

func podLeft(name v1.ResourceName) judge[v1.Pod] {
	return func(waiting, old, _ *v1.Pod) answer {
		switch {
		case !samePool(waiting, old):
			return skip("a pod left an adapter of another pool")
		case snapshot.Requested(old, name) == 0:
			return skip("a pod left that took no room for vreplicas")
		default:
			return queue("a pod left an adapter of the pool")
		}
	}
}

func siblingChanged(waiting, old, changed *v1.Pod) answer {
	vpod := snapshot.VPodOf(waiting)
	was := old != nil && snapshot.VPodOf(old) == vpod
	is := changed != nil && snapshot.VPodOf(changed) == vpod
	switch {
	case !was && !is:
		return skip("a vreplica of another vpod changed")
	case !was:
		return queue("a vreplica of the vpod is on an adapter, which now serves it")
	case !is:
		return queue("a vreplica of the vpod left an adapter")
	case terminates(old, changed):
		return queue("a vreplica of the vpod is terminating")
	default:
		return skip("a vreplica of the vpod stays where it is")
	}
}

func countChanged(name v1.ResourceName) judge[v1.Pod] {
	return func(waiting, old, changed *v1.Pod) answer {
		present := changed
		if present == nil {
			present = old
		}
		switch {
		case !samePool(waiting, present):
			return skip("a pod of another pool changed")
		case snapshot.Requested(present, name) == 0:
			return skip("a pod changed that takes no room for vreplicas")
		case old == nil:
			return queue("a pod was placed in the pool")
		case changed == nil:
			return queue("a pod left the pool")
		case terminates(old, changed):
			return queue("a pod of the pool is terminating")
		case snapshot.VPodOf(old) != snapshot.VPodOf(changed):
			return queue("a pod of the pool went to another vpod")
		default:
			return skip("a pod of the pool counts as before")
		}
	}
}

// samePool says whether a pod takes room in the pool of another. One without the label may: its nodeName was set by
// hand.
func samePool(waiting, other *v1.Pod) bool {
	pool := other.Labels[v1alpha1.LabelPool]
	return pool == "" || pool == waiting.Labels[v1alpha1.LabelPool]
}

func terminates(old, changed *v1.Pod) bool {
	return old.DeletionTimestamp == nil && changed.DeletionTimestamp != nil
}

func adapterJoined(waiting *v1.Pod, old, changed *v1.Node) answer {
	if inPool(waiting, changed) && !inPool(waiting, old) {
		return queue("a node joined the pool")
	}
	return skip("no node joined the pool")
}

func adapterLeft(waiting *v1.Pod, old, changed *v1.Node) answer {
	switch {
	case !inPool(waiting, old):
		return skip("no node left the pool")
	case !inPool(waiting, changed):
		return queue("a node left the pool, and its vreplicas no longer count")
	case old.Labels[v1alpha1.LabelOrdinal] != changed.Labels[v1alpha1.LabelOrdinal]:
		return queue("an adapter changed its ordinal, and its vreplicas may no longer count")
	default:
		return skip("an adapter stays in the pool")
	}
}

func adapterChanged(waiting *v1.Pod, old, changed *v1.Node) answer {
	if inPool(waiting, old) || inPool(waiting, changed) {
		return queue("a node of the pool changed, and with it who is eligible")
	}
	return skip("a node outside of the pool changed")
}

func adapterOffersMore(name v1.ResourceName) judge[v1.Node] {
	return func(waiting *v1.Pod, old, changed *v1.Node) answer {
		was, is := inPool(waiting, old), inPool(waiting, changed)
		switch {
		case !was && !is:
			return skip("a node outside of the pool changed")
		case !was:
			return queue("a node joined the pool")
		case !is:
			return queue("a node left the pool: a younger one may have its ordinal")
		case old.Labels[v1alpha1.LabelOrdinal] != changed.Labels[v1alpha1.LabelOrdinal]:
			return queue("an adapter changed its ordinal")
		}
		before, now := old.Status.Allocatable[name], changed.Status.Allocatable[name]
		if now.Cmp(before) > 0 {
			return queue("an adapter offers more")
		}
		return skip("an adapter offers no more than before")
	}
}

func inPool(waiting *v1.Pod, node *v1.Node) bool {
	pool := waiting.Labels[v1alpha1.LabelPool]
	return node != nil && pool != "" && node.Labels[v1alpha1.LabelPool] == pool
}
