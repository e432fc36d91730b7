package controllers

import (
	"context"
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// nodeIs waits until the virtual node of an adapter is as wanted, and returns it.
func (p *pool) nodeIs(ordinal int, what string, holds func(*corev1.Node) error) *corev1.Node {
	p.t.Helper()
	var node *corev1.Node
	p.eventually(fmt.Sprintf("%s is %s", p.node(ordinal), what), func(ctx context.Context) (err error) {
		if node, err = p.Client().CoreV1().Nodes().Get(ctx, p.node(ordinal), metav1.GetOptions{}); err != nil {
			return err
		}
		return holds(node)
	})
	return node
}

// cordoned holds for a node that the controller cordoned for the reason, or that is in use where there is none.
func cordoned(reason string) func(*corev1.Node) error {
	return func(n *corev1.Node) error {
		if is := n.Annotations[v1alpha1.AnnotationCordon]; is != reason || n.Spec.Unschedulable != (reason != "") {
			return fmt.Errorf("cordoned %t because of %q, want %q", n.Spec.Unschedulable, is, reason)
		}
		return nil
	}
}

// patch changes an object by hand.
func (p *pool) patch(resource, name, patch string, more ...string) {
	p.t.Helper()
	args := append([]string{"-n", p.name, "patch", resource, name, "--type=merge", "-p", patch}, more...)
	_, err := p.Kubectl(p.t.Context(), args...)
	p.must(err)
}

// adapterReady has an adapter become ready, or cease to be: kwok leaves a pod alone that runs.
func (p *pool) adapterReady(ordinal int, ready bool) {
	p.t.Helper()
	status := map[bool]string{true: "True", false: "False"}[ready]
	_, err := p.Client().CoreV1().Pods(p.name).Patch(p.t.Context(), p.set.PodName(ordinal), types.StrategicMergePatchType,
		fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}]}}`,
			status, metav1.Now().UTC().Format("2006-01-02T15:04:05Z")), metav1.PatchOptions{}, "status")
	p.must(err)
}

// Every virtual node carries provider ID and labels, and keeps them when it was deleted and came back; its vreplicas do
// not notice.
func TestC47_NodesComeBackWithTheirLabels(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "")
	p.run("x", 4, "2/2")
	before := p.uids("x")
	for ordinal, zone := range []string{"z1", ""} {
		want := map[string]string{
			v1alpha1.LabelPool: p.name, v1alpha1.LabelOrdinal: fmt.Sprint(ordinal), v1alpha1.LabelHost: p.host(ordinal),
			corev1.LabelTopologyRegion: "vpod.dev", v1alpha1.LabelRoleAdapter: "", corev1.LabelNodeExcludeBalancers: "",
		}
		if zone != "" {
			want[corev1.LabelTopologyZone] = zone
		}
		is := func(n *corev1.Node) error {
			if !maps.Equal(n.Labels, want) || n.Spec.ProviderID != v1alpha1.ProviderID(p.name, ordinal) || !nodeReady(n) {
				return fmt.Errorf("labels %v, provider ID %s, ready %t", n.Labels, n.Spec.ProviderID, nodeReady(n))
			}
			return nil
		}
		node := p.nodeIs(ordinal, "labelled", is)
		p.must(p.Client().CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}))
		p.nodeIs(ordinal, "back", func(n *corev1.Node) error {
			if n.UID == node.UID {
				return fmt.Errorf("it is the old one")
			}
			return is(n)
		})
	}
	p.settled("x", "2/2")
	p.stayed("x", before)
}

// The lease of a virtual node goes on after the node was made anew, and says whose it is.
func TestG8_HeartbeatsFollowTheNode(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1")
	beats := func(n *corev1.Node) {
		t.Helper()
		p.eventually("the lease is renewed", func(ctx context.Context) error {
			l, err := p.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, n.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if len(l.OwnerReferences) != 1 || l.OwnerReferences[0].UID != n.UID || l.Labels[v1alpha1.LabelPool] != p.name ||
				*l.Spec.HolderIdentity != n.Name || *l.Spec.LeaseDurationSeconds != 40 || !l.Spec.RenewTime.After(n.CreationTimestamp.Time) {
				return fmt.Errorf("it is %+v", l)
			}
			return nil
		})
	}
	node := p.nodeIs(0, "there", cordoned(""))
	beats(node)
	p.must(p.Client().CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}))
	beats(p.nodeIs(0, "back", func(n *corev1.Node) error {
		if n.UID == node.UID {
			return fmt.Errorf("it is the old one")
		}
		return nil
	}))
}

// Labels, taint, cordon and status of a virtual node that a person changes are put back; what they add stays.
func TestNodeChangedByHandIsPutBack(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	p.patch("node", p.node(0), `{"metadata":{"labels":{"vpod.dev/pool":null,"vpod.dev/ordinal":"7",`+
		`"topology.kubernetes.io/zone":"z9","team":"a"}},"spec":{"taints":null}}`)
	p.patch("node", p.node(0), `{"status":{"allocatable":{"vpod.dev/vreplicas":"99"},"capacity":{"cpu":"64"}}}`, "--subresource=status")
	node := p.nodeIs(0, "as it was", func(n *corev1.Node) error {
		vreplicas, cpu := n.Status.Allocatable[v1alpha1.ResourceVReplicas], n.Status.Capacity[corev1.ResourceCPU]
		if n.Labels[v1alpha1.LabelPool] != p.name || n.Labels[v1alpha1.LabelOrdinal] != "0" ||
			n.Labels[corev1.LabelTopologyZone] != "z1" || vreplicas.Value() != 10 || cpu.MilliValue() != 1 {
			return fmt.Errorf("labels %v, status %+v", n.Labels, n.Status)
		}
		for _, taint := range n.Spec.Taints {
			if taint == (corev1.Taint{Key: v1alpha1.TaintPool, Value: p.name, Effect: corev1.TaintEffectNoSchedule}) {
				return nil
			}
		}
		return fmt.Errorf("taints %v", n.Spec.Taints)
	})
	if node.Labels["team"] != "a" {
		t.Errorf("a label of somebody else is gone: %v", node.Labels)
	}
	p.run("x", 4, "2/2")
}

// Marks, cordons and zones follow the adapter's pod and its host; a person's cordon is not touched.
func TestNodeFollowsPodAndHost(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	p.run("x", 4, "2/2")
	before := p.uids("x")

	p.patch("pod", p.set.PodName(0), `{"metadata":{"annotations":{"vpod.dev/unschedulable":"true"}}}`)
	p.nodeIs(0, "out of use", cordoned(v1alpha1.CordonMarked))
	_, err := p.Kubectl(t.Context(), "uncordon", p.node(0))
	p.must(err)
	p.nodeIs(0, "out of use again", cordoned(v1alpha1.CordonMarked))
	p.patch("pod", p.set.PodName(0), `{"metadata":{"annotations":{"vpod.dev/unschedulable":null}}}`)
	p.nodeIs(0, "in use", cordoned(""))

	p.must(p.Cordon(t.Context(), p.node(1), true))
	p.must(p.Cordon(t.Context(), p.host(0), true))
	p.nodeIs(0, "out of use", cordoned(v1alpha1.CordonHostCordoned))
	p.must(p.Cordon(t.Context(), p.host(0), false))
	p.nodeIs(0, "in use", cordoned(""))

	p.patch("node", p.host(0), `{"metadata":{"labels":{"topology.kubernetes.io/zone":null}}}`)
	p.nodeIs(0, "in no zone", func(n *corev1.Node) error {
		if zone, ok := n.Labels[corev1.LabelTopologyZone]; ok {
			return fmt.Errorf("it is in %q", zone)
		}
		return nil
	})
	p.nodeIs(1, "cordoned by a person", func(n *corev1.Node) error {
		if reason, ours := n.Annotations[v1alpha1.AnnotationCordon]; !n.Spec.Unschedulable || ours {
			return fmt.Errorf("cordoned %t because of %q", n.Spec.Unschedulable, reason)
		}
		return nil
	})
	p.settled("x", "2/2")
	p.stayed("x", before)
}

// An adapter that has started is open, ready or not; its vreplicas are ready once it is.
func TestC53_AnAdapterThatIsNotReadyIsOpen(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1")
	p.adapterReady(0, false)
	p.nodeIs(0, "not ready, and in use", func(n *corev1.Node) error {
		if nodeReady(n) {
			return fmt.Errorf("it is ready")
		}
		return cordoned("")(n)
	})
	p.run("x", 1, "1")
	readyReplicas := func(want int32) {
		t.Helper()
		p.eventually("readiness is told", func(ctx context.Context) error {
			v, err := p.get(ctx, "x")
			if err != nil {
				return err
			}
			pods, err := p.placeholders(ctx, "x")
			if err != nil {
				return err
			}
			if got := v.Status.ReadyReplicas; got != want || podReady(&pods[0]) != (want == 1) || pods[0].Status.Phase != corev1.PodRunning {
				return fmt.Errorf("readyReplicas %d, want %d; placeholder %+v", got, want, pods[0].Status)
			}
			return nil
		})
	}
	readyReplicas(0)
	p.adapterReady(0, true)
	readyReplicas(1)
}
