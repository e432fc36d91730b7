package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// world is what the API server has, at one moment, of all that the promises are about.
type world struct {
	pods  []*corev1.Pod
	nodes map[string]*corev1.Node
	vpods map[types.UID]*v1alpha1.VPod
	pools map[string]*v1alpha1.AdapterPool
	// budgets are those of placeholders and of anybody else.
	budgets []*policyv1.PodDisruptionBudget
	// sets are by namespace and name, and leases, of nodes, by the name of the node; nil: unknown.
	sets   map[string]*appsv1.StatefulSet
	leases map[string]*coordinationv1.Lease

	now time.Time
	// notReady is since when an adapter pod, by namespace and name, is missing or not ready: no single look tells.
	notReady map[string]time.Time
}

// list reads all objects of a kind, and the revision that they are of.
func list[T any, P interface {
	*T
	client.Object
}](ctx context.Context, c client.Reader, of client.ObjectList, items *[]T, options ...client.ListOption) ([]P, uint64, error) {
	if err := c.List(ctx, of, options...); err != nil {
		return nil, 0, fmt.Errorf("listing %T: %w", of, err)
	}
	all := make([]P, len(*items))
	for i := range *items {
		all[i] = &(*items)[i]
	}
	return all, version(of.GetResourceVersion()), nil
}

// version is the revision of the store at which something was written. All kinds share one count, so it says what was
// first.
func version(resourceVersion string) uint64 {
	v, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resource version %q: %v", resourceVersion, err)) // They are numbers by definition since 1.35.
	}
	return v
}

// readWorld reads everything, and up to which revision everything is known.
func readWorld(ctx context.Context, c client.Reader) (*world, uint64, error) {
	var (
		pods   corev1.PodList
		nodes  corev1.NodeList
		vpods  v1alpha1.VPodList
		pools  v1alpha1.AdapterPoolList
		sets   appsv1.StatefulSetList
		leases coordinationv1.LeaseList
		// budgets are PodDisruptionBudgets.
		budgets policyv1.PodDisruptionBudgetList
		known   [7]uint64
		all     objects
		errs    [7]error
	)
	all.pods, known[0], errs[0] = list(ctx, c, &pods, &pods.Items)
	all.nodes, known[1], errs[1] = list(ctx, c, &nodes, &nodes.Items)
	all.vpods, known[2], errs[2] = list(ctx, c, &vpods, &vpods.Items)
	all.pools, known[3], errs[3] = list(ctx, c, &pools, &pools.Items)
	all.sets, known[4], errs[4] = list(ctx, c, &sets, &sets.Items)
	all.leases, known[5], errs[5] = list(ctx, c, &leases, &leases.Items, client.InNamespace(corev1.NamespaceNodeLease))
	all.budgets, known[6], errs[6] = list(ctx, c, &budgets, &budgets.Items)
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	return newWorld(all, time.Now()), slices.Min(known[:]), nil
}

// objects are the parts of a world.
type objects struct {
	pods   []*corev1.Pod
	nodes  []*corev1.Node
	vpods  []*v1alpha1.VPod
	pools  []*v1alpha1.AdapterPool
	sets   []*appsv1.StatefulSet
	leases []*coordinationv1.Lease

	budgets []*policyv1.PodDisruptionBudget
}

func newWorld(all objects, now time.Time) *world {
	w := &world{
		pods: all.pods, budgets: all.budgets, now: now, notReady: map[string]time.Time{},
		nodes: map[string]*corev1.Node{}, vpods: map[types.UID]*v1alpha1.VPod{}, pools: map[string]*v1alpha1.AdapterPool{},
		sets: map[string]*appsv1.StatefulSet{}, leases: map[string]*coordinationv1.Lease{},
	}
	for _, n := range all.nodes {
		w.nodes[n.Name] = n
	}
	for _, v := range all.vpods {
		w.vpods[v.UID] = v
	}
	for _, p := range all.pools {
		w.pools[p.Name] = p
	}
	for _, s := range all.sets {
		w.sets[key(s)] = s
	}
	for _, l := range all.leases {
		w.leases[l.Name] = l
	}
	return w
}

// seen are all objects that the witness watches as well.
func (w *world) seen() []client.Object {
	var all []client.Object
	for _, p := range w.pods {
		all = append(all, p)
	}
	for _, n := range w.nodes {
		all = append(all, n)
	}
	for _, v := range w.vpods {
		all = append(all, v)
	}
	for _, p := range w.pools {
		all = append(all, p)
	}
	for _, s := range w.sets {
		all = append(all, s)
	}
	for _, b := range w.budgets {
		all = append(all, b)
	}
	return all
}

// adapter is a pod of a pool's StatefulSet together with its virtual node. Either may be missing.
type adapter struct {
	pool    *v1alpha1.AdapterPool
	ordinal int
	// wanted: the StatefulSet has, or is about to have, this pod.
	wanted bool
	pod    *corev1.Pod
	node   *corev1.Node
	host   *corev1.Node
	// bound are the placeholders on it that are not finished.
	bound []*corev1.Pod
}

func (a *adapter) podName() string {
	return v1alpha1.NodeName(a.pool.Spec.StatefulSetRef.Name, a.ordinal)
}

func (a *adapter) podKey() string { return a.pool.Spec.StatefulSetRef.Namespace + "/" + a.podName() }

func (a *adapter) hasHost() bool { return a.pod != nil && a.pod.Spec.NodeName != "" }

func (a *adapter) isReady() bool { return a.pod != nil && isPodReady(a.pod) }

// adapters of a pool are those that its StatefulSet has, and those that there are virtual nodes of; by ordinal.
func (w *world) adapters(pool *v1alpha1.AdapterPool) []*adapter {
	set := w.set(pool)
	all := map[int]*adapter{}
	of := func(ordinal int) *adapter {
		if all[ordinal] == nil {
			all[ordinal] = &adapter{pool: pool, ordinal: ordinal}
		}
		return all[ordinal]
	}
	if set != nil {
		for i := range int(*set.Spec.Replicas) {
			of(i).wanted = true
		}
	}
	for _, n := range w.nodes {
		if name, ordinal, ok := split(n.Name); ok && name == pool.Name && isVirtual(n) {
			of(ordinal).node = n
		}
	}
	for _, p := range w.pods {
		switch name, ordinal, ok := split(p.Name); {
		case isPlaceholder(p):
			if name, ordinal, ok := split(p.Spec.NodeName); ok && name == pool.Name && all[ordinal] != nil && !isFinished(p) {
				all[ordinal].bound = append(all[ordinal].bound, p)
			}
		case ok && set != nil && all[ordinal] != nil && p.Namespace == set.Namespace && name == set.Name:
			all[ordinal].pod, all[ordinal].host = p, w.nodes[p.Spec.NodeName]
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *adapter) int { return a.ordinal - b.ordinal })
}

// lostFor is for how much longer than its pool allows an adapter has not been ready. Below 0 it is not lost.
func (w *world) lostFor(a *adapter) time.Duration {
	since, ok := w.notReady[a.podKey()]
	if !ok {
		return -time.Hour
	}
	return w.now.Sub(since.Add(a.pool.Spec.EvictionTimeout.Duration))
}

// split takes the ordinal off the name of an adapter pod or a virtual node.
func split(name string) (prefix string, ordinal int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return "", 0, false
	}
	ordinal, err := strconv.Atoi(name[i+1:])
	return name[:i], ordinal, err == nil
}

func key(o client.Object) string { return o.GetNamespace() + "/" + o.GetName() }
