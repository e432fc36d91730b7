package controllers

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// landscape is what others have in a cluster, much of it with labels like ours.
type landscape struct {
	node, labelledNode, virtual   *corev1.Node
	pod, labelledPod, placeholder *corev1.Pod
	// evictee is a placeholder that exists.
	evictee             *corev1.Pod
	lease, anotherLease *coordinationv1.Lease
	set                 *appsv1.StatefulSet
	vpod                *v1alpha1.VPod
	pool                *v1alpha1.AdapterPool
}

func newLandscape(t *testing.T, s *stage) landscape {
	t.Helper()
	name := labtest.Name(t)
	if err := s.CreateNamespace(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	labelled := map[string]string{v1alpha1.LabelPool: name}
	placeholder := lab.VPod{Namespace: name, Name: "x", Pool: name}.Pod(0)
	ordinary := func(suffix string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: suffix},
			Spec:       corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "c", Image: "none"}}},
		}
	}
	lease := func(name string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name}}
	}
	l := landscape{
		node: lab.Host(name+"-real", ""), labelledNode: lab.Host(name+"-0", ""),
		virtual: lab.Adapter{Pool: name, Ordinal: 1, Capacity: 1}.Node(),
		pod:     ordinary("plain"), labelledPod: ordinary("adapter"), placeholder: placeholder,
		evictee: lab.VPod{Namespace: name, Name: "y", Pool: name}.Pod(0),
		lease:   lease(name + "-kubelet"), anotherLease: lease(name + "-1"),
		set:  lab.AdapterSet{Namespace: name, Name: name}.StatefulSet(),
		vpod: &v1alpha1.VPod{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "x"}, Spec: v1alpha1.VPodSpec{PoolName: name, Replicas: new(int32(0))}},
		pool: &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: name}},
	}
	l.labelledNode.Labels[v1alpha1.LabelPool] = name
	l.labelledNode.Spec.ProviderID = "aws:///" + name
	l.labelledPod.Labels = labelled
	for _, o := range []client.Object{l.node, l.labelledNode, l.pod, l.labelledPod, l.evictee, l.lease, l.set, l.vpod} {
		if err := s.Objects().Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// virtualNode is a new virtual node with something amiss.
func (l landscape) virtualNode(edit func(*corev1.Node)) *corev1.Node {
	node := l.virtual.DeepCopy()
	edit(node)
	return node
}

func (l landscape) newPod(edit func(*corev1.Pod)) *corev1.Pod {
	pod := l.placeholder.DeepCopy()
	edit(pod)
	return pod
}

func TestG8_TheControllerMayNotTouchNodesPodsAndLeasesOfOthers(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	l := newLandscape(t, s)
	account := s.as(t, v1alpha1.Namespace, v1alpha1.ControllerName)
	const (
		noVirtual     = " is not a virtual node: its spec.providerID does not begin with vpod://; vpod-controller may not write it"
		mustBeNode    = "vpod-controller may only create nodes, or leave them behind, with the label vpod.dev/pool and a spec.providerID"
		noPlaceholder = " is not a placeholder, which has the label vpod.dev/pool and requests vpod.dev/vreplicas; vpod-controller may not"
		noEviction    = " does not have the name of a placeholder, <vpod>-vreplica-<index>, or its UID was not named; vpod-controller may not"
		mustBePod     = "vpod-controller may only create placeholder pods, or leave pods behind that are"
		noHeartbeat   = " is not that of a virtual node: it lacks the label vpod.dev/pool; vpod-controller may not write it"
		mustBeLease   = "vpod-controller may only create leases in kube-node-lease, or leave them behind, with the label vpod.dev/pool"
		noRight       = "is forbidden: User \"system:serviceaccount:vpod-system:vpod-controller\" cannot "
	)
	adopt := fmt.Sprintf(`{"metadata":{"labels":{"vpod.dev/pool":"p"}},"spec":{"providerID":"vpod://%s/0"}}`, l.node.Name)
	for name, tc := range map[string]struct {
		request request
		want    string
	}{
		"cordons a real node":               {toPatch(l.node, `{"spec":{"unschedulable":true}}`), "node " + l.node.Name + noVirtual},
		"labels a real node":                {toPatch(l.node, `{"metadata":{"labels":{"vpod.dev/pool":"p"}}}`), noVirtual},
		"makes a real node virtual":         {toPatch(l.node, adopt), noVirtual},
		"writes the status of a real node":  {toPatchStatus(l.node, `{"status":{"conditions":null}}`), noVirtual},
		"deletes a real node":               {toDelete(l.node), noVirtual},
		"cordons a real node in a pool":     {toPatch(l.labelledNode, `{"spec":{"unschedulable":true}}`), noVirtual},
		"deletes a real node in a pool":     {toDelete(l.labelledNode), noVirtual},
		"creates a node without a label":    {toCreate(l.virtualNode(func(n *corev1.Node) { n.Labels = nil })), mustBeNode},
		"creates a node of no pool's":       {toCreate(l.virtualNode(func(n *corev1.Node) { delete(n.Labels, v1alpha1.LabelPool) })), mustBeNode},
		"creates a node without an ID":      {toCreate(l.virtualNode(func(n *corev1.Node) { n.Spec.ProviderID = "" })), mustBeNode},
		"creates a node of a cloud":         {toCreate(l.virtualNode(func(n *corev1.Node) { n.Spec.ProviderID = "aws:///vpod://" })), mustBeNode},
		"deletes a foreign pod":             {toDelete(l.pod), "pod " + l.pod.Namespace + "/" + l.pod.Name + noPlaceholder},
		"labels a foreign pod":              {toPatch(l.pod, `{"metadata":{"labels":{"vpod.dev/pool":"p"}}}`), noPlaceholder},
		"fails a foreign pod":               {toPatchStatus(l.pod, `{"status":{"phase":"Failed"}}`), noPlaceholder},
		"deletes an adapter with the label": {toDelete(l.labelledPod), noPlaceholder},
		"fails an adapter with the label":   {toPatchStatus(l.labelledPod, `{"status":{"phase":"Failed"}}`), noPlaceholder},
		"creates a pod without a label": {toCreate(l.newPod(func(p *corev1.Pod) {
			p.Labels, p.Spec.Containers[0].Resources = nil, corev1.ResourceRequirements{}
		})), mustBePod},
		"creates a pod without a request": {toCreate(l.newPod(func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		})), mustBePod},
		"renews the lease of a real node":   {toUpdate(l.lease), "lease " + l.lease.Name + noHeartbeat},
		"takes the lease of a real node":    {toUpdate(labelledLease(l.lease)), noHeartbeat},
		"deletes the lease of a real node":  {toDelete(l.lease), noHeartbeat},
		"creates a lease without the label": {toCreate(l.anotherLease), mustBeLease},

		"updates a node":         {toUpdate(l.node), noRight + `update resource "nodes"`},
		"renews the scheduler's": {toUpdate(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: v1alpha1.SchedulerLease}}), noRight},
		"scales the adapters":    {toPatch(l.set, `{"spec":{"replicas":3}}`), noRight + `patch resource "statefulsets"`},
		"deletes a VPod":         {toDelete(l.vpod), noRight + `delete resource "vpods"`},
		"creates a pool":         {toCreate(l.pool), noRight + `create resource "adapterpools"`},
		"reads a secret":         {toList(&corev1.SecretList{}), noRight + `list resource "secrets"`},
		"updates the adapters":   {toUpdate(l.set), noRight + `update resource "statefulsets"`},
		"patches their scale":    {toScale(l.set, 3), noRight + `patch resource "statefulsets/scale"`},
		"deletes the adapters":   {toDelete(l.set), noRight + `delete resource "statefulsets"`},
		"creates adapters":       {toCreate(l.set), noRight + `create resource "statefulsets"`},
		"evicts a foreign pod":   {toEvict(l.pod, l.pod.UID), "pod " + l.pod.Namespace + "/" + l.pod.Name + noEviction},
		"evicts an adapter":      {toEvict(l.labelledPod, l.labelledPod.UID), noEviction},
		"evicts whoever":         {toEvict(l.evictee, ""), noEviction},
		"evicts another by name": {toEvict(l.evictee, "other"), "the UID in the precondition (other) does not match"},
	} {
		t.Run(name, func(t *testing.T) { refusedWith(t, account, tc.request, tc.want) })
	}
	for name, request := range map[string]request{
		"a virtual node": toCreate(l.virtual),
		"a placeholder":  toCreate(l.placeholder),
		"a heartbeat":    toCreate(labelledLease(l.anotherLease)),
		"an eviction":    toEvict(l.evictee, l.evictee.UID),
		"a scale":        toRescale(l.set, 3),
	} {
		if err := request(t.Context(), account); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
}

// toEvict asks for an eviction of the pod with a UID, or of whichever pod has the name.
func toEvict(pod *corev1.Pod, uid types.UID) request {
	eviction := &policyv1.Eviction{DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}}
	if uid != "" {
		eviction.DeleteOptions.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	return func(ctx context.Context, c client.Client) error {
		return c.SubResource("eviction").Create(ctx, pod.DeepCopy(), eviction.DeepCopy(), client.DryRunAll)
	}
}

// toRescale reads the scale and updates it.
func toRescale(set *appsv1.StatefulSet, replicas int32) request {
	return func(ctx context.Context, c client.Client) error {
		scale := &autoscalingv1.Scale{}
		if err := c.SubResource("scale").Get(ctx, set.DeepCopy(), scale); err != nil {
			return err
		}
		scale.Spec.Replicas = replicas
		return c.SubResource("scale").Update(ctx, set.DeepCopy(), client.WithSubResourceBody(scale), client.DryRunAll)
	}
}

func labelledLease(lease *coordinationv1.Lease) *coordinationv1.Lease {
	labelled := lease.DeepCopy()
	labelled.Labels = map[string]string{v1alpha1.LabelPool: "p"}
	return labelled
}
