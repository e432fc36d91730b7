package vpod

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// room is what the numbers say about the room for one more vreplica of a VPod. They tell more than the scheduler's words,
// which no program should have to read.
type room struct {
	// open is the number of adapters that take vreplicas, closed that of those that are cordoned or have another taint.
	open, closed int
	// capacity is the room of the open ones, and taken what is in use of it.
	capacity, taken int64
	// serving are the adapters that serve the VPod, by ordinal.
	serving []*corev1.Node
	// eligible is the number of adapters that the VPod may use and that have room.
	eligible int
}

// isLimit says whether the adapter limit is what a vreplica waits for: more adapters would not help.
func (r room) isLimit(vpod *v1alpha1.VPod) bool {
	return r.eligible == 0 && !r.mayUseMore(vpod)
}

func (r room) mayUseMore(vpod *v1alpha1.VPod) bool {
	return vpod.Spec.MaxAdapters == nil || len(r.serving) < int(*vpod.Spec.MaxAdapters)
}

// room counts. Terminating vreplicas hold their room until they are gone, but no longer make an adapter one of the VPod's.
func (o observation) room() room {
	own, serves := o.loads(o.pods)
	var r room
	for _, node := range o.census.nodes {
		if serves[node.Name] {
			r.serving = append(r.serving, node)
		}
	}
	slices.SortFunc(r.serving, compareAdapters)
	for _, node := range o.census.nodes {
		if !isOpen(node) {
			r.closed++
			continue
		}
		r.open++
		capacity := capacityOf(node)
		taken := own[node.Name] + o.census.others(node.Name, client.ObjectKeyFromObject(o.vpod))
		r.capacity += capacity
		r.taken += taken
		if taken < capacity && (serves[node.Name] || r.mayUseMore(o.vpod)) {
			r.eligible++
		}
	}
	return r
}

// loads are the room that placeholders of the VPod take on each adapter, and which adapters serve it.
func (o observation) loads(pods []*corev1.Pod) (own map[string]int64, serves map[string]bool) {
	own, serves = map[string]int64{}, map[string]bool{}
	for _, pod := range pods {
		if pod.Labels[v1alpha1.LabelVPod] != o.vpod.Name || isWaiting(pod) || adapter.IsFinished(pod) {
			continue
		}
		own[pod.Spec.NodeName] += snapshot.Requested(pod, v1alpha1.ResourceVReplicas)
		serves[pod.Spec.NodeName] = serves[pod.Spec.NodeName] || pod.DeletionTimestamp == nil
	}
	return own, serves
}

// fits says whether placeholders that leave one adapter find room on others once they have left.
func (o observation) fits(leaving []*corev1.Pod) bool {
	node := leaving[0].Spec.NodeName
	return o.vacanciesFor(len(leaving), without(o.pods, leaving), node) == len(leaving)
}

// vacancies is how many of n more find room.
func (o observation) vacancies(n int) int { return o.vacanciesFor(n, o.pods, "") }

// vacanciesFor is how many of n find room beside placeholders that stay, and on other adapters than one, by the numbers and by
// the rules of the scheduler.
func (o observation) vacanciesFor(n int, staying []*corev1.Pod, except string) int {
	own, _ := o.loads(staying)
	counts := byNode(filter(staying, func(pod *corev1.Pod) bool {
		return pod.Labels[v1alpha1.LabelVPod] == o.vpod.Name && pod.DeletionTimestamp == nil && !adapter.IsFinished(pod)
	}))
	request := placement.Request{VPod: placement.VPod{Kind: v1alpha1.KindVPod}, Size: 1}
	if limit := o.vpod.Spec.MaxAdapters; limit != nil {
		request.Limit = int(*limit)
	}
	pool, isUsable := placement.NewPool(), map[string]bool{}
	for _, node := range o.census.nodes {
		isUsable[node.Name] = isOpen(node) && node.Name != except
		taken := own[node.Name] + o.census.others(node.Name, client.ObjectKeyFromObject(o.vpod))
		pool.Put(placement.Adapter{
			Name: node.Name, Ordinal: ordinalOf(node), Born: node.CreationTimestamp.UnixNano(),
			Zone: node.Labels[corev1.LabelTopologyZone], Host: snapshot.HostOf(node),
			Capacity: capacityOf(node), Free: capacityOf(node) - taken,
		}, map[placement.VPod]int{request.VPod: len(counts[node.Name])})
	}
	request.Open = func(slot int) bool { return isUsable[pool.At(slot).Name] }
	tally := pool.Tally(request)
	rules, _ := adapter.RulesOf(o.vpod)
	for i := range n {
		slot, found := tally.Choose(rules)
		if !found {
			return i
		}
		tally.Add(slot, request.Size, 1)
	}
	return n
}

func capacityOf(node *corev1.Node) int64 {
	return node.Status.Allocatable.Name(v1alpha1.ResourceVReplicas, "").Value()
}

// isOpen says whether an adapter takes vreplicas.
func isOpen(node *corev1.Node) bool {
	tolerated := tolerations(node.Labels[v1alpha1.LabelPool])
	return !node.Spec.Unschedulable && !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		isHard := taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		return isHard && !slices.ContainsFunc(tolerated, func(t corev1.Toleration) bool {
			return t.ToleratesTaint(klog.Logger{}, &taint, false)
		})
	})
}

func compareAdapters(a, b *corev1.Node) int {
	return cmp.Or(cmp.Compare(ordinalOf(a), ordinalOf(b)), cmp.Compare(a.Name, b.Name))
}
