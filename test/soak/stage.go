package soak

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

const (
	// nodeGrace is how long a node may be silent before kube-controller-manager calls it unreachable, and heartbeats the flag
	// of the controller that fits.
	nodeGrace  = 8 * time.Second
	heartbeats = "--heartbeat-interval=2s"
	// drainPatience is how long a drain may make no progress. The pauses after that, 2 to 30 times as long, are shorter than
	// patience.
	drainPatience = "--drain-patience=5s"
	// evictionTimeout is that of all pools.
	evictionTimeout = 10 * time.Second
	// leaves is how long the adapters of the second pool stay on a host that is unreachable.
	leaves = 5
)

// furnish creates what the plan starts from.
func (d *driver) furnish(ctx context.Context, p *plan) error {
	for _, name := range append([]string{bystanders, guests}, namespaces...) {
		if err := d.CreateNamespace(ctx, name); err != nil {
			return err
		}
	}
	for name, value := range classes {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		if name == "patient" {
			class.PreemptionPolicy = new(corev1.PreemptNever)
		}
		if err := d.Objects().Create(ctx, class); err != nil {
			return err
		}
	}
	for _, h := range p.hosts {
		if err := d.CreateNode(ctx, h.node()); err != nil {
			return err
		}
	}
	for _, pool := range p.pools {
		if err := d.CreateNamespace(ctx, pool.namespace); err != nil {
			return err
		}
		for _, o := range []client.Object{pool.statefulSet(), pool.object()} {
			if err := d.Objects().Create(ctx, o); err != nil {
				return err
			}
		}
	}
	return errors.Join(d.addBystanders(ctx), d.Objects().Create(ctx, lostVPod()))
}

const shared = "adapters"

func (h *hostPlan) node() *corev1.Node { return lab.AdapterSet{Name: shared}.Host(h.name, h.zone) }

// statefulSet has adapters on the hosts that both pools share.
func (pool *poolPlan) statefulSet() *appsv1.StatefulSet {
	set := lab.AdapterSet{Namespace: pool.namespace, Name: pool.set, Replicas: int32(pool.replicas)}.StatefulSet()
	spec := &set.Spec.Template.Spec
	for key := range spec.NodeSelector {
		spec.NodeSelector[key] = shared
	}
	if pool.set != pool.name { // These leave a host that is unreachable, and are not gone before it says so.
		spec.TerminationGracePeriodSeconds = new(int64(1))
		for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(leaves)),
			})
		}
	}
	return set
}

func (pool *poolPlan) object() *v1alpha1.AdapterPool {
	o := &v1alpha1.AdapterPool{
		ObjectMeta: metav1.ObjectMeta{Name: pool.name},
		Spec: v1alpha1.AdapterPoolSpec{
			StatefulSetRef:  v1alpha1.StatefulSetReference{Namespace: pool.namespace, Name: pool.set},
			Capacity:        int32(pool.capacity),
			EvictionTimeout: &metav1.Duration{Duration: evictionTimeout},
			Descheduling:    rebalance(pool.rebalances),
		},
	}
	if pool.auto != nil {
		o.Spec.Autoscaling = pool.auto.spec()
	}
	return o
}

// nowhere is a pool that does not exist.
const nowhere = "nowhere"

// lostVPod names a pool that does not exist. It waits all the time, and nobody else for it.
func lostVPod() *v1alpha1.VPod {
	return &v1alpha1.VPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaces[0], Name: "lost"},
		Spec:       v1alpha1.VPodSpec{Replicas: new(int32(2)), PoolName: nowhere},
	}
}

// addBystanders has pods run, on a host of their own, that nobody has a reason to touch.
func (d *driver) addBystanders(ctx context.Context) error {
	if err := d.CreateNode(ctx, lab.Host("bystander", zones[0])); err != nil {
		return err
	}
	for i := range 2 {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: bystanders, Name: fmt.Sprint("bystander-", i)},
			Spec: corev1.PodSpec{
				NodeSelector: map[string]string{corev1.LabelHostname: "bystander"},
				Containers:   []corev1.Container{{Name: "main", Image: "none"}},
			},
		}
		if i == 1 { // One that looks like an adapter, and one that does not.
			pod.Labels = map[string]string{v1alpha1.LabelPool: "red"}
		}
		if err := d.Objects().Create(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}
