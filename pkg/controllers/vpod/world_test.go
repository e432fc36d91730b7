package vpod

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// noon is when all tests take place.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// xVPod is VPod x with so many vreplicas in pool a.
func xVPod(replicas int, edits ...func(*v1alpha1.VPod)) *v1alpha1.VPod {
	v := &v1alpha1.VPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "x", UID: "x-uid", Generation: 7},
		Spec: v1alpha1.VPodSpec{
			Replicas: new(int32(replicas)), PoolName: "a", SchedulerName: v1alpha1.SchedulerName, PriorityClassName: "new",
		},
	}
	for _, edit := range edits {
		edit(v)
	}
	return v
}

func limitedTo(n int) func(*v1alpha1.VPod) {
	return func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = new(int32(n)) }
}

// poolA is pool a of the adapters of StatefulSet s.
func poolA(edits ...func(*v1alpha1.AdapterPool)) *v1alpha1.AdapterPool {
	p := &v1alpha1.AdapterPool{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       v1alpha1.AdapterPoolSpec{StatefulSetRef: v1alpha1.StatefulSetReference{Namespace: "system", Name: "s"}},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// adapterNode reads a virtual node: "a-0", then in any order "zone=z1", "host=h1", "room=3" (10 if left out), and
// "cordoned", "draining", "tainted" or "unready".
func adapterNode(text string) *corev1.Node {
	words := strings.Fields(text)
	_, ordinal, _ := strings.Cut(words[0], "-")
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   words[0],
			Labels: map[string]string{v1alpha1.LabelPool: "a", v1alpha1.LabelOrdinal: ordinal},
		},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: v1alpha1.TaintPool, Value: "a", Effect: corev1.TaintEffectNoSchedule},
		}},
		Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("10")},
		},
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "zone":
			node.Labels[corev1.LabelTopologyZone] = value
		case "host":
			node.Labels[v1alpha1.LabelHost] = value
		case "room":
			node.Status.Allocatable[v1alpha1.ResourceVReplicas] = resource.MustParse(value)
		case "cordoned":
			node.Spec.Unschedulable = true
		case "draining":
			node.Spec.Unschedulable = true
			node.Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonDraining}
		case "tainted":
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "mine", Effect: corev1.TaintEffectNoSchedule})
		case "unready":
			node.Status.Conditions[0].Status = corev1.ConditionFalse
			node.Spec.Taints = append(node.Spec.Taints,
				corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute})
		default:
			panic(word)
		}
	}
	return node
}

func adapterNodes(texts ...string) []*corev1.Node {
	var nodes []*corev1.Node
	for _, text := range texts {
		nodes = append(nodes, adapterNode(text))
	}
	return nodes
}

// pod reads a placeholder of a VPod: its index, then "@a-0" where it is bound to, and in any order "unadmitted", "ready",
// "refused" by the scheduler, "nominated", "failed", "terminating", "old" in its PriorityClass, "moving", "unprofiled" for another scheduler, "age=70s", and what
// makes it somebody else's or unlike a placeholder: "inherited", "orphan", "stranger", "mislabelled", "unlabelled".
func pod(v *v1alpha1.VPod, text string) *corev1.Pod {
	words := strings.Fields(text)
	index, err := strconv.Atoi(words[0])
	if err != nil {
		panic(err)
	}
	p := placeholder(v, index)
	p.UID, p.ResourceVersion = types.UID("uid-of-"+p.Name), "1"
	p.CreationTimestamp = metav1.NewTime(noon.Add(-time.Second))
	set := func(kind corev1.PodConditionType, status corev1.ConditionStatus, message string) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Message: message})
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case key[0] == '@':
			p.Spec.NodeName, p.Status.Phase = key[1:], corev1.PodRunning
		case key == "unadmitted":
			p.Status.Phase = corev1.PodPending
		case key == "size":
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse(value)}
		case key == "ready":
			set(corev1.PodReady, corev1.ConditionTrue, "")
		case key == "refused":
			set(corev1.PodScheduled, corev1.ConditionFalse, "no adapter for "+p.Name)
		case key == "nominated":
			p.Status.NominatedNodeName = "a-1"
		case key == "failed":
			p.Status.Phase = corev1.PodFailed
		case key == "terminating":
			p.DeletionTimestamp = &metav1.Time{Time: noon}
		case key == "old":
			p.Spec.PriorityClassName, p.Annotations[v1alpha1.AnnotationPriorityClassName] = "old", "old"
		case key == "moving":
			p.Annotations[v1alpha1.AnnotationMove] = v1alpha1.MoveRebalance
		case key == "unprofiled":
			p.Spec.SchedulerName, p.Annotations[v1alpha1.AnnotationSchedulerName] = "other", "other"
		case key == "age":
			age, err := time.ParseDuration(value)
			if err != nil {
				panic(err)
			}
			p.CreationTimestamp = metav1.NewTime(noon.Add(-age))
		case key == "inherited":
			p.OwnerReferences[0].UID = "older"
		case key == "orphan":
			p.OwnerReferences = nil
		case key == "stranger":
			p.OwnerReferences[0].Kind, p.OwnerReferences[0].UID = "ReplicaSet", "other"
		case key == "mislabelled":
			p.Labels[v1alpha1.LabelVPod] = "y"
		case key == "unlabelled":
			delete(p.Labels, v1alpha1.LabelPool)
		default:
			panic(word)
		}
	}
	return p
}

// observed is an observation at noon.
func observed(v *v1alpha1.VPod, nodes []*corev1.Node, pods ...string) observation {
	o := observation{vpod: v, pool: poolA(), nodes: map[string]*corev1.Node{}, empty: len(nodes) == 0, now: noon}
	for _, node := range nodes {
		o.nodes[node.Name] = node
	}
	o.drain()
	o.census = &census{taken: noon, nodes: nodes, served: map[string]map[types.NamespacedName]int64{}}
	for _, text := range pods {
		o.pods = append(o.pods, pod(v, text))
	}
	return o
}

// drain takes the adapters for draining that are cordoned for it.
func (o *observation) drain() {
	o.draining = map[string]bool{}
	for name, node := range o.nodes {
		o.draining[name] = node.Annotations[v1alpha1.AnnotationCordon] == v1alpha1.CordonDraining
	}
}

// takenByOthers has other VPods take room of adapters.
func (o observation) takenByOthers(taken map[string]int64) {
	for node, n := range taken {
		o.census.served[node] = map[types.NamespacedName]int64{{Namespace: "ns", Name: "y"}: n}
	}
}

// String tells a plan by indices: "remove 3 4, evict 1 together, mend 0, create 5".
func (p plan) String() string {
	var parts []string
	add := func(what string, indices []int) {
		if len(indices) > 0 {
			parts = append(parts, what+" "+strings.Trim(fmt.Sprint(indices), "[]"))
		}
	}
	add("remove", indices(p.remove))
	add("evict", indices(p.evict))
	if p.together {
		parts[len(parts)-1] += " together"
	}
	add("mend", indices(p.mend))
	add("create", p.create)
	return strings.Join(parts, ", ")
}

// indices are those of pods, in ascending order.
func indices(pods []*corev1.Pod) []int {
	var all []int
	for _, pod := range pods {
		index, _ := adapter.IndexOf("x", pod.Name)
		all = append(all, index)
	}
	slices.Sort(all)
	return all
}
