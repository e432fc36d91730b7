package node

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// leaseSeconds is what a lease says of how long it is good for, as those of kubelets do.
const leaseSeconds = 40

// heartbeats renew a Lease for each virtual node, without which kube-controller-manager takes the node for dead. They say
// that this controller lives, not that the adapter does: that is the condition Ready. They run on the leader alone, and
// have a client of their own, so that no burst of other requests holds them up.
type heartbeats struct {
	client   kubernetes.Interface
	interval time.Duration
	clock    clock.Clock
	orders   chan order
}

// order is to keep a node alive from now on, or to stop it.
type order struct {
	name string
	// node is nil to stop.
	node *corev1.Node
}

func newHeartbeats(client kubernetes.Interface, interval time.Duration, clock clock.Clock) *heartbeats {
	return &heartbeats{client: client, interval: interval, clock: clock, orders: make(chan order)}
}

// keep renews the node's lease from now on. It costs nothing if it does already.
func (h *heartbeats) keep(ctx context.Context, node *corev1.Node) {
	h.order(ctx, order{name: node.Name, node: node})
}

// stop no longer renews the lease of a node. The lease is left to the garbage collector: it is owned by the node.
func (h *heartbeats) stop(ctx context.Context, name string) { h.order(ctx, order{name: name}) }

func (h *heartbeats) order(ctx context.Context, o order) {
	select {
	case h.orders <- o:
	case <-ctx.Done():
	}
}

// Start carries out orders until ctx ends, and returns when the last heartbeat is over. The leases stay, so that the next
// leader finds nodes that are alive.
func (h *heartbeats) Start(ctx context.Context) error {
	type beat struct {
		of     types.UID
		cancel context.CancelFunc
	}
	beats := map[string]beat{}
	var running sync.WaitGroup
	defer running.Wait()
	for {
		var o order
		select {
		case <-ctx.Done():
			return nil
		case o = <-h.orders:
		}
		if b, ok := beats[o.name]; ok {
			if o.node != nil && o.node.UID == b.of {
				continue
			}
			b.cancel()
			delete(beats, o.name)
		}
		if o.node == nil {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		beats[o.name] = beat{of: o.node.UID, cancel: cancel}
		running.Go(func() { h.of(o.node).Run(klog.NewContext(ctx, klog.FromContext(ctx).WithValues("node", o.name))) })
	}
}

// of is what renews the lease of a node.
func (h *heartbeats) of(node *corev1.Node) lease.Controller {
	// It is the virtual node's own lease alone: the label says so to the rules of admission.
	labels := map[string]string{v1alpha1.LabelPool: node.Labels[v1alpha1.LabelPool]}
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}
	mark := func(l *coordinationv1.Lease) error {
		l.Labels, l.OwnerReferences = labels, []metav1.OwnerReference{owner}
		l.Spec.HolderIdentity = &owner.Name
		return nil
	}
	return lease.NewController(h.clock, h.client, node.Name, leaseSeconds, nil, h.interval,
		node.Name, corev1.NamespaceNodeLease, mark)
}
