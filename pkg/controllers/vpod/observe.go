package vpod

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
	"vpod.dev/vpod-scheduler/pkg/placement"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// observe reads the cache, and shares what it reads with it.
func (r *reconciler) observe(ctx context.Context, vpod *v1alpha1.VPod, m *memory) (observation, error) {
	o := observation{vpod: vpod, refusal: m.refusal, now: r.clock.Now()}
	var pods corev1.PodList
	err := r.cached.List(ctx, &pods, client.InNamespace(vpod.Namespace), client.MatchingFields{informers.ByVPod: vpod.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return o, fmt.Errorf("listing the placeholders: %w", err)
	}
	o.pods = pointers(pods.Items)
	pool := &v1alpha1.AdapterPool{}
	switch err := r.cached.Get(ctx, client.ObjectKey{Name: vpod.Spec.PoolName}, pool); {
	case err == nil:
		o.pool = pool
	case !apierrors.IsNotFound(err):
		return o, fmt.Errorf("reading the pool: %w", err)
	}
	var nodes corev1.NodeList
	ofPool := client.MatchingFields{informers.ByPool: vpod.Spec.PoolName}
	err = r.cached.List(ctx, &nodes, ofPool, client.UnsafeDisableDeepCopy)
	if err != nil {
		return o, fmt.Errorf("listing the adapters of the pool: %w", err)
	}
	o.nodes = slices.DeleteFunc(pointers(nodes.Items), func(node *corev1.Node) bool {
		_, err := placement.ParseOrdinal(node.Labels[v1alpha1.LabelOrdinal])
		return err != nil
	})
	o.crowd, err = r.observeCrowd(ctx, o)
	return o, err
}

// observeCrowd reads all that the pool serves, and is left out while nobody is refused.
func (r *reconciler) observeCrowd(ctx context.Context, o observation) (crowd, error) {
	if !slices.ContainsFunc(o.pods, isRefused) {
		return crowd{}, nil
	}
	c := crowd{taken: map[string]int64{}}
	var pods corev1.PodList
	ofPool := client.MatchingFields{informers.ByPool: o.vpod.Spec.PoolName}
	if err := r.cached.List(ctx, &pods, ofPool, client.UnsafeDisableDeepCopy); err != nil {
		return c, fmt.Errorf("listing the placeholders of the pool: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		isOwn := pod.Namespace == o.vpod.Namespace && o.relationTo(pod) == own
		if !isWaiting(pod) && !isOwn && !adapter.IsFinished(pod) {
			c.taken[pod.Spec.NodeName] += snapshot.Requested(pod, v1alpha1.ResourceVReplicas)
		}
	}
	if o.pool == nil {
		return c, nil
	}
	ref := o.pool.Spec.StatefulSetRef
	ofSet := client.MatchingFields{informers.ByStatefulSet: informers.StatefulSetKey(ref.Namespace, ref.Name)}
	if err := r.adapterPods.List(ctx, &pods, ofSet, client.UnsafeDisableDeepCopy); err != nil {
		return c, fmt.Errorf("listing the adapter pods: %w", err)
	}
	for i := range pods.Items {
		if isWaiting(&pods.Items[i]) {
			c.homeless = append(c.homeless, pods.Items[i].Name)
		}
	}
	slices.SortFunc(c.homeless, compareOrdinals)
	return c, nil
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
	var pods corev1.PodList
	labels := client.MatchingLabels{v1alpha1.LabelVPod: vpod.Name}
	if err := r.live.List(ctx, &pods, client.InNamespace(vpod.Namespace), labels); err != nil {
		return o, false, fmt.Errorf("listing the placeholders again: %w", err)
	}
	o.vpod = vpod
	cached := o.pods
	o.pods = pointers(pods.Items)
	for _, pod := range cached {
		if pod.Labels[v1alpha1.LabelVPod] == vpod.Name {
			continue
		}
		// Somebody changed its label.
		again := &corev1.Pod{}
		switch err := r.live.Get(ctx, client.ObjectKeyFromObject(pod), again); {
		case err == nil && metav1.IsControlledBy(again, vpod) && again.Labels[v1alpha1.LabelVPod] != vpod.Name:
			o.pods = append(o.pods, again)
		case client.IgnoreNotFound(err) != nil:
			return o, false, fmt.Errorf("reading placeholder %s again: %w", pod.Name, err)
		}
	}
	o.crowd, err = r.observeCrowd(ctx, o)
	return o, err == nil, err
}

// compareOrdinals orders the names of adapters.
func compareOrdinals(a, b string) int {
	_, i, _ := adapter.Parse(a)
	_, j, _ := adapter.Parse(b)
	return cmp.Or(cmp.Compare(i, j), cmp.Compare(a, b))
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
