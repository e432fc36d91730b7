package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Created counts placeholders that were created.
func Created(n int) { created.Add(float64(n)) }

// Removed counts placeholders that were removed to scale down, or to replace them.
func Removed(n int) { removed.Add(float64(n)) }

// Published counts a status of a VPod that was written.
func Published() { published.Inc() }

// Evicted counts a vreplica that was taken off its adapter for a cause: v1alpha1.CordonLost, CordonRemoved, CordonDraining
// or MoveRebalance, or one word for all others. What users write must not become a label.
func Evicted(pool, cause string) { moved.WithLabelValues(of(pool), cause).Inc() }

// Rejected counts vreplicas that were failed on their adapter, for one of the reasons of v1alpha1 that begin with Pod.
func Rejected(pool, reason string, vreplicas int64) {
	rejected.WithLabelValues(of(pool), reason).Add(float64(vreplicas))
}

// Admitted tells how long a placeholder waited from its creation on.
func Admitted(pool string, waited time.Duration) {
	placementDuration.WithLabelValues(of(pool)).Observe(max(0, waited).Seconds())
}

// Scaled counts a change of the number of replicas of a pool's StatefulSet that was written.
func Scaled(pool string, from, to int32) {
	switch {
	case to > from:
		scaleWrites.WithLabelValues(of(pool), directionUp).Inc()
	case to < from:
		scaleWrites.WithLabelValues(of(pool), directionDown).Inc()
	}
}

// DrainStarted counts a drain: adapters of the pool are to be emptied, where none were before.
func DrainStarted(pool string) { drainsStarted.WithLabelValues(of(pool)).Inc() }

// DrainFinished counts a drain that is over, because its adapters were empty and are removed.
func DrainFinished(pool string) { drainsFinished.WithLabelValues(of(pool)).Inc() }

// DrainBlocked counts a drain that was given up for a while.
func DrainBlocked(pool string) { drainsBlocked.WithLabelValues(of(pool)).Inc() }

// counters are all that count, as opposed to what is looked up.
func counters() []prometheus.Collector {
	return []prometheus.Collector{
		created, removed, published,
		moved, rejected, scaleWrites, drainsStarted, drainsFinished, drainsBlocked, placementDuration,
	}
}

// counted are the pools that there are counts of.
var counted sync.Map

// of remembers that there are counts of a pool, and returns its name.
func of(pool string) string {
	counted.Store(pool, nil)
	return pool
}

// keep forgets the counts of all pools but these. It has them begin at 0: of a count that is not there until it is 1, no
// query sees that it grew.
func keep(pools map[string]bool) {
	counted.Range(func(key, _ any) bool {
		if pool := key.(string); !pools[pool] {
			counted.Delete(pool)
			forget(pool)
		}
		return true
	})
	for pool := range pools {
		begin(pool)
	}
}

func forget(pool string) {
	labels := prometheus.Labels{labelPool: pool}
	for _, vec := range []*prometheus.CounterVec{moved, rejected, scaleWrites, drainsStarted, drainsFinished, drainsBlocked} {
		vec.DeletePartialMatch(labels)
	}
	placementDuration.DeletePartialMatch(labels)
}

// begin makes the counts of a pool that are not there yet 0. The values of the other labels are known beforehand.
func begin(pool string) {
	for _, cause := range []string{
		v1alpha1.CordonLost, v1alpha1.CordonRemoved, v1alpha1.CordonDraining, v1alpha1.MoveRebalance,
	} {
		moved.WithLabelValues(of(pool), cause)
	}
	for _, reason := range []string{v1alpha1.PodOutOfVReplicas, v1alpha1.PodAdapterDraining, v1alpha1.PodOtherPool} {
		rejected.WithLabelValues(pool, reason)
	}
	for _, direction := range []string{directionUp, directionDown} {
		scaleWrites.WithLabelValues(pool, direction)
	}
	for _, drains := range []*prometheus.CounterVec{drainsStarted, drainsFinished, drainsBlocked} {
		drains.WithLabelValues(pool)
	}
	placementDuration.WithLabelValues(pool)
}
