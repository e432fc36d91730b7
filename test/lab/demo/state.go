package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// state is what the API server says about the pool at one moment.
type state struct {
	adapters []adapter // By ordinal.
	vpods    []vpod    // By name.
	// scaled is the condition of an autoscaled pool that says how many adapters are wanted; nil where the pool is not.
	scaled *metav1.Condition
}

type adapter struct {
	name, zone, host string
	ordinal          int
	capacity         int
	cordoned, ready  bool
}

type vpod struct {
	name     string
	replicas int
	// limit is the most adapters that it may use; 0: no limit.
	limit int
	pods  []placeholder
	// current: the status is about the spec as it is. published are its placements by adapter.
	current   bool
	published map[string]int
	// scheduled is the condition that says whether all are placed, and why not.
	scheduled metav1.Condition
}

type placeholder struct {
	uid types.UID
	// adapter is the name of the node; empty while the vreplica waits.
	adapter string
	// tried: the scheduler has said something about it.
	tried bool
}

// count is the number of the vpod's vreplicas on an adapter.
func (v vpod) count(adapter string) int {
	count := 0
	for _, p := range v.pods {
		if p.adapter == adapter {
			count++
		}
	}
	return count
}

// waiting is the number of the vpod's vreplicas that have no adapter.
func (v vpod) waiting() int { return v.count("") }

// refused is the number of the vpod's vreplicas that the API server does not let exist.
func (v vpod) refused() int { return v.replicas - len(v.pods) }

// adaptersUsed is the number of adapters that serve the vpod.
func (v vpod) adaptersUsed() int {
	used := map[string]bool{}
	for _, p := range v.pods {
		if p.adapter != "" {
			used[p.adapter] = true
		}
	}
	return len(used)
}

// used is the number of vreplicas on an adapter. Each takes up one unit of its capacity.
func (s state) used(a adapter) int {
	used := 0
	for _, v := range s.vpods {
		used += v.count(a.name)
	}
	return used
}

func (s state) free(a adapter) int { return a.capacity - s.used(a) }

// read reads the state of a pool.
func read(ctx context.Context, l *lab.Lab, pool string) (state, error) {
	inPool := metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + pool}
	nodes, err := l.Client().CoreV1().Nodes().List(ctx, inPool)
	if err != nil {
		return state{}, fmt.Errorf("listing adapters: %w", err)
	}
	pods, err := l.Client().CoreV1().Pods("").List(ctx, inPool)
	if err != nil {
		return state{}, fmt.Errorf("listing placeholders: %w", err)
	}
	var vpods v1alpha1.VPodList
	if err := l.Objects().List(ctx, &vpods); err != nil {
		return state{}, fmt.Errorf("listing VPods: %w", err)
	}

	var s state
	for i := range nodes.Items {
		a, err := adapterOf(&nodes.Items[i])
		if err != nil {
			return state{}, err
		}
		s.adapters = append(s.adapters, a)
	}
	slices.SortFunc(s.adapters, func(a, b adapter) int { return cmp.Compare(a.ordinal, b.ordinal) })
	slices.SortFunc(vpods.Items, func(a, b v1alpha1.VPod) int { return cmp.Compare(a.Name, b.Name) })
	for i := range vpods.Items {
		if vpods.Items[i].Spec.PoolName == pool {
			s.vpods = append(s.vpods, vpodOf(&vpods.Items[i], pods.Items))
		}
	}
	var of v1alpha1.AdapterPool
	if err := l.Objects().Get(ctx, client.ObjectKey{Name: pool}, &of); err != nil {
		return state{}, fmt.Errorf("reading the pool: %w", err)
	}
	s.scaled = meta.FindStatusCondition(of.Status.Conditions, v1alpha1.ConditionScaled)
	return s, nil
}

func adapterOf(node *corev1.Node) (adapter, error) {
	ordinal, err := strconv.Atoi(node.Labels[v1alpha1.LabelOrdinal])
	if err != nil {
		return adapter{}, fmt.Errorf("reading the ordinal of %s: %w", node.Name, err)
	}
	capacity := node.Status.Allocatable[v1alpha1.ResourceVReplicas]
	return adapter{
		name:     node.Name,
		zone:     node.Labels[corev1.LabelTopologyZone],
		host:     node.Labels[v1alpha1.LabelHost],
		ordinal:  ordinal,
		capacity: int(capacity.Value()),
		cordoned: node.Spec.Unschedulable,
		ready:    isReady(node),
	}, nil
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func vpodOf(o *v1alpha1.VPod, pods []corev1.Pod) vpod {
	v := vpod{name: o.Name, current: o.Status.ObservedGeneration == o.Generation, published: map[string]int{}}
	if o.Spec.Replicas != nil {
		v.replicas = int(*o.Spec.Replicas)
	}
	if o.Spec.MaxAdapters != nil {
		v.limit = int(*o.Spec.MaxAdapters)
	}
	for _, p := range o.Status.Placements {
		v.published[p.PodName] = int(p.VReplicas)
	}
	if c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionScheduled); c != nil {
		v.scheduled = *c
	}
	for i := range pods {
		pod := &pods[i]
		if pod.Namespace == o.Namespace && metav1.IsControlledBy(pod, o) && pod.DeletionTimestamp == nil {
			v.pods = append(v.pods, placeholder{uid: pod.UID, adapter: pod.Spec.NodeName, tried: lab.Reason(pod) != ""})
		}
	}
	return v
}

// settled says what is still to come: every adapter that serves is ready, all vreplicas exist or were refused, each has an adapter or
// was told why not, and all of that is published.
func (s state) settled() error {
	for _, a := range s.adapters {
		if !a.ready && s.used(a) > 0 {
			return fmt.Errorf("adapter %s is not ready", a.name)
		}
	}
	for _, v := range s.vpods {
		if err := v.settled(); err != nil {
			return fmt.Errorf("vpod %s: %w", v.name, err)
		}
	}
	return nil
}

func (v vpod) settled() error {
	if v.refused() != 0 && v.scheduled.Reason != v1alpha1.ReasonCreationRefused {
		return fmt.Errorf("it has %d of %d placeholders", len(v.pods), v.replicas)
	}
	for _, p := range v.pods {
		if p.adapter == "" && !p.tried {
			return fmt.Errorf("a vreplica was not tried yet")
		}
	}
	if err := checkPublished(v); err != nil {
		return err
	}
	if waits := v.waiting()+v.refused() > 0; waits == (v.scheduled.Status == metav1.ConditionTrue) ||
		v.scheduled.Reason == v1alpha1.ReasonScheduling {
		return fmt.Errorf("the condition says %s, and %d wait", v.scheduled.Reason, v.waiting())
	}
	return nil
}
