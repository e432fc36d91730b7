package node

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
)

// soon is when to try again what the cache will have caught up with by then.
const soon = time.Second

// reconciler sees to one virtual node after the other. A request names a node, which need not exist nor be virtual.
type reconciler struct {
	// client reads from the cache, and knows placeholders; adapterPods is the cache of adapter pods. live reads both from
	// the API server.
	client            client.Client
	adapterPods, live client.Reader
	events            recorder.EventRecorder
	beats             *heartbeats
	clock             clock.PassiveClock
	version           string
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	id, ok := adapter.OfNodeName(request.Name)
	if !ok {
		return ctrl.Result{}, nil
	}
	d, err := r.reconcile(ctx, id)
	if isStale(err) {
		klog.FromContext(ctx).V(3).Info("The cache is behind", "err", err)
		return ctrl.Result{RequeueAfter: soon}, nil
	}
	return ctrl.Result{RequeueAfter: d.after}, err
}

func (r *reconciler) reconcile(ctx context.Context, id adapter.ID) (decision, error) {
	s, err := r.observe(ctx, id, r.client, r.adapterPods)
	if err != nil {
		return decision{}, err
	}
	d := decide(s, r.version, r.clock.Now())
	r.beat(ctx, id, s.node) // Before the node is written: that may fail, and the node lives all the same.
	node, err := r.write(ctx, s.node, d.node)
	if err != nil {
		return d, err
	}
	r.beat(ctx, id, node)
	if len(d.move) == 0 {
		return d, nil
	}
	// Nothing brings a vreplica back to where it was: what the cache says must hold on the API server, too.
	if s, err = r.observe(ctx, id, r.live, r.live); err != nil {
		return d, err
	}
	now := r.clock.Now()
	if d = decide(s, r.version, now); len(d.move) == 0 {
		klog.FromContext(ctx).V(3).Info("Moving nothing, because the cache was behind")
		d.after = soon
		return d, nil
	}
	return d, r.move(ctx, id, node, d, now)
}

// beat has the heartbeats follow the virtual node.
func (r *reconciler) beat(ctx context.Context, id adapter.ID, node *corev1.Node) {
	if node != nil && id.Owns(node) {
		r.beats.keep(ctx, node)
	} else {
		r.beats.stop(ctx, id.NodeName())
	}
}

// observe reads what there is of an adapter: single objects by the readers given, which may be live, and lists, which need
// an index, from the cache.
func (r *reconciler) observe(ctx context.Context, id adapter.ID, objects, pods client.Reader) (state, error) {
	s := state{id: id}
	var err error
	if s.node, err = get[corev1.Node](ctx, objects, client.ObjectKey{Name: id.NodeName()}); err != nil {
		return s, err
	}
	if s.node != nil && !id.Owns(s.node) {
		return s, nil
	}
	if s.bound, err = r.bound(ctx, id.NodeName()); err != nil {
		return s, err
	}
	if s.pool, err = get[v1alpha1.AdapterPool](ctx, objects, client.ObjectKey{Name: id.Pool}); err != nil || s.pool == nil {
		return s, err
	}
	ref := s.pool.Spec.StatefulSetRef
	holder, err := informers.Holder(ctx, r.client, ref)
	if err != nil {
		return s, err
	}
	s.holds = holder != nil && holder.UID == s.pool.UID
	if s.set, err = get[appsv1.StatefulSet](ctx, objects, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}); err != nil {
		return s, err
	}
	s.pod, err = get[corev1.Pod](ctx, pods, client.ObjectKey{Namespace: ref.Namespace, Name: id.PodName(s.pool)})
	if err != nil || s.pod == nil || !isServing(s.pod) {
		s.othersReady, err = r.isAnyReady(ctx, s)
	}
	if err == nil && s.pod != nil && s.pod.Spec.NodeName != "" {
		s.host, err = get[corev1.Node](ctx, objects, client.ObjectKey{Name: s.pod.Spec.NodeName})
	}
	return s, err
}

// bound lists the placeholders on a node. They are those of the cache: not to be changed.
func (r *reconciler) bound(ctx context.Context, node string) ([]*corev1.Pod, error) {
	var pods corev1.PodList
	err := r.client.List(ctx, &pods, client.MatchingFields{informers.ByNode: node}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("listing the placeholders on node %s: %w", node, err)
	}
	var bound []*corev1.Pod
	for i := range pods.Items {
		if adapter.IsPlaceholder(&pods.Items[i]) {
			bound = append(bound, &pods.Items[i])
		}
	}
	return bound, nil
}

// isAnyReady says whether another adapter of the pool is ready, and takes vreplicas. For the former it looks at the pods:
// virtual nodes may tell how it was before an outage of ours.
func (r *reconciler) isAnyReady(ctx context.Context, s state) (bool, error) {
	if s.set == nil {
		return false, nil
	}
	var pods corev1.PodList
	key := informers.StatefulSetKey(s.set.Namespace, s.set.Name)
	err := r.adapterPods.List(ctx, &pods, client.MatchingFields{informers.ByStatefulSet: key}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("listing the pods of StatefulSet %s: %w", key, err)
	}
	for i := range pods.Items {
		_, ordinal, ok := adapter.Parse(pods.Items[i].Name)
		other := adapter.ID{Pool: s.id.Pool, Ordinal: ordinal}
		if !ok || other == s.id || !other.In(s.set) || !isServing(&pods.Items[i]) {
			continue
		}
		node, err := get[corev1.Node](ctx, r.client, client.ObjectKey{Name: other.NodeName()})
		if err != nil || node != nil && !node.Spec.Unschedulable {
			return err == nil, err
		}
	}
	return false, nil
}

// get reads one object; nil: there is none.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, from client.Reader, key client.ObjectKey) (*T, error) {
	object := P(new(T))
	if err := from.Get(ctx, key, object); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading %T %s: %w", object, key, err)
	}
	return object, nil
}

// isStale says whether a write failed because the cache was behind.
func isStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}
