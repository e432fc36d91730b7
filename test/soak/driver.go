package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/test/lab"
)

// patience is how long anything may take: the longest that a program waits for another one is a minute.
const patience = 3 * time.Minute

// driver does to the cluster what the plan says.
type driver struct {
	*lab.Lab
	witness *Witness
	teams   map[string][]*replica
	// restarts are when the API server had started again.
	restarts []time.Time
}

// create makes an object, and tries until it is there: the API server may be away.
func (d *driver) create(ctx context.Context, o client.Object) error {
	return lab.Wait(ctx, "create "+key(o), func(ctx context.Context) error {
		return client.IgnoreAlreadyExists(d.Objects().Create(ctx, o.DeepCopyObject().(client.Object)))
	})
}

// patch changes an object, or a subresource of it. It may be gone before.
func (d *driver) patch(ctx context.Context, o client.Object, patch string, subresource ...string) error {
	merge := client.RawPatch(types.MergePatchType, []byte(patch))
	return lab.Wait(ctx, fmt.Sprintf("patch %T %s", o, key(o)), func(ctx context.Context) error {
		if len(subresource) == 0 {
			return client.IgnoreNotFound(d.Objects().Patch(ctx, o, merge))
		}
		answer := o
		if subresource[0] == "scale" {
			answer = &autoscalingv1.Scale{}
		}
		into := client.WithSubResourceBody(answer)
		return client.IgnoreNotFound(d.Objects().SubResource(subresource[0]).Patch(ctx, o, merge, into))
	})
}

func (d *driver) remove(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	return lab.Wait(ctx, fmt.Sprintf("delete %T %s", o, key(o)), func(ctx context.Context) error {
		return client.IgnoreNotFound(d.Objects().Delete(ctx, o, options...))
	})
}

// cordon does what kubectl does: nothing if the node is so already.
func (d *driver) cordon(ctx context.Context, name string, cordoned bool) error {
	return lab.Wait(ctx, "cordon "+name, func(ctx context.Context) error {
		node := &corev1.Node{}
		if err := d.Objects().Get(ctx, client.ObjectKey{Name: name}, node); err != nil || node.Spec.Unschedulable == cordoned {
			return client.IgnoreNotFound(err)
		}
		was := node.DeepCopy()
		node.Spec.Unschedulable = cordoned
		patch := client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})
		return client.IgnoreNotFound(d.Objects().Patch(ctx, node, patch))
	})
}

// startHost brings a host back, and says what its kubelet would say of the pods there: kwok does not see that they were
// declared not ready.
func (d *driver) startHost(ctx context.Context, name string) error {
	if err := d.StartHost(ctx, name); err != nil {
		return err
	}
	if err := d.WaitForHost(ctx, name, true); err != nil {
		return err
	}
	return lab.Wait(ctx, "the pods on "+name+" are ready", func(ctx context.Context) error {
		var errs []error
		for _, p := range d.witness.world().pods {
			if p.Spec.NodeName == name && isAlive(p) && p.Status.Phase == corev1.PodRunning && !isPodReady(p) {
				errs = append(errs, fmt.Errorf("%s was not", key(p)), client.IgnoreNotFound(d.saysReady(ctx, p)))
			}
		}
		return errors.Join(errs...)
	})
}

func (d *driver) saysReady(ctx context.Context, p *corev1.Pod) error {
	patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339))
	_, err := d.Client().CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// anyPlaceholder counts off one of those for which holds is true; nil if there are none.
func (d *driver) anyPlaceholder(number int, holds func(*corev1.Pod) bool) *corev1.Pod {
	pods := slices.DeleteFunc(d.witness.world().pods, func(p *corev1.Pod) bool { return !isPlaceholder(p) || !holds(p) })
	if len(pods) == 0 {
		return nil
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(key(a), key(b)) })
	return pods[number%len(pods)]
}

// anyNode counts off one of the virtual nodes; "" if there are none.
func (d *driver) anyNode(number int, holds func(*corev1.Node) bool) string {
	nodes := d.witness.world().nodes
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(nodes)), func(name string) bool {
		return !isVirtual(nodes[name]) || !holds(nodes[name])
	})
	if len(names) == 0 {
		return ""
	}
	return names[number%len(names)]
}

// dismissGuests deletes the placeholders that were made by hand.
func (d *driver) dismissGuests(ctx context.Context) error {
	for _, p := range d.witness.world().pods {
		if p.Namespace != guests {
			continue
		}
		d.witness.expect(func(x *expected) { x.pods[p.UID] = true })
		if err := d.remove(ctx, p.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until all is as it has to be, and judges what has happened meanwhile. It tells what it waited for.
func (d *driver) settle(ctx context.Context) (waited []string, err error) {
	began, last := time.Now(), ""
	err = lab.Wait(ctx, "all is as promised", func(ctx context.Context) error {
		err := d.look(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			waited = append(waited, fmt.Sprintf("%.1f s: %s", time.Since(began).Seconds(), last))
		}
		return err
	})
	if err != nil {
		d.witness.judge(math.MaxUint64 - 1)
	}
	d.witness.settled()
	return waited, err
}

// look says what is not as it has to be.
func (d *driver) look(ctx context.Context) error {
	if err := check(d.witness.world()).err(); err != nil {
		return err // Nobody needs to be asked.
	}
	now, known, err := readWorld(ctx, d.Objects())
	if err != nil {
		return err
	}
	if err := d.witness.sees(now); err != nil {
		return err
	}
	d.witness.judge(known)
	now.notReady = d.witness.notReady()
	return check(now).err()
}

// err is nil if there are no findings.
func (f findings) err() error {
	if len(f) == 0 {
		return nil
	}
	const most, longest = 6, 250
	var lines []string
	for _, line := range f[:min(most, len(f))] {
		lines = append(lines, line[:min(longest, len(line))])
	}
	if len(f) > most {
		lines = append(lines, fmt.Sprintf("and %d more", len(f)-most))
	}
	return errors.New(strings.Join(lines, "\n"))
}
