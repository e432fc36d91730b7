package soak

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// guests is the namespace of placeholders that are made by hand.
const guests = "guests"

// meddling is what people do by hand to what is not theirs.
func meddling() []kind {
	return []kind{
		{"delete placeholders", 4, (*plan).deletePlaceholders},
		{"evict a placeholder", 2, (*plan).evictPlaceholder},
		{"fail a placeholder", 2, (*plan).failPlaceholder},
		{"edit a placeholder", 2, (*plan).editPlaceholder},
		{"mark a placeholder to be moved", 4, (*plan).markPlaceholder},
		{"bind by hand", 4, (*plan).bindByHand},
		{"make a placeholder by hand", 4, (*plan).makeGuest},
		{"delete a virtual node", 4, (*plan).deleteNode},
		{"edit a virtual node", 4, (*plan).editNode},
		{"uncordon a virtual node", 2, (*plan).uncordonNode},
		{"delete a lease", 1, (*plan).deleteLease},
	}
}

// ofPlaceholder does something to one of the placeholders, by the number that was drawn.
func (p *plan) ofPlaceholder(text string, do func(context.Context, *driver, *corev1.Pod) error) *action {
	n := p.number()
	return &action{text: fmt.Sprintf("number %d %s", n, text), do: func(ctx context.Context, d *driver) (string, error) {
		pod := d.anyPlaceholder(n, func(*corev1.Pod) bool { return true })
		if pod == nil {
			return "there is none", nil
		}
		d.witness.expect(func(x *expected) { x.pods[pod.UID] = true })
		return fmt.Sprintf("%s on %q", key(pod), pod.Spec.NodeName), do(ctx, d, pod.DeepCopy())
	}}
}

// deletePlaceholders deletes some in a row, with a grace period or without.
func (p *plan) deletePlaceholders() *action {
	grace, n := oneOf(p, -1, 0, 30), 1+p.random.IntN(3)
	all := make([]*action, n)
	for i := range all {
		all[i] = p.ofPlaceholder(fmt.Sprintf("grace %d", grace), func(ctx context.Context, d *driver, pod *corev1.Pod) error {
			if grace < 0 {
				return d.remove(ctx, pod)
			}
			return d.remove(ctx, pod, client.GracePeriodSeconds(grace))
		})
	}
	return inARow(all)
}

func (p *plan) evictPlaceholder() *action {
	return p.ofPlaceholder("", func(ctx context.Context, d *driver, pod *corev1.Pod) error {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
		return lab.Wait(ctx, "evict "+key(pod), func(ctx context.Context) error {
			err := d.Client().PolicyV1().Evictions(pod.Namespace).Evict(ctx, eviction)
			if apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
				return nil // It stays.
			}
			return client.IgnoreNotFound(err)
		})
	})
}

func (p *plan) failPlaceholder() *action {
	phase := oneOf(p, corev1.PodFailed, corev1.PodSucceeded)
	return p.ofPlaceholder(string(phase), func(ctx context.Context, d *driver, pod *corev1.Pod) error {
		return d.patch(ctx, pod, fmt.Sprintf(`{"status":{"phase":%q,"reason":"ByHand"}}`, phase), "status")
	})
}

// editPlaceholder changes what says whose a placeholder is, or what limit it has.
func (p *plan) editPlaceholder() *action {
	patch := oneOf(p,
		fmt.Sprintf(`{"metadata":{"labels":{%q:"stranger"}}}`, v1alpha1.LabelVPod),
		fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, v1alpha1.LabelVPod),
		fmt.Sprintf(`{"metadata":{"annotations":{%q:"1"}}}`, v1alpha1.AnnotationMaxAdapters),
	)
	n := p.number()
	return &action{text: fmt.Sprintf("number %d %s", n, patch), do: func(ctx context.Context, d *driver) (string, error) {
		pod := d.anyPlaceholder(n, func(p *corev1.Pod) bool { return owner(p) != "" })
		if pod == nil {
			return "there is none", nil
		}
		return key(pod), d.patch(ctx, pod.DeepCopy(), patch)
	}}
}

