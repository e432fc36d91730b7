package pool

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
)

// observe reads what there is of a pool.
func (r *reconciler) observe(ctx context.Context, pool *v1alpha1.AdapterPool) (state, error) {
	s := state{now: r.clock.Now(), pool: pool}
	var err error
	if s.holder, err = informers.Holder(ctx, r.client, pool.Spec.StatefulSetRef); err != nil {
		return s, err
	}
	ref := pool.Spec.StatefulSetRef
	key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	if s.set, err = get[appsv1.StatefulSet](ctx, r.client, key); err != nil {
		return s, err
	}
	if s.nodes, err = r.nodes(ctx, pool); err != nil {
		return s, err
	}
	if s.placeholders, err = r.placeholders(ctx, pool); err != nil {
		return s, err
	}
	if s.vpods, err = r.vpods(ctx, pool); err != nil {
		return s, err
	}
	if s.members, err = r.members(ctx, s); err != nil || pool.Spec.Autoscaling == nil {
		return s, err
	}
	return r.observeScaling(ctx, s)
}

// observeScaling reads what the number of adapters depends on.
func (r *reconciler) observeScaling(ctx context.Context, s state) (state, error) {
	var pods corev1.PodList
	ref := s.pool.Spec.StatefulSetRef
	ofSet := client.MatchingFields{informers.ByStatefulSet: informers.StatefulSetKey(ref.Namespace, ref.Name)}
	if err := r.adapterPods.List(ctx, &pods, ofSet, client.UnsafeDisableDeepCopy); err != nil {
		return s, fmt.Errorf("listing the adapter pods: %w", err)
	}
	s.pods = pointers(pods.Items)
	if !hasUnit(s.pool) {
		return s, nil
	}
	var nodes corev1.NodeList
	if err := r.client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return s, fmt.Errorf("listing the nodes: %w", err)
	}
	s.unit = unit(s.pool, s.set, nodes.Items)
	return s, nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}

// vpods lists those of a pool.
func (r *reconciler) vpods(ctx context.Context, pool *v1alpha1.AdapterPool) ([]*v1alpha1.VPod, error) {
	var vpods v1alpha1.VPodList
	field := client.MatchingFields{informers.ByPool: pool.Name}
	if err := r.client.List(ctx, &vpods, field, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the VPods: %w", err)
	}
	return pointers(vpods.Items), nil
}

// nodes lists the virtual nodes of a pool.
func (r *reconciler) nodes(ctx context.Context, pool *v1alpha1.AdapterPool) ([]*corev1.Node, error) {
	var nodes corev1.NodeList
	field := client.MatchingFields{informers.ByPool: pool.Name}
	if err := r.client.List(ctx, &nodes, field, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the virtual nodes: %w", err)
	}
	return owned(pool, nodes.Items), nil
}

// owned leaves out nodes that have the pool's label and are not its virtual nodes.
func owned(pool *v1alpha1.AdapterPool, nodes []corev1.Node) []*corev1.Node {
	var all []*corev1.Node
	for i := range nodes {
		if id, ok := adapter.OfNodeName(nodes[i].Name); ok && id.Pool == pool.Name && id.Owns(&nodes[i]) {
			all = append(all, &nodes[i])
		}
	}
	return all
}

// placeholders lists those that ask for a pool.
func (r *reconciler) placeholders(ctx context.Context, pool *v1alpha1.AdapterPool) ([]*corev1.Pod, error) {
	var pods corev1.PodList
	field := client.MatchingFields{informers.ByPool: pool.Name}
	if err := r.client.List(ctx, &pods, field, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the placeholders: %w", err)
	}
	var all []*corev1.Pod
	for i := range pods.Items {
		if adapter.IsPlaceholder(&pods.Items[i]) {
			all = append(all, &pods.Items[i])
		}
	}
	return all, nil
}

// members reads what there is of each adapter of the StatefulSet.
func (r *reconciler) members(ctx context.Context, s state) ([]member, error) {
	if s.set == nil {
		return nil, nil
	}
	nodes := make(map[string]*corev1.Node, len(s.nodes))
	for _, node := range s.nodes {
		nodes[node.Name] = node
	}
	var all []member
	for ordinal, end := adapter.Ordinals(s.set); ordinal < end; ordinal++ {
		m := member{id: adapter.ID{Pool: s.pool.Name, Ordinal: ordinal}}
		m.node = nodes[m.id.NodeName()]
		if m.node == nil {
			if err := r.find(ctx, s.pool, &m); err != nil {
				return nil, err
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// find looks for what there is of an adapter without a virtual node.
func (r *reconciler) find(ctx context.Context, pool *v1alpha1.AdapterPool, m *member) (err error) {
	if m.node, err = get[corev1.Node](ctx, r.client, client.ObjectKey{Name: m.id.NodeName()}); err != nil || m.node != nil {
		return err
	}
	key := client.ObjectKey{Namespace: pool.Spec.StatefulSetRef.Namespace, Name: m.id.PodName(pool)}
	m.pod, err = get[corev1.Pod](ctx, r.adapterPods, key)
	return err
}

// get reads one object, which is not to be changed; nil: there is none.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, from client.Reader, key client.ObjectKey) (*T, error) {
	object := P(new(T))
	if err := from.Get(ctx, key, object, client.UnsafeDisableDeepCopy); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading %T %s: %w", object, key, err)
	}
	return object, nil
}
