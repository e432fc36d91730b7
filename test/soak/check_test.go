package soak

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

func TestCheckFindsNothingWhereAllIsWell(t *testing.T) {
	for name, edit := range map[string]func(*world){
		"all is placed":         func(*world) {},
		"full, and one waits":   func(w *world) { w.waits(4) },
		"a person cordoned":     func(w *world) { w.cordon("p-1", "") },
		"one adapter is marked": func(w *world) { w.pod("set-1").Annotations = marked; w.cordon("p-1", v1alpha1.CordonMarked) },
		"its host is cordoned":  func(w *world) { w.nodes["h-1"].Spec.Unschedulable = true; w.cordon("p-1", v1alpha1.CordonHostCordoned) },
		"an adapter restarts":   func(w *world) { w.restarts("set-1", time.Second) },
		"no adapter is ready":   func(w *world) { w.restarts("set-0", time.Minute); w.restarts("set-1", time.Minute) },
		"the other is cordoned": func(w *world) { w.cordon("p-0", ""); w.restarts("set-1", time.Minute) },
		"a guest without room": func(w *world) {
			w.waits(5)
			w.pod("guest-4").Status.Phase = corev1.PodFailed
			w.pools["p"].Status.Used--
		},
		"a new class, and one waits": func(w *world) {
			w.waits(4)
			w.vpods["x"].Spec.PriorityClassName = "high"
			w.pod("x-vreplica-2").Spec.PriorityClassName = "high"
		},
		"a limit, and one waits":  func(w *world) { w.waits(0); w.limit(1); w.crowd1() },
		"another scheduler's pod": func(w *world) { w.pods = append(w.pods, plainPod("h-0")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := testWorld()
			edit(w)
			if f := check(w); len(f) > 0 {
				t.Errorf("found:\n%s", strings.Join(f, "\n"))
			}
		})
	}
}