// markPlaceholder has a person ask for a placeholder to be moved.
func (p *plan) markPlaceholder() *action {
	n := p.number()
	return &action{text: fmt.Sprintf("number %d", n), do: func(ctx context.Context, d *driver) (string, error) {
		pod := d.anyPlaceholder(n, func(p *corev1.Pod) bool { return owner(p) != "" && isAlive(p) && isServed(p) })
		if pod == nil {
			return "none is served", nil
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"ByHand"}}}`, v1alpha1.AnnotationMove)
		return fmt.Sprintf("%s on %q", key(pod), pod.Spec.NodeName), d.patch(ctx, pod.DeepCopy(), patch)
	}}
}

// bindByHand puts a placeholder that waits on an adapter, whether that has room or not.
func (p *plan) bindByHand() *action {
	pod, node := p.number(), p.number()
	return &action{text: fmt.Sprintf("number %d to number %d", pod, node), do: func(ctx context.Context, d *driver) (string, error) {
		pod := d.anyPlaceholder(pod, func(p *corev1.Pod) bool {
			return isAlive(p) && p.Spec.NodeName == "" && p.Labels[v1alpha1.LabelPool] != nowhere
		})
		if pod == nil {
			return "none waits", nil
		}
		name := d.anyNode(node, func(n *corev1.Node) bool { return n.Labels[v1alpha1.LabelPool] == pod.Labels[v1alpha1.LabelPool] })
		if name == "" {
			return "its pool has no adapter", nil
		}
		binding := &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: name},
		}
		d.witness.expect(func(x *expected) { x.bound[pod.UID] = true })
		err := d.Client().CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return fmt.Sprintf("%s to %s was too late", key(pod), name), nil
		}
		return fmt.Sprintf("%s to %s", key(pod), name), err
	}}
}

// makeGuest makes placeholders without a VPod, with their adapter named from the start. Guests of before leave.
func (p *plan) makeGuest() *action {
	node, n := p.number(), 1+p.random.IntN(4)
	first := p.guests
	p.guests += n
	return &action{text: fmt.Sprintf("%d on number %d", n, node), do: func(ctx context.Context, d *driver) (string, error) {
		if err := d.dismissGuests(ctx); err != nil {
			return "", err
		}
		name := d.anyNode(node, func(*corev1.Node) bool { return true })
		pool, _, _ := split(name)
		for i := range n {
			pod := lab.VPod{Namespace: guests, Name: "guest", Pool: pool}.Pod(first + i)
			pod.Spec.NodeName = name
			if err := d.create(ctx, pod); err != nil {
				return "", err
			}
		}
		return "on " + name, nil
	}}
}

// ofNode does something to one of the virtual nodes, by the number that was drawn.
func (p *plan) ofNode(text string, do func(context.Context, *driver, string) error) *action {
	n := p.number()
	return &action{text: fmt.Sprintf("number %d %s", n, text), do: func(ctx context.Context, d *driver) (string, error) {
		name := d.anyNode(n, func(*corev1.Node) bool { return true })
		if name == "" {
			return "", errors.New("there are no virtual nodes")
		}
		return name, do(ctx, d, name)
	}}
}

func (p *plan) deleteNode() *action {
	return p.ofNode("", func(ctx context.Context, d *driver, name string) error {
		d.witness.expect(func(x *expected) { x.deleted[name] = true })
		return d.remove(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
}

func (p *plan) editNode() *action {
	label := func(key, value string) string { return fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, key, value) }
	patch := oneOf(p,
		label(v1alpha1.LabelPool, "null"), label(v1alpha1.LabelPool, `"elsewhere"`), label(v1alpha1.LabelOrdinal, `"0"`),
		label(v1alpha1.LabelHost, "null"), label(corev1.LabelTopologyZone, `"moon"`), label(corev1.LabelTopologyRegion, "null"),
		`{"spec":{"taints":null}}`,
	)
	return p.ofNode(patch, func(ctx context.Context, d *driver, name string) error {
		return d.patch(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, patch)
	})
}

// uncordonNode takes back a cordon that may be the controller's.
func (p *plan) uncordonNode() *action {
	return p.ofNode("", func(ctx context.Context, d *driver, name string) error {
		d.witness.expect(func(x *expected) { x.uncordoned[name] = true })
		return d.cordon(ctx, name, false)
	})
}

func (p *plan) deleteLease() *action {
	return p.ofNode("", func(ctx context.Context, d *driver, name string) error {
		return d.remove(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name}})
	})
}
