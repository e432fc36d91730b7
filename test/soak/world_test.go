package soak

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const testCapacity = 3

// testWorld is one in which all is as it has to be: adapters set-0 and set-1 of pool p, with room for 3 each, on hosts h-0
// and h-1, and VPod x with 3 vreplicas, of which the second is on p-1.
func testWorld() *world {
	all := objects{
		pools: []*v1alpha1.AdapterPool{testPool()}, sets: []*appsv1.StatefulSet{testSet(2)}, vpods: []*v1alpha1.VPod{testVPod(3)},
		pods: []*corev1.Pod{
			testAdapter(0), testAdapter(1), testPlaceholder(0, "p-0"), testPlaceholder(1, "p-1"), testPlaceholder(2, "p-0"),
		},
	}
	for i := range 2 {
		all.nodes = append(all.nodes, testNode(i), lab.Host(fmt.Sprint("h-", i), "z"))
		all.leases = append(all.leases, testLease(fmt.Sprint("p-", i)))
	}
	return newWorld(all, noon)
}

func testPool() *v1alpha1.AdapterPool {
	return &v1alpha1.AdapterPool{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", Generation: 1},
		Spec: v1alpha1.AdapterPoolSpec{
			StatefulSetRef: v1alpha1.StatefulSetReference{Namespace: "s", Name: "set"}, Capacity: testCapacity,
			EvictionTimeout: &metav1.Duration{Duration: evictionTimeout},
		},
		Status: v1alpha1.AdapterPoolStatus{
			ObservedGeneration: 1, Adapters: 2, ReadyAdapters: 2, Capacity: 2 * testCapacity, Used: 3,
			Conditions: []metav1.Condition{testCondition(v1alpha1.ConditionReady, v1alpha1.ReasonAdaptersReady)},
		},
	}
}

func testCondition(kind, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, ObservedGeneration: 1, Reason: reason, Message: "all is well"}
}

func testSet(replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "s", Name: "set", UID: "set", Generation: 1},
		Spec:       appsv1.StatefulSetSpec{Replicas: &replicas},
		Status:     appsv1.StatefulSetStatus{ObservedGeneration: 1, Replicas: replicas},
	}
}

func testAdapter(ordinal int) *corev1.Pod {
	name := fmt.Sprint("set-", ordinal)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "s", Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{
			{Kind: "StatefulSet", Name: "set", UID: "set", Controller: new(true)},
		}},
		Spec:   corev1.PodSpec{NodeName: fmt.Sprint("h-", ordinal), Containers: []corev1.Container{{}}},
		Status: runs(true),
	}
}

func runs(ready bool) corev1.PodStatus {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: status},
	}}
}

func testNode(ordinal int) *corev1.Node {
	node := lab.Adapter{Pool: "p", Ordinal: ordinal, Host: fmt.Sprint("h-", ordinal), Zone: "z", Capacity: testCapacity}.Node()
	node.UID = types.UID(node.Name)
	node.Labels[corev1.LabelNodeExcludeBalancers] = ""
	return node
}

func testLease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name, Labels: map[string]string{v1alpha1.LabelPool: "p"}},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: noon.Add(-time.Second)}},
	}
}

func testVPod(replicas int32) *v1alpha1.VPod {
	return &v1alpha1.VPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "x", UID: "x", Generation: 1},
		Spec:       v1alpha1.VPodSpec{Replicas: &replicas, PoolName: "p", SchedulerName: v1alpha1.SchedulerName},
		Status: v1alpha1.VPodStatus{
			ObservedGeneration: 1, DesiredReplicas: new(replicas), Replicas: 3, ScheduledReplicas: 3, ReadyReplicas: 3, Adapters: 2,
			Selector:   v1alpha1.LabelVPod + "=x",
			Placements: []v1alpha1.Placement{{PodName: "set-0", VReplicas: 2}, {PodName: "set-1", VReplicas: 1}},
			Conditions: []metav1.Condition{
				testCondition(v1alpha1.ConditionScheduled, v1alpha1.ReasonAllScheduled), testCondition(v1alpha1.ConditionReady, v1alpha1.ReasonAllReady),
			},
		},
	}
}

// testPlaceholder runs on a node, or waits and is told why.
func testPlaceholder(index int, node string) *corev1.Pod {
	p := lab.VPod{Namespace: "ns", Name: "x", Pool: "p"}.Pod(index)
	p.UID = types.UID(p.Name)
	p.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.KindVPod, Name: "x", UID: "x", Controller: new(true)}}
	p.Spec.NodeName = node
	if p.Status = runs(true); node == "" {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/2 nodes are available"},
		}}
	}
	return p
}

// pod returns one by its name.
func (w *world) pod(name string) *corev1.Pod {
	for _, p := range w.pods {
		if p.Name == name {
			return p
		}
	}
	panic("there is no pod " + name)
}

// waits takes the third vreplica off its adapter, has everybody say so, and fills the adapters up to n vreplicas of others.
func (w *world) waits(n int) {
	*w.pod("x-vreplica-2") = *testPlaceholder(2, "")
	s := &w.vpods["x"].Status
	s.ScheduledReplicas, s.ReadyReplicas, s.Placements[0].VReplicas = 2, 2, 1
	for i := range s.Conditions {
		s.Conditions[i].Status = metav1.ConditionFalse
	}
	s.Conditions[0].Reason = v1alpha1.ReasonNoRoom
	for i := range n {
		p := testPlaceholder(0, fmt.Sprint("p-", i%2))
		p.Name, p.UID, p.OwnerReferences, p.Labels[v1alpha1.LabelVPod] = fmt.Sprint("guest-", i), types.UID(strconv.Itoa(i)), nil, "guest"
		w.pods = append(w.pods, p)
	}
	w.pools["p"].Status.Used, w.pools["p"].Status.Waiting = int64(2+n), 1
}

// setCapacity sets what all adapters have room for.
func (w *world) setCapacity(n int32) {
	w.pools["p"].Spec.Capacity, w.pools["p"].Status.Capacity = n, 2*int64(n)
	for i := range 2 {
		node := w.nodes[fmt.Sprint("p-", i)]
		node.Status.Allocatable[v1alpha1.ResourceVReplicas] = *resource.NewQuantity(int64(n), resource.DecimalSI)
	}
}
