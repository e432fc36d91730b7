package plugins_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	intree "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/manifests"
	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/plugins"
)

// cluster runs scheduling cycles of one profile through the framework's runtime, on the scheduler's own cache and
// snapshot, without an API server.
type cluster struct {
	t        testing.TB
	ctx      context.Context
	fw       framework.Framework
	cache    internalcache.Cache
	snapshot *internalcache.Snapshot
	nominees nominees
	activate activations
	serial   int
	// cycles counts those with batching.
	cycles int64
}

// activations records whom plugins want tried again.
type activations map[types.UID]bool

func (a activations) Activate(_ klog.Logger, pods map[string]*v1.Pod) {
	for _, pod := range pods {
		a[pod.UID] = true
	}
}

// nominees are the pods that are nominated to nodes.
type nominees map[string][]fwk.PodInfo

func (n nominees) NominatedPodsForNode(node string) []fwk.PodInfo              { return n[node] }
func (nominees) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (nominees) DeleteNominatedPodIfExists(*v1.Pod)                            {}
func (nominees) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo)          {}

// shipped returns a profile of the configuration that ships with the scheduler.
func shipped(t testing.TB, schedulerName string) *config.KubeSchedulerProfile {
	t.Helper()
	return profileOf(t, manifests.SchedulerConfig, schedulerName)
}

// profileOf returns a profile of a configuration.
func profileOf(t testing.TB, data []byte, schedulerName string) *config.KubeSchedulerProfile {
	t.Helper()
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range obj.(*config.KubeSchedulerConfiguration).Profiles {
		if p.SchedulerName == schedulerName {
			return &p
		}
	}
	t.Fatalf("no profile %s", schedulerName)
	return nil
}

// enable makes a profile of the given plugins, as name or name*weight, with arguments by plugin.
func enable(t testing.TB, args map[string]any, names ...string) *config.KubeSchedulerProfile {
	t.Helper()
	var enabled, pluginConfig []any
	for _, name := range append([]string{"PrioritySort"}, append(names, "DefaultBinder")...) {
		entry := map[string]any{"name": name}
		var weight int
		if plain, _, found := strings.Cut(name, "*"); found {
			fmt.Sscanf(name[len(plain)+1:], "%d", &weight)
			entry = map[string]any{"name": plain, "weight": weight}
		}
		enabled = append(enabled, entry)
	}
	for name, a := range args {
		pluginConfig = append(pluginConfig, map[string]any{"name": name, "args": a})
	}
	none := map[string]any{"disabled": []any{map[string]any{"name": "TaintToleration"}, map[string]any{"name": "NodeAffinity"}}}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
		"profiles": []any{map[string]any{
			"schedulerName": "test", "pluginConfig": pluginConfig,
			"plugins": map[string]any{
				"multiPoint": map[string]any{"disabled": []any{map[string]any{"name": "*"}}, "enabled": enabled},
				"preScore":   none, "score": none,
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return profileOf(t, data, "test")
}

func newFramework(ctx context.Context, profile *config.KubeSchedulerProfile, options ...frameworkruntime.Option) (framework.Framework, error) {
	metrics.Register()
	registry := intree.NewInTreeRegistry()
	for name, factory := range plugins.All() {
		if err := registry.Register(name, factory); err != nil {
			return nil, err
		}
	}
	client := fake.NewClientset()
	options = append(options,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(client, 0)),
	)
	return frameworkruntime.NewFramework(ctx, registry, profile, options...)
}

func newCluster(t testing.TB, profile *config.KubeSchedulerProfile) *cluster {
	t.Helper()
	metrics.Register()
	c := &cluster{
		t: t, ctx: t.Context(),
		cache:    internalcache.New(t.Context(), nil, false, false),
		snapshot: internalcache.NewEmptySnapshot(),
		activate: activations{},
		nominees: nominees{},
	}
	var err error
	c.fw, err = newFramework(c.ctx, profile,
		frameworkruntime.WithSnapshotSharedLister(c.snapshot),
		frameworkruntime.WithPodNominator(c.nominees),
		frameworkruntime.WithPodActivator(c.activate),
	)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// adapter describes an adapter's node in pool p.
func adapter(name string, ordinal int, zone, host string, capacity int) *st.NodeWrapper {
	n := st.MakeNode().Name(name).
		Label(v1alpha1.LabelPool, "p").Label(v1alpha1.LabelOrdinal, fmt.Sprint(ordinal)).
		Capacity(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: fmt.Sprint(capacity), v1.ResourcePods: "10000"}).
		Taints([]v1.Taint{{Key: v1alpha1.TaintPool, Value: "p", Effect: v1.TaintEffectNoSchedule}})
	if zone != "" {
		n.Label(v1.LabelTopologyZone, zone)
	}
	if host != "" {
		n.Label(v1alpha1.LabelHost, host)
	}
	return n
}

// vreplica describes a placeholder of a vpod in pool p.
func (c *cluster) vreplica(vpod string) *st.PodWrapper {
	c.serial++
	return st.MakePod().Namespace("ns").Name(fmt.Sprintf("%s-%d", vpod, c.serial)).UID(fmt.Sprintf("uid-%d", c.serial)).
		Label(v1alpha1.LabelPool, "p").Label(v1alpha1.LabelVPod, vpod).
		NodeSelector(map[string]string{v1alpha1.LabelPool: "p"}).
		Tolerations([]v1.Toleration{{Key: v1alpha1.TaintPool, Operator: v1.TolerationOpEqual, Value: "p", Effect: v1.TaintEffectNoSchedule}}).
		Req(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "1"})
}

func (c *cluster) addNode(n *st.NodeWrapper) { c.cache.AddNode(klog.Background(), n.Obj()) }

// put places a pod on a node, as its binding does.
func (c *cluster) put(pod *v1.Pod, node string) {
	c.t.Helper()
	placed := pod.DeepCopy()
	placed.Spec.NodeName = node
	if err := c.cache.AddPod(klog.Background(), placed); err != nil {
		c.t.Fatal(err)
	}
}

// nominate has a pod hold room on a node, as a preemptor does that waits for its victims to leave.
func (c *cluster) nominate(pod *v1.Pod, node string) {
	c.t.Helper()
	c.nominees[node] = append(c.nominees[node], c.podInfo(pod))
}

func (c *cluster) podInfo(pod *v1.Pod) fwk.PodInfo {
	c.t.Helper()
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		c.t.Fatal(err)
	}
	return info
}

