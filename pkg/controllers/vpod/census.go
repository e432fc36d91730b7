package vpod

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// censusLife is how long a census is used. To take one reads all placeholders of a pool, and in a pool without room each of
// many VPods wants one at the same time.
const censusLife = time.Second

// census is a pool with all that it serves, counted.
type census struct {
	taken time.Time
	// nodes are the adapters of the pool; their ordinals are well formed.
	nodes []*corev1.Node
	// served is how much room of each adapter, by the name of its node, each VPod takes.
	served map[string]map[types.NamespacedName]int64
	// homeless are the names of adapter pods that have no host, by ordinal.
	homeless []string
}

// others is how much room of an adapter is taken by all but one VPod, of which more recent numbers are known.
func (c *census) others(node string, vpod types.NamespacedName) int64 {
	var sum int64
	for of, n := range c.served[node] {
		if of != vpod {
			sum += n
		}
	}
	return sum
}

// expires is how long a census may still be used; it is 0 for one that was taken just now, or not at all. What is published
// by an older one is looked at again then.
func (c *census) expires(now time.Time) time.Duration {
	if c == nil || !c.taken.Before(now) {
		return 0
	}
	return max(c.taken.Add(censusLife).Sub(now), time.Millisecond)
}

// censuses are the latest of each pool.
type censuses struct {
	cached, adapterPods client.Reader

	mu     sync.Mutex
	byPool map[string]*census
}

// of returns a census that is recent enough.
func (c *censuses) of(ctx context.Context, pool *v1alpha1.AdapterPool, now time.Time) (*census, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if latest := c.byPool[pool.Name]; latest != nil && now.Before(latest.taken.Add(censusLife)) {
		return latest, nil
	}
	latest, err := c.take(ctx, pool, now)
	if err != nil {
		return nil, err
	}
	// Pools that nobody asks for any more are forgotten with the rest.
	fresh := map[string]*census{pool.Name: latest}
	for name, other := range c.byPool {
		if now.Before(other.taken.Add(censusLife)) && name != pool.Name {
			fresh[name] = other
		}
	}
	c.byPool = fresh
	return latest, nil
}

func (c *censuses) take(ctx context.Context, pool *v1alpha1.AdapterPool, now time.Time) (*census, error) {
	latest := &census{taken: now, served: map[string]map[types.NamespacedName]int64{}}
	ofPool := client.MatchingFields{informers.ByPool: pool.Name}
	var nodes corev1.NodeList
	if err := c.cached.List(ctx, &nodes, ofPool, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the adapters of the pool: %w", err)
	}
	latest.nodes = slices.DeleteFunc(pointers(nodes.Items), func(n *corev1.Node) bool { return !isAdapterOf(n, pool.Name) })
	var pods corev1.PodList
	if err := c.cached.List(ctx, &pods, ofPool, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the placeholders of the pool: %w", err)
	}
	for _, pod := range pointers(pods.Items) {
		if !isWaiting(pod) && !adapter.IsFinished(pod) {
			latest.count(pod)
		}
	}
	ref := pool.Spec.StatefulSetRef
	ofSet := client.MatchingFields{informers.ByStatefulSet: informers.StatefulSetKey(ref.Namespace, ref.Name)}
	if err := c.adapterPods.List(ctx, &pods, ofSet, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the adapter pods: %w", err)
	}
	for _, pod := range filter(pointers(pods.Items), isWaiting) {
		latest.homeless = append(latest.homeless, pod.Name)
	}
	slices.SortFunc(latest.homeless, compareOrdinals)
	return latest, nil
}

func (c *census) count(pod *corev1.Pod) {
	served := c.served[pod.Spec.NodeName]
	if served == nil {
		served = map[types.NamespacedName]int64{}
		c.served[pod.Spec.NodeName] = served
	}
	vpod := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[v1alpha1.LabelVPod]}
	served[vpod] += snapshot.Requested(pod, v1alpha1.ResourceVReplicas)
}

// compareOrdinals orders the names of adapters.
func compareOrdinals(a, b string) int {
	_, i, _ := adapter.Parse(a)
	_, j, _ := adapter.Parse(b)
	return cmp.Or(cmp.Compare(i, j), cmp.Compare(a, b))
}
