package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// pool is a pool of adapters, and a namespace for the vpods that use it, both named after the test.
type pool struct {
	*lab.Lab
	t    *testing.T
	name string
	// scheduler is the profile that its vpods use; empty is the one that spreads.
	scheduler string
	// next is the index of the next vreplica by vpod.
	next map[string]int
}

// newPool creates adapters with the ordinals 0, 1, ... in a lab.
func newPool(t *testing.T, l *lab.Lab, adapters ...lab.Adapter) *pool {
	t.Helper()
	name := labtest.Name(t)
	p := &pool{Lab: l, t: t, name: name, next: map[string]int{}}
	if err := l.CreateNamespace(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for i, a := range adapters {
		a.Ordinal = i
		p.adapter(a)
	}
	return p
}

// zones describes one adapter in each zone, each on a host of its own, all of the same capacity.
func zones(capacity int64, names ...string) []lab.Adapter {
	adapters := make([]lab.Adapter, len(names))
	for i, zone := range names {
		adapters[i] = lab.Adapter{Zone: zone, Host: fmt.Sprintf("host-%d", i), Capacity: capacity}
	}
	return adapters
}

// adapter adds an adapter.
func (p *pool) adapter(a lab.Adapter, edits ...func(*corev1.Node)) {
	p.t.Helper()
	a.Pool = p.name
	node := a.Node()
	for _, edit := range edits {
		edit(node)
	}
	if err := p.CreateNode(p.t.Context(), node); err != nil {
		p.t.Fatal(err)
	}
}

// node is the name of the adapter with an ordinal.
func (p *pool) node(ordinal int) string { return lab.Adapter{Pool: p.name, Ordinal: ordinal}.Name() }

// vpod describes a vpod of this pool.
func (p *pool) vpod(name string) lab.VPod {
	return lab.VPod{Namespace: p.name, Name: name, Pool: p.name, SchedulerName: p.scheduler}
}

// grow creates n more vreplicas of a vpod, and does not wait for them.
func (p *pool) grow(v lab.VPod, n int, edits ...func(*corev1.Pod)) []*corev1.Pod {
	p.t.Helper()
	pods := make([]*corev1.Pod, 0, n)
	for range n {
		pod := v.Pod(p.next[v.Name])
		p.next[v.Name]++
		for _, edit := range edits {
			edit(pod)
		}
		created, err := p.Client().CoreV1().Pods(p.name).Create(p.t.Context(), pod, metav1.CreateOptions{})
		if err != nil {
			p.t.Fatal(err)
		}
		pods = append(pods, created)
	}
	return pods
}

// on makes a vreplica start on an adapter, as if it had been placed there.
func (p *pool) on(ordinal int) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = p.node(ordinal) }
}

// settled waits until a vpod has so many vreplicas on each adapter and so many refused, and returns those.
func (p *pool) settled(v lab.VPod, wantSpread string, wantRefused int) []corev1.Pod {
	p.t.Helper()
	return p.settledWithin(labtest.TimeLimit(p.t), v, wantSpread, wantRefused)
}

func (p *pool) settledWithin(ctx context.Context, v lab.VPod, wantSpread string, wantRefused int) []corev1.Pod {
	p.t.Helper()
	var refused []corev1.Pod
	err := lab.Wait(ctx, v.Name+" is placed as wanted", func(ctx context.Context) error {
		pods, err := p.pods(ctx, v)
		if err != nil {
			return err
		}
		refused = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return lab.Reason(&pod) == "" || pod.Spec.NodeName != "" })
		spread, err := p.spread(ctx, v)
		if err == nil && (spread != wantSpread || len(refused) != wantRefused) {
			err = fmt.Errorf("%s: spread %s and %d refused, want %s and %d", v.Name, spread, len(refused), wantSpread, wantRefused)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return refused
}

// pods returns the pods of a vpod.
func (p *pool) pods(ctx context.Context, v lab.VPod) ([]corev1.Pod, error) {
	list, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelVPod + "=" + v.Name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// spread tells how many vreplicas of a vpod are on each adapter by ordinal, as in "2/1/1". Terminating ones do not count.
func (p *pool) spread(ctx context.Context, v lab.VPod) (string, error) {
	nodes, err := p.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + p.name})
	if err != nil {
		return "", err
	}
	slices.SortFunc(nodes.Items, func(a, b corev1.Node) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	pods, err := p.pods(ctx, v)
	if err != nil {
		return "", err
	}
	counts := map[string]int{}
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			counts[pod.Spec.NodeName]++
		}
	}
	texts := make([]string, len(nodes.Items))
	for i, node := range nodes.Items {
		texts[i] = fmt.Sprint(counts[node.Name])
	}
	return strings.Join(texts, "/"), nil
}