// outcome is how a cycle ended.
type outcome struct {
	// best are the nodes with the highest score, in order of names; none if the pod waits.
	best []string
	// judged is the number of nodes that were filtered, and reasons counts why nodes were refused.
	judged  int
	reasons map[string]int
	// refusal is why PreFilter ended the cycle.
	refusal string
	state   fwk.CycleState
	status  map[string]*fwk.Status
}

// cycle runs the part of a scheduling cycle that chooses, as the scheduler's loop does.
func (c *cluster) cycle(pod *v1.Pod) outcome {
	c.t.Helper()
	if err := c.cache.UpdateSnapshot(klog.Background(), c.snapshot); err != nil {
		c.t.Fatal(err)
	}
	nodes, _ := c.snapshot.NodeInfos().List()
	o := outcome{reasons: map[string]int{}, state: framework.NewCycleState(), status: map[string]*fwk.Status{}}
	result, status, _ := c.fw.RunPreFilterPlugins(c.ctx, o.state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			c.t.Fatalf("PreFilter: %v", status)
		}
		o.refusal = status.Message()
		return o
	}
	var passed []fwk.NodeInfo
	for _, info := range nodes {
		if !result.AllNodes() && !result.NodeNames.Has(info.Node().Name) {
			continue
		}
		o.judged++
		switch status := c.fw.RunFilterPluginsWithNominatedPods(c.ctx, o.state, pod, info); {
		case status.IsSuccess():
			passed = append(passed, info)
		case status.IsRejected():
			o.reasons[status.Message()]++
			o.status[info.Node().Name] = status
		default:
			c.t.Fatalf("Filter: %v", status)
		}
	}
	if len(passed) > 0 {
		o.best = c.score(o.state, pod, passed)
	}
	return o
}

// score returns the nodes with the highest total.
func (c *cluster) score(state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) []string {
	c.t.Helper()
	if status := c.fw.RunPreScorePlugins(c.ctx, state, pod, nodes); !status.IsSuccess() {
		c.t.Fatalf("PreScore: %v", status)
	}
	scores, status := c.fw.RunScorePlugins(c.ctx, state, pod, nodes)
	if !status.IsSuccess() {
		c.t.Fatalf("Score: %v", status)
	}
	var best []string
	var most int64
	for _, s := range scores {
		if len(best) == 0 || s.TotalScore > most {
			best, most = nil, s.TotalScore
		}
		if s.TotalScore == most {
			best = append(best, s.Name)
		}
	}
	slices.Sort(best)
	return best
}

// place runs a cycle and puts the pod where it says; it returns the node, or "" if the pod waits.
func (c *cluster) place(pod *v1.Pod) string {
	c.t.Helper()
	o := c.cycle(pod)
	switch len(o.best) {
	case 0:
		return ""
	case 1:
		c.put(pod, o.best[0])
		return o.best[0]
	default:
		c.t.Fatalf("a tie between %v: the scheduler would pick one at random", o.best)
		return ""
	}
}
