package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// What happens to adapters and to the hosts under them.

func (pool *poolPlan) podName(ordinal int) string { return v1alpha1.NodeName(pool.set, ordinal) }

func (pool *poolPlan) adapterPod(ordinal int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pool.namespace, Name: pool.podName(ordinal)}}
}

// patchAction changes one object.
func patchAction(o client.Object, text, patch string, subresource ...string) *action {
	return &action{text: text, do: func(ctx context.Context, d *driver) (string, error) {
		return "", d.patch(ctx, o.DeepCopyObject().(client.Object), patch, subresource...)
	}}
}

func (p *plan) scalePool() *action {
	pool := p.anyPool(not(isAutoscaled))
	pool.replicas = minAdapters + p.random.IntN(maxAdapters-minAdapters+1)
	beyond := func(ordinal int, _ bool) bool { return ordinal >= pool.replicas }
	maps.DeleteFunc(pool.marked, beyond)
	maps.DeleteFunc(pool.cordoned, beyond)
	return pool.scale()
}

func (pool *poolPlan) scale() *action {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: pool.namespace, Name: pool.set}}
	return patchAction(set, fmt.Sprintf("%s to %d", pool.name, pool.replicas), fmt.Sprintf(`{"spec":{"replicas":%d}}`, pool.replicas), "scale")
}

// replacePool deletes a StatefulSet without its pods, as one does to change what cannot be changed, and creates it again. A
// pod that is deleted on a host that is silent would be in the way of the next one: no StatefulSet adopts it.
func (p *plan) replacePool() *action {
	if p.count(isStopped) > 0 {
		return nil
	}
	pool := p.pool()
	set := pool.statefulSet()
	return &action{text: pool.name, do: func(ctx context.Context, d *driver) (string, error) {
		if err := d.remove(ctx, set.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
			return "", err
		}
		err := lab.Wait(ctx, "StatefulSet "+pool.set+" is gone", func(ctx context.Context) error {
			err := d.Objects().Get(ctx, client.ObjectKeyFromObject(set), set.DeepCopy())
			if err == nil {
				err = errors.New("it is there")
			}
			return client.IgnoreNotFound(err)
		})
		if err != nil {
			return "", err
		}
		return "", d.create(ctx, set)
	}}
}

func (p *plan) changeCapacity() *action {
	pool := p.pool()
	pool.capacity = minCapacity + p.random.IntN(maxCapacity-minCapacity+1)
	o := &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: pool.name}}
	return patchAction(o, fmt.Sprintf("%s to %d", pool.name, pool.capacity), fmt.Sprintf(`{"spec":{"capacity":%d}}`, pool.capacity))
}

func (p *plan) restartAdapter() *action {
	pool := p.pool()
	n := 1 + p.random.IntN(4)/3
	first := p.ordinal(pool)
	text := fmt.Sprintf("%d from %s", n, pool.podName(first))
	return &action{text: text, do: func(ctx context.Context, d *driver) (string, error) {
		for i := range n {
			if err := d.remove(ctx, pool.adapterPod(first+i)); err != nil {
				return "", err
			}
		}
		return "", nil
	}}
}

// markAdapter takes an adapter out of use by annotation, or back into it.
func (p *plan) markAdapter() *action {
	pool := p.pool()
	if len(pool.marked) > 1 {
		ordinal := oneOf(p, slices.Sorted(maps.Keys(pool.marked))...)
		delete(pool.marked, ordinal)
		return pool.annotate(ordinal, "null")
	}
	ordinal := p.ordinal(pool)
	pool.marked[ordinal] = true
	return pool.annotate(ordinal, `"true"`)
}

func (pool *poolPlan) annotate(ordinal int, value string) *action {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, v1alpha1.AnnotationUnschedulable, value)
	return patchAction(pool.adapterPod(ordinal), pool.podName(ordinal)+" "+value, patch)
}

