package node

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Kubelets write their nodes every few minutes, and there may be thousands: only what an adapter has of its host matters.
func TestWhichChangesOfANodeMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*corev1.Node)
		want bool
	}{
		"heartbeat": {edit: func(n *corev1.Node) {
			n.ResourceVersion = "2"
			n.Status.Conditions[0].LastHeartbeatTime = ago(0)
			n.Status.Allocatable = corev1.ResourceList{}
		}},
		"a label of others": {edit: func(n *corev1.Node) { n.Labels["team"] = "a" }},
		"zone":              {edit: func(n *corev1.Node) { delete(n.Labels, corev1.LabelTopologyZone) }, want: true},
		"cordon":            {edit: func(n *corev1.Node) { n.Spec.Unschedulable = true }, want: true},
		"readiness":         {edit: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, want: true},
		"unreachable":       {edit: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable}} }, want: true},
		"virtual": {edit: func(n *corev1.Node) {
			n.Spec.ProviderID = v1alpha1.ProviderID("kafka", 1)
			n.Labels["team"] = "a"
		}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was := settled().host
			is := was.DeepCopy()
			tc.edit(is)
			if got := nodeMatters(was, is); got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
}

// Each change of the target has the adapters looked at that it takes out of use, or puts back into it.
func TestWhichChangesOfAPoolMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.AdapterPool)
		want bool
	}{
		"counts":             {edit: func(p *v1alpha1.AdapterPool) { p.Status.Used, p.Status.WantedAdapters = 7, new(int32(7)) }},
		"the spec":           {edit: func(p *v1alpha1.AdapterPool) { p.Generation++ }, want: true},
		"a lower target":     {edit: func(p *v1alpha1.AdapterPool) { p.Status.TargetAdapters = new(int32(0)) }, want: true},
		"none any more":      {edit: func(p *v1alpha1.AdapterPool) { p.Status.TargetAdapters = nil }, want: true},
		"the same, anew set": {edit: func(p *v1alpha1.AdapterPool) { p.Status.TargetAdapters = new(int32(1)) }},
	} {
		t.Run(name, func(t *testing.T) {
			was := settled(draining).pool
			is := was.DeepCopy()
			tc.edit(is)
			if got := poolMatters(was, is); got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhichChangesOfAnAdapterPodMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*state)
		want bool
	}{
		"a container restarts": {edit: func(s *state) {
			s.pod.ResourceVersion = "2"
			s.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
		}},
		"a label":        {edit: func(s *state) { s.pod.Labels = map[string]string{"team": "a"} }},
		"readiness":      {edit: podNotReady(0), want: true},
		"since when":     {edit: func(s *state) { s.pod.Status.Conditions[0].LastTransitionTime = ago(time.Minute) }, want: true},
		"host":           {edit: podWaits, want: true},
		"deletion":       {edit: podLeaving, want: true},
		"mark":           {edit: podMarked, want: true},
		"owner":          {edit: podOrphaned, want: true},
		"phase":          {edit: func(s *state) { s.pod.Status.Phase = corev1.PodFailed }, want: true},
		"another's name": {edit: func(s *state) { s.pod.UID = "other" }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was := settled().pod
			got := adapterPodMatters(was, settled(tc.edit).pod)
			if got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhichChangesOfAPlaceholderMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*corev1.Pod)
		want bool
	}{
		"status":   {edit: func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }},
		"deletion": {edit: func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }},
		"bound":    {edit: func(p *corev1.Pod) { p.Spec.NodeName = "kafka-1" }, want: true},
		"finished": {edit: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, want: true},
		"pool":     {edit: func(p *corev1.Pod) { p.Labels[v1alpha1.LabelPool] = "other" }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was := settled().bound[0]
			is := was.DeepCopy()
			tc.edit(is)
			if got := placeholderMatters(was, is); got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
}

// nodeCache is a cache that holds the virtual nodes of one pool.
type nodeCache struct {
	client.Reader
	nodes []corev1.Node
}

func (c nodeCache) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	into.(*corev1.NodeList).Items = c.nodes
	return nil
}

// What is lost moves only where another adapter is ready and open: whatever makes one so has to have the lost ones looked at
// again, and that is two steps, of which the pod's readiness is only the first.
func TestAnAdapterThatIsOpenAgainConcernsThoseThatAreNotReady(t *testing.T) {
	lost := *settled(nodeNotReady(time.Hour)).node
	lost.Name = "kafka-0"
	ready := *settled().node
	ready.Name = "kafka-2"
	for name, tc := range map[string]struct {
		edit func(*corev1.Node)
		want []string
	}{
		"ready and open": {edit: func(*corev1.Node) {}, want: []string{"kafka-1", "kafka-0"}},
		"still cordoned": {edit: func(n *corev1.Node) { n.Spec.Unschedulable = true }, want: []string{"kafka-1"}},
		"not ready":      {edit: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, want: []string{"kafka-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			node := settled().node
			tc.edit(node)
			m := mapper{objects: nodeCache{nodes: []corev1.Node{lost, *node, ready}}}
			if diff := cmp.Diff(tc.want, m.ofNode(t.Context(), node)); diff != "" {
				t.Errorf("concerns (-want +got):\n%s", diff)
			}
		})
	}
}
