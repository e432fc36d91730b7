package vpod

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// begin settles a world and returns how many vreplicas are served.
func (w *world) begin() (served int, err error) {
	if err := w.settle(w.always); err != nil {
		return 0, err
	}
	w.publish()
	return w.served(), nil
}

// between holds if never fewer were served than some, nor more than are asked for, and never too many existed.
func (w *world) between(fewest int) func() error {
	return func() error {
		if w.budget != nil {
			*w.budget = w.rng.IntN(3)
		}
		if n := w.served(); n < fewest || n > desired(w.vpod) {
			return fmt.Errorf("%d are served, want %d to %d", n, fewest, desired(w.vpod))
		}
		if n := len(w.alive()); n > desired(w.vpod)+surge(desired(w.vpod)) {
			return fmt.Errorf("%d exist of %d", n, desired(w.vpod))
		}
		return nil
	}
}

// ended holds if as many exist as are asked for, as many as are placed are served, and at least so many.
func (w *world) ended(served int) error {
	switch n := len(filter(w.alive(), isAdmitted)); {
	case len(w.alive()) != desired(w.vpod):
		return fmt.Errorf("%d exist of %d", len(w.alive()), desired(w.vpod))
	case n < served || w.served() != n:
		return fmt.Errorf("%d are placed and %d served, want %d", n, w.served(), served)
	}
	return nil
}

// G6: a drain never has fewer served than before, even where others take the room that there was, and PodDisruptionBudgets let
// only some go. Where there is room, it empties its adapters; where it is cancelled instead, no spare one is left.
func TestDrainNeverHasFewerServed(t *testing.T) {
	everyWorld(t, func(w *world) error {
		w.vpod.Spec.MaxAdapters = nil
		served, err := w.begin()
		if err != nil {
			return err
		}
		if w.rng.IntN(2) == 0 {
			w.budget = new(0)
		}
		waited := desired(w.vpod) > served
		leaving, room := w.drainSome()
		thief := w.rng.IntN(4) == 0
		err = w.settle(func() error {
			if thief && w.rng.IntN(8) == 0 {
				w.takeRoom()
			}
			return w.between(served)()
		})
		if err != nil {
			return err
		}
		if !waited && !thief && int64(leaving) <= room {
			if slices.ContainsFunc(w.alive(), w.isLeaving) {
				return fmt.Errorf("some are left: %s", w)
			}
			return w.ended(served)
		}
		w.cancel()
		if err := w.settle(w.between(served)); err != nil {
			return err
		}
		return w.ended(served)
	})
}

// takeRoom has another VPod take the room for one on some adapter.
func (w *world) takeRoom() {
	counts := w.counts()
	for _, i := range w.rng.Perm(len(w.adapters)) {
		node := w.adapters[i]
		taken := w.census.others(node.Name, client.ObjectKeyFromObject(w.vpod))
		if isOpen(node) && capacityOf(node) > int64(counts[node.Name])+taken {
			w.takenByOthers(map[string]int64{node.Name: taken + 1})
			w.note("another takes room on %s", node.Name)
			return
		}
	}
}

// G6: once a drain is cancelled, nothing is evicted any more, at whatever moment that is.
func TestCancelledDrainMovesNoMore(t *testing.T) {
	everyWorld(t, func(w *world) error {
		w.vpod.Spec.MaxAdapters = nil
		served, err := w.begin()
		if err != nil {
			return err
		}
		w.drainSome()
		for range w.rng.IntN(30) {
			if w.rng.IntN(2) == 0 {
				w.control()
			} else {
				w.schedule()
			}
		}
		w.cancel()
		evicted := len(w.evicted)
		if err := w.settle(w.between(served)); err != nil {
			return err
		}
		if len(w.evicted) != evicted {
			return fmt.Errorf("%d were evicted after that", len(w.evicted)-evicted)
		}
		return w.ended(served)
	})
}

// C18: at the adapter limit, and where a quota has no room for a spare one, some go before others are placed: with the quota
// one, with the limit all of an adapter. All of them are served again in the end.
func TestDrainWithinLimitAndQuota(t *testing.T) {
	everyWorld(t, func(w *world) error {
		if w.rng.IntN(2) == 0 {
			w.quota = max(1, desired(w.vpod)-w.rng.IntN(2))
		}
		served, err := w.begin()
		if err != nil {
			return err
		}
		fewest, isLimited := served-1, w.vpod.Spec.MaxAdapters != nil
		if isLimited {
			fewest = served
			for _, n := range w.counts() {
				fewest = min(fewest, served-n)
			}
		}
		waited := desired(w.vpod) > served
		leaving, room := w.drainSome()
		if err := w.settle(w.between(fewest)); err != nil {
			return err
		}
		if n := len(filter(w.alive(), isAdmitted)); n < served {
			return fmt.Errorf("%d are placed in the end, %d were", n, served)
		}
		if !isLimited && !waited && int64(leaving) <= room && slices.ContainsFunc(w.alive(), w.isLeaving) {
			return fmt.Errorf("some are left: %s", w)
		}
		w.cancel()
		if err := w.settle(w.between(fewest)); err != nil {
			return err
		}
		if w.quota > 0 {
			return nil // Some that are asked for may not exist.
		}
		return w.ended(served)
	})
}

// G4: those are moved that are marked, and no others; the marks are gone in the end.
func TestOnlyWhatIsMarkedMoves(t *testing.T) {
	everyWorld(t, func(w *world) error {
		w.vpod.Spec.MaxAdapters = nil
		served, err := w.begin()
		if err != nil {
			return err
		}
		if w.rng.IntN(3) == 0 {
			w.fill() // There is no room for another one.
		}
		if w.rng.IntN(2) == 0 {
			w.budget = new(0)
		}
		stay := w.alive()
		for _, pod := range filter(stay, isAdmitted) {
			if w.rng.IntN(4) == 0 {
				pod.Annotations[v1alpha1.AnnotationMove] = "Test"
				stay = without(stay, []*corev1.Pod{pod})
			}
		}
		w.note("all but %d are to move", len(stay))
		if err := w.settle(w.between(served)); err != nil {
			return err
		}
		if gone := without(filter(stay, isAdmitted), w.alive()); len(gone) > 0 {
			return fmt.Errorf("%s is gone", gone[0].Name)
		}
		if slices.ContainsFunc(w.alive(), isToMove) {
			return fmt.Errorf("marks are left")
		}
		return w.ended(served)
	})
}
