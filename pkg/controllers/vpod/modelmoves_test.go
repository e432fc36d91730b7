package vpod

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
)

// create makes placeholders as far as the quota allows.
func (w *world) create(indices []int) {
	for _, index := range indices {
		if w.quota > 0 && len(w.alive()) >= w.quota {
			w.refusal = w.refusal.after(apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("exceeded quota")), ofCreation, w.now)
			w.refusal.generation, w.refusal.alive = w.vpod.Generation, len(w.alive())
			return
		}
		pod := placeholder(w.vpod, index)
		w.created++
		pod.UID, pod.CreationTimestamp.Time = types.UID(fmt.Sprint(w.created)), w.now
		w.pods = append(w.pods, pod)
	}
	if !w.holdsBack(len(w.alive())) {
		w.refusal = nil
	}
}

// ask is what the budget lets go at least one of, or all.
func (w *world) ask(p plan) []*corev1.Pod {
	if len(p.evict) > 0 && w.budget != nil && (*w.budget == 0 || p.together && *w.budget < len(p.evict)) {
		w.eviction = w.eviction.after(errors.New("no"), ofEviction, w.now)
		return nil
	}
	return p.evict
}

// evict evicts as many as the budget allows.
func (w *world) evict(p plan) []*corev1.Pod {
	n := len(p.evict)
	if w.budget != nil && *w.budget < n {
		n = *w.budget
		w.eviction = w.eviction.after(errors.New("no"), ofEviction, w.now)
	}
	if w.budget != nil {
		*w.budget -= n
	}
	w.pods = without(w.pods, p.evict[:n])
	for _, pod := range p.evict[:n] {
		w.evicted[pod.Name] = true
	}
	return p.evict[:n]
}

// publish writes the status.
func (w *world) publish() { w.vpod.Status = w.status() }

// served is the sum of what is published.
func (w *world) served() int {
	sum := 0
	for _, p := range w.vpod.Status.Placements {
		sum += int(p.VReplicas)
	}
	return sum
}

// pass lets time pass until something is looked at again because of it, and says whether it is. What waits for a budget, a quota
// or the scheduler waits for some minutes at most.
func (w *world) pass() bool {
	after := retry.Soonest(w.wake(), w.retry(), w.eviction.ends(w.now))
	if after == 0 || w.now.Sub(noon) > 10*time.Minute {
		return false
	}
	w.now = w.now.Add(after)
	return true
}

// drain takes some adapters out of use and has them drain, and returns how many vreplicas they serve and how much room the
// others have.
func (w *world) drainSome() (leaving int, room int64) {
	counts := w.counts()
	for _, node := range w.adapters {
		if w.rng.IntN(3) == 0 {
			node.Spec.Unschedulable = true
			node.Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonDraining}
			leaving += counts[node.Name]
		} else {
			room += capacityOf(node) - int64(counts[node.Name])
			if w.rng.IntN(4) == 0 {
				node.Status.Conditions[0].Status = corev1.ConditionFalse
				w.note("%s is not ready", node.Name)
			}
		}
	}
	w.drain()
	w.note("drains %v, %d are leaving, there is room for %d", w.draining, leaving, room)
	return leaving, room
}

// cancel ends the drain.
func (w *world) cancel() {
	for _, node := range w.adapters {
		node.Spec.Unschedulable, node.Annotations = false, nil
	}
	w.drain()
	w.note("cancelled at %s", w)
}
