package rebalance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// noon is when all tests begin.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// poolOf is pool a, evened out, of adapters that are described as "zone=z1", "host=h1", "room=3" (10 if left out),
// "cordoned", "draining", "tainted" or "unready", by ordinal. What is not said of an adapter is "-".
func poolOf(adapters ...string) *state {
	s := &state{
		pool: &v1alpha1.AdapterPool{
			ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "pool"},
			Spec: v1alpha1.AdapterPoolSpec{
				Descheduling: &v1alpha1.Descheduling{Rebalance: &v1alpha1.Rebalance{Mode: v1alpha1.RebalanceOn, EvictionsPerMinute: new(int32(6))}},
			},
		},
		set: &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32(len(adapters)))}},
	}
	for ordinal, words := range adapters {
		s.nodes = append(s.nodes, adapterNode(ordinal, strings.Fields(words)))
	}
	return s
}

func adapterNode(ordinal int, words []string) *corev1.Node {
	id := adapter.ID{Pool: "a", Ordinal: ordinal}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   id.NodeName(),
			Labels: map[string]string{v1alpha1.LabelPool: "a", v1alpha1.LabelOrdinal: strconv.Itoa(ordinal)},
		},
		Spec: corev1.NodeSpec{ProviderID: id.ProviderID(), Taints: []corev1.Taint{
			{Key: v1alpha1.TaintPool, Value: "a", Effect: corev1.TaintEffectNoSchedule},
		}},
		Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("10")},
		},
	}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "-":
		case "zone":
			node.Labels[corev1.LabelTopologyZone] = value
		case "host":
			node.Labels[v1alpha1.LabelHost] = value
		case "room":
			node.Status.Allocatable[v1alpha1.ResourceVReplicas] = resource.MustParse(value)
		case "draining":
			node.Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonDraining}
			node.Spec.Unschedulable = true
		case "cordoned":
			node.Spec.Unschedulable = true
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

// serves adds a VPod that has so many vreplicas on each adapter by ordinal, as in "2/1/1", and asks for as many.
func (s *state) serves(name, spread string, edits ...func(*v1alpha1.VPod)) *state {
	v := &v1alpha1.VPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-of-" + name), Generation: 7},
		Spec:       v1alpha1.VPodSpec{PoolName: "a", SchedulerName: v1alpha1.SchedulerName},
	}
	index := 0
	for ordinal, text := range strings.Split(spread, "/") {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		for range n {
			s.pods = append(s.pods, placeholder(v, index, v1alpha1.NodeName("a", ordinal)))
			index++
		}
	}
	v.Spec.Replicas = new(int32(index))
	for _, edit := range edits {
		edit(v)
	}
	s.vpods = append(s.vpods, v)
	return s
}

// placeholder is one that runs on a node, or waits where that is "".
func placeholder(v *v1alpha1.VPod, index int, node string) *corev1.Pod {
	one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
	name := fmt.Sprintf("%s-vreplica-%d", v.Name, index)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v.Namespace, Name: name, UID: types.UID("uid-of-" + name), ResourceVersion: "1",
			Labels:          map[string]string{v1alpha1.LabelVPod: v.Name, v1alpha1.LabelPool: "a"},
			Annotations:     map[string]string{},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(v, v1alpha1.GroupVersion.WithKind(v1alpha1.KindVPod))},
		},
		Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: one}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if node == "" {
		pod.Status.Phase = corev1.PodPending
	}
	if v.Spec.MaxAdapters != nil {
		pod.Annotations[v1alpha1.AnnotationMaxAdapters] = strconv.Itoa(int(*v.Spec.MaxAdapters))
	}
	return pod
}

// waits adds placeholders of a VPod that the state has, and which asks for them.
func (s *state) waits(name string, n int) *state {
	v := s.vpod(name)
	for range n {
		s.pods = append(s.pods, placeholder(v, int(*v.Spec.Replicas), ""))
		*v.Spec.Replicas++
	}
	return s
}

func (s *state) vpod(name string) *v1alpha1.VPod {
	return s.vpods[slices.IndexFunc(s.vpods, func(v *v1alpha1.VPod) bool { return v.Name == name })]
}

func (s *state) pod(name string) *corev1.Pod {
	return s.pods[slices.IndexFunc(s.pods, func(p *corev1.Pod) bool { return p.Name == name })]
}

// with edits a placeholder, which others may share no more.
func (s *state) with(name string, edit func(*corev1.Pod)) *state {
	i := slices.Index(s.pods, s.pod(name))
	s.pods[i] = s.pods[i].DeepCopy()
	edit(s.pods[i])
	s.pods[i].ResourceVersion += "1"
	return s
}

func marked(pod *corev1.Pod)   { pod.Annotations[v1alpha1.AnnotationMove] = v1alpha1.MoveRebalance }
func unmarked(pod *corev1.Pod) { delete(pod.Annotations, v1alpha1.AnnotationMove) }
func wanted(pod *corev1.Pod)   { pod.Annotations[v1alpha1.AnnotationMove] = "Mine" }
func pending(pod *corev1.Pod)  { pod.Status.Phase = corev1.PodPending }
func leaving(pod *corev1.Pod)  { pod.DeletionTimestamp = &metav1.Time{Time: noon} }
func failing(pod *corev1.Pod)  { pod.Status.Phase = corev1.PodFailed }

func limitedTo(n int) func(*v1alpha1.VPod) {
	return func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = new(int32(n)) }
}

func placedBy(scheduler string) func(*v1alpha1.VPod) {
	return func(v *v1alpha1.VPod) { v.Spec.SchedulerName = scheduler }
}

// rested is the memory of a pool that was looked at long ago, so that its rate allows for a move.
func rested() memory { return memory{begun: noon.Add(-time.Hour)} }

// String tells a plan: "x-vreplica-3 from a-0 to a-1, unmark y-vreplica-0, after 10s".
func (p plan) String() string {
	var parts []string
	if p.begin != nil {
		parts = append(parts, fmt.Sprintf("%s from %s to %s", p.begin.pod.Name, p.begin.From, p.begin.To))
	}
	for _, pod := range p.unmark {
		parts = append(parts, "unmark "+pod.Name)
	}
	if p.after > 0 {
		parts = append(parts, "after "+p.after.String())
	}
	return strings.Join(parts, ", ")
}