// Each breach is found, and by the promise that it breaks.
func TestCheckFindsEachBreach(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*world)
		want string
	}{
		"overloaded":                   {func(w *world) { w.setCapacity(1) }, "G1: p-0 has 2 vreplicas and room for 1"},
		"waits beside room":            {func(w *world) { w.waits(3) }, "G2: ns/x-vreplica-2 waits although p-1 has room for 1"},
		"waits beside room on its own": {func(w *world) { w.waits(0); w.limit(2) }, "G2: ns/x-vreplica-2 waits although p-0 has room for 2"},
		"waits beside lower priority":  {func(w *world) { w.waits(4); w.pod("guest-0").Spec.Priority = new(int32(-1)) }, "G2: ns/x-vreplica-2 waits although p-0 serves ns/guest-0 of lower priority"},
		"is not told why":              {func(w *world) { w.waits(4); w.pod("x-vreplica-2").Status.Conditions = nil }, "G9: ns/x-vreplica-2 waits and is not told why"},
		"one too few":                  {func(w *world) { w.vpods["x"].Spec.Replicas = new(int32(4)) }, "VPods: ns/x has 3 placeholders, wants 4"},
		"one too many":                 {func(w *world) { w.vpods["x"].Spec.Replicas = new(int32(2)) }, "VPods: ns/x has 3 placeholders, wants 2"},
		"VPod not gone":                {func(w *world) { w.vpods["x"].DeletionTimestamp = &metav1.Time{Time: noon} }, "VPods: ns/x is deleted and not gone"},
		"orphans":                      {func(w *world) { delete(w.vpods, "x") }, "placeholders: ns/x-vreplica-0 has no VPod any more"},
		"not gone":                     {func(w *world) { w.pod("x-vreplica-0").DeletionTimestamp = &metav1.Time{Time: noon} }, "placeholders: ns/x-vreplica-0 is deleted and not gone"},
		"failed and stays":             {func(w *world) { w.pod("x-vreplica-0").Status.Phase = corev1.PodFailed }, "placeholders: ns/x-vreplica-0 is Failed and was not replaced"},
		"never served":                 {func(w *world) { w.pod("x-vreplica-0").Status.Phase = corev1.PodPending }, "placeholders: ns/x-vreplica-0 is on p-0 and Pending"},
		"not ready":                    {func(w *world) { w.pod("x-vreplica-0").Status = runs(false) }, "placeholders: ns/x-vreplica-0: ready is false, of its adapter p-0 it is true"},
		"other class":                  {func(w *world) { w.vpods["x"].Spec.PriorityClassName = "high" }, `placeholders: ns/x-vreplica-0 has the class "", its VPod "high"`},
		"other class, waiting":         {func(w *world) { w.waits(4); w.vpods["x"].Spec.PriorityClassName = "high" }, `placeholders: ns/x-vreplica-2 has the class "", its VPod "high"`},
		"other limit":                  {func(w *world) { w.vpods["x"].Spec.MaxAdapters = new(int32(2)) }, `placeholders: ns/x-vreplica-0 has the limit "", its VPod "2"`},
		"other profile":                {func(w *world) { w.waits(4); w.vpods["x"].Spec.SchedulerName = v1alpha1.SchedulerNameMaxFillUp }, "placeholders: ns/x-vreplica-2 waits for"},
		"label changed":                {func(w *world) { w.pod("x-vreplica-0").Labels[v1alpha1.LabelVPod] = "y" }, "placeholders: ns/x-vreplica-0 has the labels"},
		"on a node that is gone":       {func(w *world) { delete(w.nodes, "p-1") }, "C48: ns/x-vreplica-1 is on node p-1, which does not exist"},
		"on a real node":               {func(w *world) { w.pod("x-vreplica-1").Spec.NodeName = "h-1" }, "C38: ns/x-vreplica-1 is on the real node h-1"},
		"other pods on adapters":       {func(w *world) { w.pods = append(w.pods, plainPod("p-0")) }, "G8: pod ns/plain, which is no placeholder, is on virtual node p-0"},
		"no virtual node":              {func(w *world) { delete(w.nodes, "p-1") }, "nodes: adapter s/set-1 has a host and no virtual node"},
		"removed and still there":      {func(w *world) { w.sets["s/set"] = testSet(1) }, "G6: p-1 is there though its StatefulSet has no such adapter"},
		"removed and still serves":     {func(w *world) { w.sets["s/set"] = testSet(1) }, "G6: p-1 was removed and has 1 vreplicas"},
		"lost and still serves":        {func(w *world) { w.restarts("set-1", time.Minute) }, "C26: p-1 has been lost for 50s and has 1 vreplicas"},
		"lost and still open":          {func(w *world) { w.restarts("set-1", time.Minute); w.nodes["p-1"].Spec.Unschedulable = false }, "nodes: p-1 is not cordoned"},
		"ready without its adapter":    {func(w *world) { w.restarts("set-1", time.Second); w.nodes["p-1"].Status = testNode(1).Status }, "nodes: p-1: ready is true, of its adapter it is false"},
		"marked and open":              {func(w *world) { w.pod("set-1").Annotations = marked }, "nodes: p-1 is not cordoned"},
		"host cordoned and open":       {func(w *world) { w.nodes["h-1"].Spec.Unschedulable = true }, "nodes: p-1 is not cordoned"},
		"host dead and open":           {func(w *world) { w.nodes["h-1"].Status.Conditions = nil }, "nodes: p-1 is not cordoned"},
		"cordoned for nothing":         {func(w *world) { w.cordon("p-1", v1alpha1.CordonLost) }, `nodes: p-1 is cordoned because of "AdapterNotReady", which is not so`},
		"cordoned for something else":  {func(w *world) { w.pod("set-1").Annotations = marked; w.cordon("p-1", v1alpha1.CordonLost) }, "G9: p-1 is cordoned because of"},
		"host label":                   {func(w *world) { w.pod("set-1").Spec.NodeName = "h-0" }, "nodes: p-1 has the labels"},
		"zone label":                   {func(w *world) { w.nodes["h-1"].Labels[corev1.LabelTopologyZone] = "moon" }, "nodes: p-1 has the labels"},
		"provider ID":                  {func(w *world) { w.nodes["p-1"].Spec.ProviderID = v1alpha1.ProviderID("p", 7) }, "C47: p-1 has provider ID"},
		"no taint":                     {func(w *world) { w.nodes["p-1"].Spec.Taints = nil }, "C38: p-1 has the taints"},
		"capacity":                     {func(w *world) { w.pools["p"].Spec.Capacity = 7 }, "nodes: p-1 offers"},
		"no lease":                     {func(w *world) { delete(w.leases, "p-1") }, "C45: p-1 has no lease"},
		"stale lease":                  {func(w *world) { w.leases["p-1"].Spec.RenewTime.Time = noon.Add(-time.Minute) }, "C45: p-1 was last heard of"},
		"lease of nobody":              {func(w *world) { w.leases["p-7"] = testLease("p-7") }, "nodes: there is a lease of node p-7"},
		"node of nobody":               {func(w *world) { delete(w.pools, "p") }, "nodes: p-1 has no pool"},
		"stale status":                 {func(w *world) { w.vpods["x"].Status.Placements[0].VReplicas = 1 }, "status: ns/x: the status says"},
		"status of the past":           {func(w *world) { w.vpods["x"].Generation = 2 }, "status: ns/x: condition Ready is about generation 1 of 2"},
		"names a removed adapter":      {func(w *world) { w.vpods["x"].Status.Placements[1].PodName = "set-7" }, "status: ns/x: the status says"},
		"says it is placed":            {func(w *world) { w.waits(4); w.vpods["x"].Status.Conditions[0].Status = metav1.ConditionTrue }, `status: ns/x: condition Scheduled is "True", want false`},
		"does not say why":             {func(w *world) { w.waits(4); w.vpods["x"].Status.Conditions[0].Message = "" }, "G9: ns/x: condition Scheduled does not say why"},
		"blames a limit":               {func(w *world) { w.waits(4); w.vpods["x"].Status.Conditions[0].Reason = v1alpha1.ReasonAdapterLimit }, "G9: ns/x waits because of AdapterLimit"},
		"blames the scheduler":         {func(w *world) { w.waits(4); w.vpods["x"].Status.Conditions[0].Reason = v1alpha1.ReasonSchedulerSilent }, "G9: ns/x waits because of SchedulerSilent"},
		"selects nothing":              {func(w *world) { w.vpods["x"].Status.Selector = "" }, "C51: ns/x: selector"},
		"selects others":               {func(w *world) { w.waits(4); w.vpods["x"].Status.Selector = v1alpha1.LabelVPod }, "C51: ns/x: selector"},
		"pool counts":                  {func(w *world) { w.pools["p"].Status.Used = 7 }, "status: pool p: the status says"},
		"pool says it is ready":        {func(w *world) { w.restarts("set-1", time.Second); w.pools["p"].Status.Conditions[0].Status = "True" }, "status: pool p: condition Ready"},
		"pool does not say why":        {func(w *world) { w.pools["p"].Status.Conditions[0].Message = "" }, "G9: pool p does not say why"},
		"StatefulSet not done":         {func(w *world) { w.sets["s/set"].Status.Replicas = 1 }, "lab: StatefulSet s/set has 1 of 2 pods"},
		"StatefulSet in the way":       {func(w *world) { w.sets["s/set"].Status.Replicas = 1; w.sets["s/set"].UID = "new" }, "lab: StatefulSet s/set has 1 of 2 pods; set-0 belongs to ["},
	} {
		t.Run(name, func(t *testing.T) {
			w := testWorld()
			tc.edit(w)
			if f := strings.Join(check(w), "\n"); !strings.Contains(f, tc.want) {
				t.Errorf("found:\n%s\nand not %s", f, tc.want)
			}
		})
	}
}

