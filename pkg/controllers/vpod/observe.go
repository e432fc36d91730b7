package vpod

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// observe reads the cache, and shares what it reads with it.
func (r *reconciler) observe(ctx context.Context, vpod *v1alpha1.VPod, m *memory) (observation, error) {
	o := observation{vpod: vpod, refusal: m.refusal, eviction: m.eviction, tried: m.tried, now: r.clock.Now()}
	var pods corev1.PodList
	err := r.cached.List(ctx, &pods, client.InNamespace(vpod.Namespace), client.MatchingFields{informers.ByVPod: vpod.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return o, fmt.Errorf("listing the placeholders: %w", err)
	}
	o.pods = pointers(pods.Items)
	if o, err = observePool(ctx, r.cached, o); err != nil {
		return o, err
	}
	if o, err = r.observeAdapters(ctx, o); err != nil {
		return o, err
	}
	m.held, m.shrinks, m.lacking = o.hold(m.held), o.isShrinking(m.shrinks), o.lacksRoomSince(m.lacking)
	o.held, o.shrinks, o.lacking = m.held, m.shrinks, m.lacking
	if !slices.ContainsFunc(o.pods, o.isLeaving) {
		o.eviction, m.eviction = nil, nil
	}
	return o, nil
}

// observePool reads the pool, and its StatefulSet if adapters may be draining.
func observePool(ctx context.Context, from client.Reader, o observation) (observation, error) {
	pool := &v1alpha1.AdapterPool{}
	o.pool, o.set = nil, nil
	if err := from.Get(ctx, client.ObjectKey{Name: o.vpod.Spec.PoolName}, pool); apierrors.IsNotFound(err) {
		return o, nil
	} else if err != nil {
		return o, fmt.Errorf("reading the pool: %w", err)
	}
	o.pool = pool
	if !adapter.IsAutoscaled(pool) || pool.Status.TargetAdapters == nil {
		return o, nil
	}
	set, ref := &appsv1.StatefulSet{}, pool.Spec.StatefulSetRef
	err := from.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, set, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return o, fmt.Errorf("reading the StatefulSet of the pool: %w", err)
	}
	if err == nil {
		o.set = set
	}
	return o, nil
}

// observeAdapters reads of the pool no more than what the placeholders need: a pool may have thousands of adapters.
func (r *reconciler) observeAdapters(ctx context.Context, o observation) (observation, error) {
	o.nodes, o.empty, o.census = map[string]*corev1.Node{}, false, nil
	for _, pod := range o.pods {
		if isWaiting(pod) || o.nodes[pod.Spec.NodeName] != nil {
			continue
		}
		node := &corev1.Node{}
		switch err := r.cached.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node, client.UnsafeDisableDeepCopy); {
		case err == nil && isAdapterOf(node, o.vpod.Spec.PoolName):
			o.nodes[node.Name] = node
		case client.IgnoreNotFound(err) != nil:
			return o, fmt.Errorf("reading node %s: %w", pod.Spec.NodeName, err)
		}
	}
	if len(o.nodes) == 0 {
		var one corev1.NodeList
		ofPool := client.MatchingFields{informers.ByPool: o.vpod.Spec.PoolName}
		if err := r.cached.List(ctx, &one, ofPool, client.Limit(1), client.UnsafeDisableDeepCopy); err != nil {
			return o, fmt.Errorf("listing the adapters of the pool: %w", err)
		}
		o.empty = len(one.Items) == 0
	}
	o.draining = drainingNodes(o.pool, o.set, o.nodes)
	if o.pool == nil || !o.wantsCensus() {
		return o, nil
	}
	var err error
	o.census, err = r.censuses.of(ctx, o.pool, o.now)
	return o, err
}

// wantsCensus says whether it matters how much room there is.
func (o observation) wantsCensus() bool {
	return slices.ContainsFunc(o.pods, func(pod *corev1.Pod) bool { return isRefused(pod) || !isWaiting(pod) && o.isStale(pod) })
}

// isAdapterOf says whether a node is an adapter of a pool, by its labels, as the scheduler sees it.
func isAdapterOf(node *corev1.Node, pool string) bool {
	_, err := placement.ParseOrdinal(node.Labels[v1alpha1.LabelOrdinal])
	return node.Labels[v1alpha1.LabelPool] == pool && err == nil
}

// confirm replaces what the cache says of the VPod and its placeholders by what is. ok is false if the VPod is not there
// any more, or another one has its name.
func (r *reconciler) confirm(ctx context.Context, o observation) (confirmed observation, ok bool, err error) {
	o.now = r.clock.Now()
	vpod := &v1alpha1.VPod{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(o.vpod), vpod); apierrors.IsNotFound(err) {
		return o, false, nil
	} else if err != nil {
		return o, false, fmt.Errorf("reading the VPod again: %w", err)
	}
	if vpod.UID != o.vpod.UID || vpod.DeletionTimestamp != nil {
		return o, false, nil
	}
	o.vpod = vpod
	if o.pods, err = r.confirmPods(ctx, o); err != nil {
		return o, false, err
	}
	if len(o.draining) > 0 {
		// Whoever ends a drain writes the pool. Nothing moves after that.
		if o, err = observePool(ctx, r.live, o); err != nil {
			return o, false, err
		}
	}
	o, err = r.observeAdapters(ctx, o)
	o.shrinks, o.tried = o.isShrinking(o.shrinks), o.triedInVain(o.tried)
	return o, err == nil, err
}

// confirmPods reads those with the label of the VPod, and those of the ones known that lost it.
func (r *reconciler) confirmPods(ctx context.Context, o observation) ([]*corev1.Pod, error) {
	var pods corev1.PodList
	labels := client.MatchingLabels{v1alpha1.LabelVPod: o.vpod.Name}
	if err := r.live.List(ctx, &pods, client.InNamespace(o.vpod.Namespace), labels); err != nil {
		return nil, fmt.Errorf("listing the placeholders again: %w", err)
	}
	all := pointers(pods.Items)
	for _, pod := range o.pods {
		if pod.Labels[v1alpha1.LabelVPod] == o.vpod.Name {
			continue
		}
		// Somebody changed its label.
		again := &corev1.Pod{}
		switch err := r.live.Get(ctx, client.ObjectKeyFromObject(pod), again); {
		case err == nil && metav1.IsControlledBy(again, o.vpod) && again.Labels[v1alpha1.LabelVPod] != o.vpod.Name:
			all = append(all, again)
		case client.IgnoreNotFound(err) != nil:
			return nil, fmt.Errorf("reading placeholder %s again: %w", pod.Name, err)
		}
	}
	return all, nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
