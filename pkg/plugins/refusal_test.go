package plugins_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/plugins/availabilitynodepriority"
	"vpod.dev/vpod-scheduler/pkg/plugins/availabilityzonepriority"
	"vpod.dev/vpod-scheduler/pkg/plugins/evenpodspread"
	"vpod.dev/vpod-scheduler/pkg/plugins/nomaxresourcecount"
	"vpod.dev/vpod-scheduler/pkg/plugins/podfitsresources"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Whichever plugin comes first, a pod that is no vreplica is refused in its words, and never with an error.
func TestWhatIsNoVreplicaIsRefusedByEveryPlugin(t *testing.T) {
	for _, plugin := range []string{
		"Contenders", "PodFitsResources", "NoMaxResourceCount", "EvenPodSpread", "AvailabilityZonePriority",
		"AvailabilityNodePriority", "LowestOrdinalPriority", "MaxFillUp",
	} {
		c := newCluster(t, enable(t, nil, plugin))
		c.addNode(adapter("a-0", 0, "", "", 1))
		for want, pod := range map[string]*st.PodWrapper{
			"the pod has no label vpod.dev/pool, which names the pool of adapters to use; this scheduler places nothing but vreplicas": c.vreplica("x").Label(v1alpha1.LabelPool, ""),
			`pool "q" has no adapters: no node is labelled vpod.dev/pool=q`:                                                            c.vreplica("x").Label(v1alpha1.LabelPool, "q"),
			`the pod's annotation vpod.dev/max-adapters: "0" is not a whole number from 1 to ` +
				`2147483647 in plain decimal digits`: c.vreplica("x").Annotation(v1alpha1.AnnotationMaxAdapters, "0"),
		} {
			if got := c.cycle(pod.Obj()).refusal; got != want {
				t.Errorf("%s first: refused with %q, want %q", plugin, got, want)
			}
		}
	}
}

