package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// autoPlan is how a pool is autoscaled.
type autoPlan struct {
	off      bool
	min, max int
	// delay is in seconds.
	delay int
}

// scaling is what happens to pools that are scaled, or evened out, by themselves, and to what keeps them from it.
func scaling() []kind {
	return []kind{
		{"change the bounds of a pool", 6, (*plan).changeBounds},
		{"switch autoscaling", 3, (*plan).switchAutoscaling},
		{"scale an autoscaled StatefulSet", 5, (*plan).scaleAutoscaled},
		{"switch rebalancing", 3, (*plan).switchRebalancing},
		{"make a budget", 5, (*plan).makeBudget},
		{"drop a budget", 4, (*plan).dropBudget},
		{"kill the controller amid a drain", 4, (*plan).killAmidDrain},
		{"let nothing happen", 4, (*plan).rest},
	}
}

func isAutoscaled(pool *poolPlan) bool { return pool.auto != nil }

func (a autoPlan) spec() *v1alpha1.Autoscaling {
	mode := v1alpha1.AutoscalingAuto
	if a.off {
		mode = v1alpha1.AutoscalingOff
	}
	return &v1alpha1.Autoscaling{
		Mode: mode, MinReplicas: new(int32(a.min)), MaxReplicas: int32(a.max), ScaleUpUnit: v1alpha1.ScaleUpUnitNone,
		ScaleDownDelay: &metav1.Duration{Duration: time.Duration(a.delay) * time.Second},
	}
}

func (a autoPlan) String() string {
	return fmt.Sprintf("%s from %d to %d, delay %d s", a.spec().Mode, a.min, a.max, a.delay)
}

func rebalance(on bool) *v1alpha1.Descheduling {
	mode := v1alpha1.RebalanceOff
	if on {
		mode = v1alpha1.RebalanceOn
	}
	return &v1alpha1.Descheduling{Rebalance: &v1alpha1.Rebalance{Mode: mode, EvictionsPerMinute: new(int32(60))}}
}

// respec writes a part of the pool's spec.
func (pool *poolPlan) respec(text, field string, to any) *action {
	value, err := json.Marshal(to)
	if err != nil {
		panic(err) // It is one of our own types.
	}
	o := &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: pool.name}}
	return patchAction(o, pool.name+" "+text, fmt.Sprintf(`{"spec":{%q:%s}}`, field, value))
}

func (p *plan) changeBounds() *action {
	pool := p.anyPool(isAutoscaled)
	switch a := pool.auto; p.random.IntN(4) {
	case 0:
		a.min = p.random.IntN(min(5, a.max+1))
	case 1:
		a.delay = oneOf(p, 0, 2, 3, 5)
	default:
		a.max = max(1, a.min, p.random.IntN(mostWanted+1))
	}
	return pool.respec(pool.auto.String(), "autoscaling", pool.auto.spec())
}

// switchAutoscaling has it off for a while.
func (p *plan) switchAutoscaling() *action {
	pool := p.anyPool(isAutoscaled)
	pool.auto.off = !pool.auto.off
	return pool.respec(pool.auto.String(), "autoscaling", pool.auto.spec())
}

// scaleAutoscaled sets by hand what is not a person's to set, unless autoscaling is off.
func (p *plan) scaleAutoscaled() *action {
	pool := p.anyPool(isAutoscaled)
	pool.replicas = 1 + p.random.IntN(mostWanted)
	return pool.scale()
}

func (p *plan) switchRebalancing() *action {
	pool := p.pool()
	pool.rebalances = !pool.rebalances
	return pool.respec(fmt.Sprintf("rebalances: %t", pool.rebalances), "descheduling", rebalance(pool.rebalances))
}

// killAmidDrain has the VPods of a pool ask for half of what they have, and kills the leader as soon as adapters are drained.
func (p *plan) killAmidDrain() *action {
	pool := p.anyPool(isAutoscaled)
	pool.auto.off = false
	delay := time.Duration(pool.auto.delay) * time.Second
	all := []*action{pool.respec(pool.auto.String(), "autoscaling", pool.auto.spec())}
	for _, name := range slices.Sorted(maps.Keys(p.vpods)) {
		if v := p.vpods[name]; v.pool == pool.name && v.replicas > 1 {
			v.replicas /= 2
			all = append(all, v.resize())
		}
	}
	halve := inARow(all)
	return &action{text: halve.text, do: func(ctx context.Context, d *driver) (string, error) {
		r, err := d.member(ctx, controller, true)
		if err != nil {
			return "", err
		}
		if _, err := halve.do(ctx, d); err != nil {
			return "", err
		}
		drains := d.drains(ctx, pool, delay+5*time.Second)
		r.Kill()
		return fmt.Sprintf("%s, amid a drain: %t", r.name, drains), nil
	}}
}

// drains waits until adapters of a pool are drained, but no longer than it may take.
func (d *driver) drains(ctx context.Context, pool *poolPlan, atMost time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	return lab.Wait(ctx, pool.name+" is drained", func(context.Context) error {
		w := d.witness.world()
		if is := w.pools[pool.name]; is == nil || len(w.drained(is)) == 0 {
			return errors.New("it is not")
		}
		return nil
	}) == nil
}

const (
	// quietFor is how long nothing is done to see that nothing moves then, once what was on its way has had its time.
	quietFor = 4 * time.Second
	onItsWay = 2 * time.Second
)

// rest has nobody do anything for a while. What is placed has come to rest, so nothing may move.
func (p *plan) rest() *action {
	return &action{text: quietFor.String(), do: func(ctx context.Context, d *driver) (string, error) {
		if err := pass(ctx, onItsWay); err != nil {
			return "", err
		}
		if err := d.look(ctx); err != nil {
			return "it had not come to rest: " + err.Error(), nil
		}
		for _, pool := range d.witness.world().pools {
			if isBlocked(pool) {
				return "a drain is to be tried again", nil
			}
		}
		d.witness.expect(func(x *expected) { x.rest = true })
		return "", pass(ctx, quietFor)
	}}
}

// pass lets time pass.
func pass(ctx context.Context, long time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(long):
		return nil
	}
}
