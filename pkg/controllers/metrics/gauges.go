package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// view is a pool and its StatefulSet; nil: it has none.
type view struct {
	pool *v1alpha1.AdapterPool
	set  *appsv1.StatefulSet
}

// gauge is one number about each pool that has it.
type gauge struct {
	desc *prometheus.Desc
	of   func(view) (value float64, has bool)
}

var gauges = []gauge{
	poolGauge("min_adapters", "The fewest adapters that the autoscaler leaves.", func(v view) (float64, bool) {
		a := v.pool.Spec.Autoscaling
		if a == nil || a.MinReplicas == nil {
			return 0, false
		}
		return float64(*a.MinReplicas), true
	}),
	poolGauge("max_adapters", "The most adapters that the autoscaler makes.", func(v view) (float64, bool) {
		a := v.pool.Spec.Autoscaling
		if a == nil {
			return 0, false
		}
		return float64(a.MaxReplicas), true
	}),
	poolGauge("wanted_adapters", "Adapters that the VPods need, within the bounds of spec.autoscaling.",
		func(v view) (float64, bool) { return optional(v.pool.Status.WantedAdapters) }),
	poolGauge("target_adapters", "Adapters that the StatefulSet is held at: up to what is wanted at once, and down later.",
		func(v view) (float64, bool) { return optional(v.pool.Status.TargetAdapters) }),
	poolGauge("current_adapters", "Replicas of the StatefulSet.",
		func(v view) (float64, bool) { return float64(v.count(func(adapter.ID) bool { return true })), true }),
	poolGauge("draining_adapters", "Adapters that are being emptied, because the pool is to do without them.",
		func(v view) (float64, bool) {
			return float64(v.count(func(id adapter.ID) bool { return id.IsDraining(v.pool, v.set) })), true
		}),
	poolGauge("virtual_nodes", "Virtual nodes: adapters that have or had a host.",
		func(v view) (float64, bool) { return float64(v.pool.Status.Adapters), true }),
	poolGauge("ready_adapters", "Virtual nodes that are ready.",
		func(v view) (float64, bool) { return float64(v.pool.Status.ReadyAdapters), true }),
	poolGauge("capacity_vreplicas", "Vreplicas that adapters which are not cordoned have room for, free or not.",
		func(v view) (float64, bool) { return float64(v.pool.Status.Capacity), true }),
	poolGauge("used_vreplicas", "Vreplicas that are placed on adapters, cordoned ones included.",
		func(v view) (float64, bool) { return float64(v.pool.Status.Used), true }),
}

var (
	waitingDesc = prometheus.NewDesc(poolPrefix+"waiting_vreplicas",
		"Vreplicas without an adapter, by the reason that their VPod gives. Those whose pool does not exist have no pool.",
		[]string{labelPool, labelReason}, nil)
	conditionDesc = prometheus.NewDesc(poolPrefix+"status_condition",
		"1 for each condition of a pool as it is now.",
		[]string{labelPool, "condition", "status", labelReason}, nil)
)

// poolPrefix begins the names of what is told of pools.
const poolPrefix = "vpod_controller_pool_"

func poolGauge(name, help string, of func(view) (float64, bool)) gauge {
	return gauge{desc: prometheus.NewDesc(poolPrefix+name, help, []string{labelPool}, nil), of: of}
}

func optional(n *int32) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}

// count is the number of adapters of the StatefulSet of a kind.
func (v view) count(is func(adapter.ID) bool) int {
	n := 0
	if v.set == nil {
		return n
	}
	for ordinal, end := adapter.Ordinals(v.set); ordinal < end; ordinal++ {
		if is(adapter.ID{Pool: v.pool.Name, Ordinal: ordinal}) {
			n++
		}
	}
	return n
}

// tell reports all that is observed.
func (o observation) tell(values chan<- prometheus.Metric) {
	value := func(desc *prometheus.Desc, n float64, labels ...string) {
		values <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, n, labels...)
	}
	holdings := o.holdings()
	for i := range o.pools {
		v := view{pool: &o.pools[i], set: holdings[o.pools[i].UID]}
		for _, g := range gauges {
			if n, has := g.of(v); has {
				value(g.desc, n, v.pool.Name)
			}
		}
		for _, c := range v.pool.Status.Conditions {
			value(conditionDesc, 1, v.pool.Name, c.Type, string(c.Status), c.Reason)
		}
	}
	for pool, byReason := range o.waiting() {
		for reason, n := range byReason {
			value(waitingDesc, float64(n), pool, reason)
		}
	}
}
