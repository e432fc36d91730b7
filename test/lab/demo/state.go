package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// state is what the API server says about the pool at one moment.
type state struct {
	adapters []adapter // By ordinal.
	vpods    []vpod    // By name.
}

type adapter struct {
	name, zone, host string
	ordinal          int
	capacity         int
	cordoned         bool
}

type vpod struct {
	name     string
	replicas int
	// limit is the most adapters that it may use; 0: no limit.
	limit int
	pods  []placeholder
}

type placeholder struct {
	uid types.UID
	// adapter is the name of the node; empty while the vreplica waits.
	adapter string
	// reason is why it waits, in the scheduler's words; empty while the scheduler has not tried it.
	reason string
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

// read reads the state of the pool.
func read(ctx context.Context, l *lab.Lab) (state, error) {
	inPool := metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + Pool}
	nodes, err := l.Client().CoreV1().Nodes().List(ctx, inPool)
	if err != nil {
		return state{}, fmt.Errorf("listing adapters: %w", err)
	}
	pods, err := l.Client().CoreV1().Pods(Namespace).List(ctx, inPool)
	if err != nil {
		return state{}, fmt.Errorf("listing placeholders: %w", err)
	}
	sets, err := l.Client().AppsV1().ReplicaSets(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return state{}, fmt.Errorf("listing vpods: %w", err)
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
	slices.SortFunc(sets.Items, func(a, b appsv1.ReplicaSet) int {
		return cmp.Compare(a.Name, b.Name)
	})
	for i := range sets.Items {
		v, err := vpodOf(&sets.Items[i], pods.Items)
		if err != nil {
			return state{}, err
		}
		s.vpods = append(s.vpods, v)
	}
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
	}, nil
}

func vpodOf(set *appsv1.ReplicaSet, pods []corev1.Pod) (vpod, error) {
	v := vpod{name: set.Name, replicas: int(*set.Spec.Replicas)}
	if limit, ok := set.Spec.Template.Annotations[v1alpha1.AnnotationMaxAdapters]; ok {
		var err error
		if v.limit, err = strconv.Atoi(limit); err != nil {
			return vpod{}, fmt.Errorf("reading the limit of %s: %w", set.Name, err)
		}
	}
	for i := range pods {
		pod := &pods[i]
		if pod.Labels[v1alpha1.LabelVPod] == set.Name {
			v.pods = append(v.pods, placeholder{uid: pod.UID, adapter: pod.Spec.NodeName, reason: lab.Reason(pod)})
		}
	}
	return v, nil
}

// settled says what is still to come: all vreplicas exist, and each has an adapter or was told why not.
func (s state) settled() error {
	for _, v := range s.vpods {
		if len(v.pods) != v.replicas {
			return fmt.Errorf("vpod %s has %d of %d placeholders", v.name, len(v.pods), v.replicas)
		}
		for _, p := range v.pods {
			if p.adapter == "" && p.reason == "" {
				return fmt.Errorf("a vreplica of vpod %s was not tried yet", v.name)
			}
		}
	}
	return nil
}