func (p *plan) cordonNode() *action {
	pool := p.pool()
	if len(pool.cordoned) > 1 {
		ordinal := oneOf(p, slices.Sorted(maps.Keys(pool.cordoned))...)
		delete(pool.cordoned, ordinal)
		return cordonAction(v1alpha1.NodeName(pool.name, ordinal), false)
	}
	ordinal := p.ordinal(pool)
	pool.cordoned[ordinal] = true
	return cordonAction(v1alpha1.NodeName(pool.name, ordinal), true)
}

func cordonAction(node string, cordoned bool) *action {
	return &action{text: fmt.Sprintf("%s %t", node, cordoned), do: func(ctx context.Context, d *driver) (string, error) {
		d.witness.expect(func(x *expected) {
			if cordoned {
				x.cordoned[node] = true
			} else {
				x.uncordoned[node] = true
			}
		})
		return "", d.cordon(ctx, node, cordoned)
	}}
}

func (p *plan) cordonHost() *action {
	var h *hostPlan
	if p.count(isCordoned) >= mostAway || p.random.IntN(3) == 0 {
		h = p.anyHost(isCordoned)
	} else {
		h = p.anyHost(not(isCordoned))
	}
	if h == nil {
		return nil
	}
	h.cordoned = !h.cordoned
	return h.cordon()
}

func (h hostPlan) cordon() *action {
	return &action{text: fmt.Sprintf("%s %t", h.name, h.cordoned), do: func(ctx context.Context, d *driver) (string, error) {
		return "", d.cordon(ctx, h.name, h.cordoned)
	}}
}

// stopHost lets a host fall silent, and now and then goes on before anybody notices.
func (p *plan) stopHost() *action {
	if p.count(isStopped) >= mostAway {
		return nil
	}
	h, isNoticed := p.anyHost(not(isStopped)), p.random.IntN(3) > 0
	h.stopped = true
	text := fmt.Sprintf("%s, and wait until it is noticed: %t", h.name, isNoticed)
	return &action{text: text, do: func(ctx context.Context, d *driver) (string, error) {
		if err := d.StopHost(ctx, h.name); err != nil || !isNoticed {
			return "", err
		}
		return "", d.WaitForHost(ctx, h.name, false)
	}}
}

func (p *plan) startHost() *action {
	h := p.anyHost(isStopped)
	if h == nil {
		return nil
	}
	h.stopped = false
	return h.start()
}

func (h hostPlan) start() *action {
	return &action{text: h.name, do: func(ctx context.Context, d *driver) (string, error) { return "", d.startHost(ctx, h.name) }}
}

// moveHost says that a host is in another zone than it said before.
func (p *plan) moveHost() *action {
	h := p.anyHost(not(isStopped))
	h.zone = oneOf(p, zones...)
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: h.name}}
	return patchAction(o, h.name+" to "+h.zone, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, corev1.LabelTopologyZone, h.zone))
}

// recovery undoes what is out of order, so that all can be as it was.
func (p *plan) recovery() []action {
	var all []action
	for _, name := range slices.Sorted(maps.Keys(p.budgets)) {
		all = append(all, *p.drop(p.budgets[name]))
	}
	for _, h := range p.hosts {
		if h.stopped {
			h.stopped = false
			all = append(all, *h.start())
		}
		if h.cordoned {
			h.cordoned = false
			all = append(all, *h.cordon())
		}
	}
	for _, pool := range p.pools {
		for _, ordinal := range slices.Sorted(maps.Keys(pool.cordoned)) {
			all = append(all, *cordonAction(v1alpha1.NodeName(pool.name, ordinal), false))
		}
		for _, ordinal := range slices.Sorted(maps.Keys(pool.marked)) {
			all = append(all, *pool.annotate(ordinal, "null"))
		}
		clear(pool.cordoned)
		clear(pool.marked)
	}
	p.lost = nil
	for i := range all {
		all[i].kind = "recover"
	}
	return all
}
