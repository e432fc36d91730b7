package soak

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// wishes are what tenants do.
func wishes() []kind {
	return []kind{
		{"create a VPod", 7, (*plan).createVPod},
		{"scale a VPod", 18, (*plan).scaleVPod},
		{"scale a VPod to 0", 2, (*plan).emptyVPod},
		{"delete a VPod", 5, (*plan).deleteVPod},
		{"replace a VPod", 2, (*plan).replaceVPod},
		{"limit a VPod", 6, (*plan).limitVPod},
		{"reclass a VPod", 3, (*plan).reclassVPod},
		{"change the profile of a VPod", 2, (*plan).reprofileVPod},
	}
}

// opening is what a run begins with.
func (p *plan) opening() action {
	var all []*action
	for range (fewestVPods + mostVPods) / 2 {
		all = append(all, p.createVPod())
	}
	row := inARow(all)
	row.kind = "begin"
	return *row
}

// burst is several wishes at once.
func (p *plan) burst() action {
	var all []*action
	for range 2 + p.random.IntN(3) {
		a := p.draw(wishes())
		all = append(all, &a)
	}
	return *inARow(all)
}

// inARow is all of the actions as one.
func inARow(all []*action) *action {
	row := &action{text: all[0].text}
	for _, a := range all[1:] {
		row.text += ", " + a.text
	}
	row.do = func(ctx context.Context, d *driver) (string, error) {
		var details []string
		for _, a := range all {
			detail, err := a.do(ctx, d)
			if err != nil {
				return strings.Join(details, ", "), fmt.Errorf("%s: %w", a.text, err)
			}
			if detail != "" {
				details = append(details, detail)
			}
		}
		return strings.Join(details, ", "), nil
	}
	return row
}

func (p *plan) createVPod() *action {
	if len(p.vpods) >= mostVPods {
		return nil
	}
	v := &vpodPlan{
		namespace: oneOf(p, namespaces...), pool: p.pool().name, replicas: p.random.IntN(9),
		limit:         max(0, p.random.IntN(7)-3),
		class:         oneOf(p, "", "", "", "low", "high", "patient"),
		schedulerName: oneOf(p, v1alpha1.SchedulerName, v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp),
	}
	for i := p.random.IntN(2 * mostVPods); v.name == ""; i++ {
		if name := fmt.Sprintf("v%02d", i%(2*mostVPods)); p.vpods[name] == nil {
			v.name = name
		}
	}
	p.vpods[v.name] = v
	return &action{text: "create " + v.String(), do: v.create()}
}

func (v *vpodPlan) String() string {
	return fmt.Sprintf("%s/%s of %s: %d, limit %d, class %q, %s", v.namespace, v.name, v.pool, v.replicas, v.limit, v.class, v.schedulerName)
}

func (v vpodPlan) object() *v1alpha1.VPod {
	o := &v1alpha1.VPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.namespace, Name: v.name},
		Spec: v1alpha1.VPodSpec{
			Replicas: new(int32(v.replicas)), PoolName: v.pool, PriorityClassName: v.class, SchedulerName: v.schedulerName,
		},
	}
	if v.limit > 0 {
		o.Spec.MaxAdapters = new(int32(v.limit))
	}
	return o
}

// create takes the VPod as it is now.
func (v vpodPlan) create() func(context.Context, *driver) (string, error) {
	return func(ctx context.Context, d *driver) (string, error) { return "", d.create(ctx, v.object()) }
}

func (p *plan) scaleVPod() *action {
	v := p.anyVPod()
	if v == nil {
		return nil
	}
	v.replicas = max(0, p.random.IntN(14)-1)
	return v.resize()
}

// resize writes the number of replicas that is planned.
func (v *vpodPlan) resize() *action {
	return v.edit(fmt.Sprintf("to %d", v.replicas), fmt.Sprintf(`{"spec":{"replicas":%d}}`, v.replicas), "scale")
}

func (p *plan) emptyVPod() *action {
	v := p.anyVPod()
	if v == nil {
		return nil
	}
	v.replicas = 0
	return v.edit("to 0", `{"spec":{"replicas":0}}`)
}

func (p *plan) limitVPod() *action {
	v := p.anyVPod()
	if v == nil {
		return nil
	}
	v.limit = max(0, p.random.IntN(6)-1)
	if v.limit == 0 {
		return v.edit("without limit", `{"spec":{"maxAdapters":null}}`)
	}
	return v.edit(fmt.Sprintf("limit %d", v.limit), fmt.Sprintf(`{"spec":{"maxAdapters":%d}}`, v.limit))
}

func (p *plan) reclassVPod() *action {
	v := p.anyVPod()
	if v == nil {
		return nil
	}
	v.class = oneOf(p, "", "low", "high", "patient")
	return v.edit(fmt.Sprintf("class %q", v.class), fmt.Sprintf(`{"spec":{"priorityClassName":%q}}`, v.class))
}

func (p *plan) reprofileVPod() *action {
	v := p.anyVPod()
	if v == nil {
		return nil
	}
	v.schedulerName = oneOf(p, v1alpha1.SchedulerName, v1alpha1.SchedulerNameMaxFillUp)
	return v.edit(v.schedulerName, fmt.Sprintf(`{"spec":{"schedulerName":%q}}`, v.schedulerName))
}

func (v *vpodPlan) edit(what, patch string, subresource ...string) *action {
	o := v.object()
	return &action{text: v.name + " " + what, do: func(ctx context.Context, d *driver) (string, error) {
		return "", d.patch(ctx, o.DeepCopy(), patch, subresource...)
	}}
}

func (p *plan) deleteVPod() *action {
	if len(p.vpods) <= fewestVPods {
		return nil
	}
	v, policy := p.anyVPod(), oneOf(p, metav1.DeletePropagationBackground, metav1.DeletePropagationForeground)
	delete(p.vpods, v.name)
	o := v.object()
	return &action{text: fmt.Sprintf("delete %s, %s", v.name, policy), do: func(ctx context.Context, d *driver) (string, error) {
		return "", d.remove(ctx, o.DeepCopy(), client.PropagationPolicy(policy))
	}}
}

// replaceVPod deletes a VPod and at once creates another one of the same name.
func (p *plan) replaceVPod() *action {
	v := p.anyVPod()
	if v == nil {
		return nil
	}
	old := v.object()
	v.pool, v.replicas = p.pool().name, p.random.IntN(9)
	create := v.create()
	return &action{text: "replace " + v.String(), do: func(ctx context.Context, d *driver) (string, error) {
		err := d.remove(ctx, old.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil {
			return "", err
		}
		return create(ctx, d)
	}}
}
