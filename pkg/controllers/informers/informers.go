// Package informers is what the controllers see of the cluster: what they need and no more, trimmed to what they read, so
// that their memory does not grow with the cluster around them.
package informers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// Scheme knows the kinds that the controllers read and write; some are bodies of subresources: scale and eviction.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme, autoscalingv1.AddToScheme, policyv1.AddToScheme,
		v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}

// Options are those of the manager's cache. Of the pods it holds the placeholders alone; AdapterPods has the adapters.
func Options() cache.Options {
	return cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:         {Label: with(v1alpha1.LabelPool), Transform: trimPod},
			&corev1.Node{}:        {Transform: trimNode},
			&appsv1.StatefulSet{}: {Transform: trimStatefulSet},
		},
		DefaultTransform: cache.TransformStripManagedFields(),
	}
}

// AdapterPods sees the pods of StatefulSets, which a cache that is limited to placeholders cannot. The manager has to
// start it.
func AdapterPods(config *rest.Config, scheme *runtime.Scheme) (cluster.Cluster, error) {
	c, err := cluster.New(config, func(o *cluster.Options) {
		o.Scheme = scheme
		o.Cache = cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Label: with(appsv1.StatefulSetPodNameLabel), Transform: trimPod},
		}}
	})
	if err != nil {
		return nil, fmt.Errorf("watching the pods of StatefulSets: %w", err)
	}
	return c, nil
}

func with(label string) labels.Selector {
	selector, err := labels.Parse(label)
	if err != nil {
		panic(err) // The names are constants.
	}
	return selector
}

// The fields by which objects can be listed: client.MatchingFields{ByNode: name}.
const (
	// ByNode lists placeholders, or adapter pods, by the node they are bound to; "" for those that wait.
	ByNode = "spec.nodeName"
	// ByVPod lists the placeholders in a namespace by the name of the VPod that controls them.
	ByVPod = "vpod"
	// ByPool lists placeholders, virtual nodes and VPods by the name of their pool.
	ByPool = "pool"
	// ByStatefulSet lists pools by the StatefulSet they refer to, and adapter pods by the one that controls them:
	// "namespace/name".
	ByStatefulSet = "statefulSet"
)

// Index makes the fields above known, and starts the informers of all kinds: so a standby's caches are warm when it
// becomes the leader, and readiness means that they are filled.
func Index(ctx context.Context, objects, adapterPods cache.Cache) error {
	byNode := func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }
	for _, index := range []struct {
		in     cache.Cache
		object client.Object
		field  string
		values client.IndexerFunc
	}{
		{objects, &corev1.Pod{}, ByNode, byNode},
		{objects, &corev1.Pod{}, ByVPod, vpodOf},
		{objects, &corev1.Pod{}, ByPool, poolLabel},
		{objects, &corev1.Node{}, ByPool, poolLabel},
		{objects, &v1alpha1.VPod{}, ByPool, func(o client.Object) []string { return []string{o.(*v1alpha1.VPod).Spec.PoolName} }},
		{objects, &v1alpha1.AdapterPool{}, ByStatefulSet, func(o client.Object) []string {
			ref := o.(*v1alpha1.AdapterPool).Spec.StatefulSetRef
			return []string{StatefulSetKey(ref.Namespace, ref.Name)}
		}},
		{adapterPods, &corev1.Pod{}, ByNode, byNode},
		{adapterPods, &corev1.Pod{}, ByStatefulSet, statefulSetOf},
	} {
		if err := index.in.IndexField(ctx, index.object, index.field, index.values); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", index.object, index.field, err)
		}
	}
	if _, err := objects.GetInformer(ctx, &appsv1.StatefulSet{}, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("watching StatefulSets: %w", err)
	}
	return nil
}

// StatefulSetKey is a StatefulSet as the index ByStatefulSet has it.
func StatefulSetKey(namespace, name string) string { return namespace + "/" + name }

// Holder returns the pool that has a StatefulSet, or nil if none refers to it.
func Holder(ctx context.Context, objects client.Reader, ref v1alpha1.StatefulSetReference) (*v1alpha1.AdapterPool, error) {
	var pools v1alpha1.AdapterPoolList
	field := client.MatchingFields{ByStatefulSet: StatefulSetKey(ref.Namespace, ref.Name)}
	if err := objects.List(ctx, &pools, field); err != nil {
		return nil, fmt.Errorf("listing the pools of StatefulSet %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return adapter.Holder(pools.Items), nil
}

func poolLabel(o client.Object) []string {
	if pool := o.GetLabels()[v1alpha1.LabelPool]; pool != "" {
		return []string{pool}
	}
	return nil
}

func vpodOf(o client.Object) []string {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil || owner.Kind != v1alpha1.KindVPod || owner.APIVersion != v1alpha1.GroupVersion.String() {
		return nil
	}
	return []string{owner.Name}
}

func statefulSetOf(o client.Object) []string {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil || owner.Kind != adapter.KindStatefulSet {
		return nil
	}
	return []string{StatefulSetKey(o.GetNamespace(), owner.Name)}
}
