package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// pool is an AdapterPool with a real StatefulSet on hosts of its own, and a namespace for adapters and VPods; all are named
// after the test.
type pool struct {
	*stage
	t    testing.TB
	name string
	set  lab.AdapterSet
	// hosts is how many hosts were made so far.
	hosts int
	// scheduler is the profile of new VPods; empty is the one that spreads.
	scheduler string
}

// newPool makes an adapter with the given room on a host in each zone, in that order, and returns when they are ready.
// "" is no zone.
func (s *stage) newPool(t testing.TB, capacity int32, zones ...string) *pool {
	t.Helper()
	p := s.newSet(t, zones...)
	p.create(p.set.Pool(capacity))
	p.adaptersReady(len(zones))
	return p
}

// newSet makes the StatefulSet and its hosts without a pool.
func (s *stage) newSet(t testing.TB, zones ...string) *pool {
	t.Helper()
	name := labtest.Name(t)
	p := &pool{stage: s, t: t, name: name, set: lab.AdapterSet{Namespace: name, Name: name}}
	p.must(s.CreateNamespace(t.Context(), name))
	var hosts []*corev1.Node
	for _, zone := range zones {
		hosts = append(hosts, p.nextHost(zone))
	}
	p.must(s.CreateAdapters(labtest.TimeLimit(t), p.set, hosts...))
	return p
}

// host is the name of a host, counted from 0.
func (p *pool) host(i int) string { return fmt.Sprintf("%s-host-%d", p.name, i) }

// node is the name of the virtual node of an adapter.
func (p *pool) node(ordinal int) string { return v1alpha1.NodeName(p.name, ordinal) }

func (p *pool) nextHost(zone string) *corev1.Node {
	p.hosts++
	return p.set.Host(p.host(p.hosts-1), zone)
}

// addHost makes one more host.
func (p *pool) addHost(zone string) {
	p.t.Helper()
	p.must(p.CreateNode(p.t.Context(), p.nextHost(zone)))
}

func (p *pool) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pool) create(o client.Object) {
	p.t.Helper()
	p.must(p.Objects().Create(p.t.Context(), o))
}

// virtualNodes are those of the pool, by ordinal.
func (p *pool) virtualNodes(ctx context.Context) ([]corev1.Node, error) {
	list, err := p.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + p.name})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Node) int {
		return strings.Compare(fmt.Sprintf("%64s", a.Name), fmt.Sprintf("%64s", b.Name))
	})
	return list.Items, nil
}

// adaptersReady waits until the pool has exactly so many virtual nodes, all ready and open.
func (p *pool) adaptersReady(want int) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%d adapters are ready", want), func(ctx context.Context) error {
		nodes, err := p.virtualNodes(ctx)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if !nodeReady(&n) || n.Spec.Unschedulable {
				return fmt.Errorf("%s: ready %t, cordoned %t", n.Name, nodeReady(&n), n.Spec.Unschedulable)
			}
		}
		if len(nodes) != want {
			return fmt.Errorf("there are %d virtual nodes", len(nodes))
		}
		return nil
	})
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// eventually fails the test if a condition does not come true in time.
func (p *pool) eventually(what string, holds func(context.Context) error) {
	p.t.Helper()
	p.must(lab.Wait(labtest.TimeLimit(p.t), what, holds))
}

// vpod describes a VPod of this pool.
func (p *pool) vpod(name string, replicas int32, edits ...func(*v1alpha1.VPod)) *v1alpha1.VPod {
	v := &v1alpha1.VPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: name},
		Spec:       v1alpha1.VPodSpec{Replicas: &replicas, PoolName: p.name, SchedulerName: p.scheduler},
	}
	for _, edit := range edits {
		edit(v)
	}
	return v
}

// run creates a VPod and waits until it is placed as wanted: see settled.
func (p *pool) run(name string, replicas int32, wantSpread string, edits ...func(*v1alpha1.VPod)) {
	p.t.Helper()
	p.create(p.vpod(name, replicas, edits...))
	p.settled(name, wantSpread)
}

// scale sets the number of vreplicas through /scale, as kubectl does.
func (p *pool) scale(name string, replicas int32) {
	p.t.Helper()
	_, err := p.Kubectl(p.t.Context(), "-n", p.name, "scale", "vpod", name, fmt.Sprintf("--replicas=%d", replicas))
	p.must(err)
}

// get reads a VPod.
func (p *pool) get(ctx context.Context, name string) (*v1alpha1.VPod, error) {
	v := &v1alpha1.VPod{}
	return v, p.Objects().Get(ctx, client.ObjectKey{Namespace: p.name, Name: name}, v)
}

// placeholders are the pods of a VPod, by name.
func (p *pool) placeholders(ctx context.Context, name string) ([]corev1.Pod, error) {
	list, err := p.Client().CoreV1().Pods(p.name).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelVPod + "=" + name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// settled waits until the status of a VPod tells of the spec as it is now, and of so many vreplicas on each adapter by
// ordinal and so many that wait, as in "2/1/1+3", and until the placeholders are where the status says.
func (p *pool) settled(name, want string) *v1alpha1.VPod {
	p.t.Helper()
	var v *v1alpha1.VPod
	p.eventually(name+" is placed as wanted", func(ctx context.Context) (err error) {
		if v, err = p.get(ctx, name); err != nil {
			return err
		}
		pods, err := p.placeholders(ctx, name)
		if err != nil {
			return err
		}
		nodes, err := p.virtualNodes(ctx)
		if err != nil {
			return err
		}
		published, real := p.published(v, nodes), spread(pods, nodes)
		if published != want || real != want || v.Status.ObservedGeneration != v.Generation {
			c := meta.FindStatusCondition(v.Status.Conditions, v1alpha1.ConditionScheduled)
			err = fmt.Errorf("placeholders are %s, the status says %s, want %s; condition %+v", real, published, want, c)
		}
		return err
	})
	return v
}

// spread tells where placeholders are.
func spread(pods []corev1.Pod, nodes []corev1.Node) string {
	counts, waiting := map[string]int{}, 0
	for _, pod := range pods {
		switch {
		case pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed:
		case pod.Spec.NodeName == "":
			waiting++
		default:
			counts[pod.Spec.NodeName]++
		}
	}
	return tell(counts, nodes, waiting)
}

// published tells the same from a status.
func (p *pool) published(v *v1alpha1.VPod, nodes []corev1.Node) string {
	counts := map[string]int{}
	for _, placement := range v.Status.Placements {
		counts[placement.PodName] += int(placement.VReplicas) // the pool and the StatefulSet have the same name
	}
	return tell(counts, nodes, int(v.Status.Replicas-v.Status.ScheduledReplicas))
}

func tell(counts map[string]int, nodes []corev1.Node, waiting int) string {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = fmt.Sprint(counts[n.Name])
		delete(counts, n.Name)
	}
	text := strings.Join(texts, "/")
	if waiting > 0 {
		text += fmt.Sprintf("+%d", waiting)
	}
	for elsewhere, n := range counts {
		text += fmt.Sprintf(" and %d on %s", n, elsewhere)
	}
	return text
}

// condition waits until a condition of a VPod has the reason, and returns its message.
func (p *pool) condition(name, conditionType, reason string) string {
	p.t.Helper()
	var message string
	p.eventually(fmt.Sprintf("%s says %s", name, reason), func(ctx context.Context) error {
		v, err := p.get(ctx, name)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(v.Status.Conditions, conditionType)
		if c == nil || c.Reason != reason || c.ObservedGeneration != v.Generation {
			return fmt.Errorf("its condition is %+v", c)
		}
		message = c.Message
		return nil
	})
	return message
}