var marked = map[string]string{v1alpha1.AnnotationUnschedulable: "true"}

// cordon takes an adapter out of use for a reason; without one, a person does it.
func (w *world) cordon(node, reason string) {
	w.nodes[node].Spec.Unschedulable = true
	if reason != "" {
		w.nodes[node].Annotations = map[string]string{v1alpha1.AnnotationCordon: reason}
	}
	w.pools["p"].Status.Capacity -= testCapacity
}

// restarts makes an adapter not ready since so long ago, and has everybody say so.
func (w *world) restarts(pod string, since time.Duration) {
	w.notReady["s/"+pod] = w.now.Add(-since)
	w.pod(pod).Status = runs(false)
	name := strings.Replace(pod, "set", "p", 1)
	w.nodes[name].Status.Conditions = nil
	for _, p := range w.pods {
		if p.Spec.NodeName == name {
			p.Status = runs(false)
			w.vpods["x"].Status.ReadyReplicas--
		}
	}
	w.vpods["x"].Status.Conditions[1].Status = metav1.ConditionFalse
	w.pools["p"].Status.ReadyAdapters--
	w.pools["p"].Status.Conditions[0].Status = metav1.ConditionFalse
	if since > evictionTimeout {
		w.cordon(name, v1alpha1.CordonLost)
	}
}

// limit sets the most adapters of x.
func (w *world) limit(n int32) {
	w.vpods["x"].Spec.MaxAdapters = &n
	w.vpods["x"].Status.Conditions[0].Reason = v1alpha1.ReasonAdapterLimit
	for _, p := range w.pods {
		if owner(p) == "x" {
			p.Annotations = map[string]string{v1alpha1.AnnotationMaxAdapters: string('0' + rune(n))}
		}
	}
}

// crowd1 fills the first adapter and takes x off the second, which it may not use.
func (w *world) crowd1() {
	w.setCapacity(2)
	w.pod("x-vreplica-1").Spec.NodeName = "p-0"
	s := &w.vpods["x"].Status
	s.Placements, s.Adapters = []v1alpha1.Placement{{PodName: "set-0", VReplicas: 2}}, 1
}

func plainPod(node string) *corev1.Pod {
	p := lab.VPod{Namespace: "ns", Name: "plain"}.Pod(0)
	p.Name, p.Labels, p.Spec.NodeName, p.Spec.Containers, p.Status = "plain", nil, node, []corev1.Container{{}}, runs(true)
	return p
}