// One node with broken labels, or none, never keeps a vreplica from the others; and it is told about.
func TestC9_BrokenNodeExcludesItselfAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		node *st.NodeWrapper
		want string
	}{
		"no ordinal":      {node: adapter("b", 1, "", "", 1).Label(v1alpha1.LabelOrdinal, ""), want: snapshot.ReasonBadOrdinal},
		"ordinal -1":      {node: adapter("b", -1, "", "", 1), want: snapshot.ReasonBadOrdinal},
		"ordinal x":       {node: adapter("b", 1, "", "", 1).Label(v1alpha1.LabelOrdinal, "x"), want: snapshot.ReasonBadOrdinal},
		"ordinal 01":      {node: adapter("b", 1, "", "", 1).Label(v1alpha1.LabelOrdinal, "01"), want: snapshot.ReasonBadOrdinal},
		"doubled ordinal": {node: adapter("b", 0, "", "", 1), want: snapshot.ReasonRival},
		"no capacity":     {node: adapter("b", 1, "", "", 1).Capacity(nil), want: podfitsresources.ReasonNoCapacity},
		"capacity 0":      {node: adapter("b", 1, "", "", 0), want: podfitsresources.ReasonNoCapacity},
	} {
		t.Run(name, func(t *testing.T) {
			for _, profile := range []string{v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp} {
				c := newCluster(t, shipped(t, profile))
				c.addNode(adapter("a-0", 0, "", "", 1))
				c.addNode(tc.node)
				if got := c.place(c.vreplica("x").Obj()); got != "a-0" {
					t.Errorf("placed on %q, want a-0", got)
				}
				o := c.cycle(c.vreplica("x").Obj())
				want := map[string]int{podfitsresources.ReasonFull: 1, tc.want: 1}
				if diff := cmp.Diff(want, o.reasons); diff != "" {
					t.Errorf("reasons (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestReasonsAreOfTheRuleThatRefuses(t *testing.T) {
	hard := map[string]any{"whenUnsatisfiable": "DoNotSchedule"}
	for name, tc := range map[string]struct {
		plugin     string
		args       any
		wantReason string
		wantCode   fwk.Code
	}{
		"full":              {plugin: "PodFitsResources", wantReason: podfitsresources.ReasonFull, wantCode: fwk.Unschedulable},
		"beyond the limit":  {plugin: "NoMaxResourceCount", args: map[string]any{"numPartitions": 1}, wantReason: nomaxresourcecount.Reason, wantCode: fwk.UnschedulableAndUnresolvable},
		"adapter ahead":     {plugin: "EvenPodSpread", wantReason: evenpodspread.Reason, wantCode: fwk.Unschedulable},
		"zone ahead":        {plugin: "AvailabilityZonePriority", args: hard, wantReason: availabilityzonepriority.Reason, wantCode: fwk.Unschedulable},
		"host ahead":        {plugin: "AvailabilityNodePriority", args: hard, wantReason: availabilitynodepriority.Reason, wantCode: fwk.Unschedulable},
		"a node of no pool": {plugin: "PodFitsResources", wantReason: snapshot.ReasonOtherPool, wantCode: fwk.UnschedulableAndUnresolvable},
		"a preference":      {plugin: "LowestOrdinalPriority", wantReason: "", wantCode: fwk.Success},
	} {
		t.Run(name, func(t *testing.T) {
			args := map[string]any{}
			if tc.args != nil {
				args[tc.plugin] = tc.args
			}
			c := newCluster(t, enable(t, args, tc.plugin))
			c.addNode(adapter("a-0", 0, "z0", "h0", 2))
			c.addNode(adapter("a-1", 1, "z1", "h1", 2))
			c.addNode(st.MakeNode().Name("real"))
			node := map[string]string{snapshot.ReasonOtherPool: "real", nomaxresourcecount.Reason: "a-1"}[tc.wantReason]
			if node == "" {
				node = "a-0"
			}
			c.put(c.vreplica("x").Obj(), "a-0")
			if tc.plugin == "PodFitsResources" {
				c.put(c.vreplica("x").Obj(), "a-0")
			}
			pod := c.vreplica("x").Obj()
			o := c.cycle(pod)
			info, err := c.snapshot.Get(node)
			if err != nil {
				t.Fatal(err)
			}
			status := c.fw.RunFilterPlugins(c.ctx, o.state, pod, info)
			if status.Code() != tc.wantCode || status.Message() != tc.wantReason {
				t.Errorf("%s is refused with %v %q, want %v %q", node, status.Code(), status.Message(), tc.wantCode, tc.wantReason)
			}
		})
	}
}

func TestMinDomainsCountsZonesWithAnOpenAdapter(t *testing.T) {
	profile := func() *cluster {
		return newCluster(t, enable(t, map[string]any{"AvailabilityZonePriority": map[string]any{"minDomains": 2}}, append(inTree, "PodFitsResources", "AvailabilityZonePriority*1")...))
	}
	for name, tc := range map[string]struct {
		second      *st.NodeWrapper
		wantRefusal string
	}{
		"two zones":              {second: adapter("a-1", 1, "z1", "", 1)},
		"one zone":               {second: adapter("a-1", 1, "z0", "", 1), wantRefusal: "1 zone(s) of the pool hold an open adapter, fewer than minDomains 2"},
		"the second is cordoned": {second: adapter("a-1", 1, "z1", "", 1).Unschedulable(true), wantRefusal: "1 zone(s) of the pool hold an open adapter, fewer than minDomains 2"},
		"the second is full":     {second: adapter("a-1", 1, "z1", "", 0)},
		"no label is a zone too": {second: adapter("a-1", 1, "", "", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			c := profile()
			c.addNode(adapter("a-0", 0, "z0", "", 1))
			c.addNode(tc.second)
			o := c.cycle(c.vreplica("x").Obj())
			if o.refusal != tc.wantRefusal || tc.wantRefusal == "" && len(o.best) == 0 {
				t.Errorf("refused with %q, placed on %v; want %q", o.refusal, o.best, tc.wantRefusal)
			}
		})
	}
}

// In a cluster of thousands of real nodes only the pool's are judged, whichever plugin comes first.
func TestOnlyThePoolIsJudged(t *testing.T) {
	for _, plugin := range []string{"PodFitsResources", "EvenPodSpread", "AvailabilityZonePriority*1", "LowestOrdinalPriority*1"} {
		c := newCluster(t, enable(t, nil, plugin))
		for i := range 100 {
			c.addNode(st.MakeNode().Name(fmt.Sprint("real-", i)).Capacity(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "1"}))
		}
		c.addNode(adapter("a-0", 0, "", "", 1))
		c.addNode(adapter("a-1", 1, "", "", 1))
		if o := c.cycle(c.vreplica("x").Obj()); o.judged != 2 {
			t.Errorf("%s first: judged %d nodes, want the pool's 2", plugin, o.judged)
		}
	}
}
