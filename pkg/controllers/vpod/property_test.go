package vpod

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

var (
	firstSeed = flag.Uint64("seed", 1, "seed of the first random world")
	worlds    = flag.Int("worlds", 1000, "number of random worlds for each property")
)

// everyWorld checks a property on random worlds, each from a seed of its own.
func everyWorld(t *testing.T, check func(w *world) error) {
	t.Helper()
	t.Parallel()
	for i := range *worlds {
		seed := *firstSeed + uint64(i)
		w := newWorld(rand.New(rand.NewPCG(seed, 0)))
		if err := check(w); err != nil {
			t.Fatalf("%v\n%s\nreproduce: go test ./pkg/controllers/vpod -run '^%s$' -args -seed=%d -worlds=1",
				err, strings.Join(w.history, "\n"), t.Name(), seed)
		}
	}
}

// G5: from any state exactly as many as asked for remain, and nothing is done after that.
func TestAnyStateEndsWithTheNumberAskedFor(t *testing.T) {
	everyWorld(t, func(w *world) error {
		for i := range w.rng.IntN(15) {
			text := fmt.Sprint(i)
			if w.rng.IntN(3) > 0 {
				text += fmt.Sprintf(" @a-%d", w.rng.IntN(6))
			}
			for _, word := range []string{
				[]string{"inherited", "orphan", "stranger"}[w.rng.IntN(3)], "ready", "refused", "failed", "old", "unprofiled", "unlabelled",
			} {
				if w.rng.IntN(6) == 0 {
					text += " " + word
				}
			}
			w.note("%s", text)
			w.pods = append(w.pods, pod(w.vpod, text))
		}
		if err := w.settle(w.always); err != nil {
			return err
		}
		if n := len(w.alive()); n != desired(w.vpod) {
			return fmt.Errorf("there are %d of %d", n, desired(w.vpod))
		}
		return nil
	})
}

// G4, C30: growing removes nothing; shrinking removes exactly the difference, and what waits before what is placed.
func TestScalingMovesNothing(t *testing.T) {
	everyWorld(t, func(w *world) error {
		if err := w.settle(w.always); err != nil {
			return err
		}
		before, was := slices.Clone(w.alive()), desired(w.vpod)
		placed := len(before) - len(filter(before, isWaiting))
		w.vpod.Spec.Replicas = new(int32(w.rng.IntN(12)))
		is := desired(w.vpod)
		w.note("scaled to %d", is)
		if err := w.settle(w.always); err != nil {
			return err
		}
		gone := without(before, w.alive())
		if want := max(0, was-is); len(gone) != want {
			return fmt.Errorf("from %d to %d removed %d", was, is, len(gone))
		}
		if bound := filter(gone, func(p *corev1.Pod) bool { return !isWaiting(p) }); len(bound) > max(0, placed-is) {
			return fmt.Errorf("removed %d that were placed, although %d waited", len(bound), len(before)-placed)
		}
		return nil
	})
}

// C27: a rollout never has more than one more than asked for, never lets go of more than one that is placed before another
// is, and leaves all new, as many placed as before, and as even as the scheduler would place them.
func TestRolloutIsOneByOneAndEndsEven(t *testing.T) {
	everyWorld(t, func(w *world) error {
		if err := w.settle(w.always); err != nil {
			return err
		}
		placed := len(w.tally().placed)
		adapters, zones := w.skew(byAdapter), w.skew(byZone)
		w.vpod.Spec.PriorityClassName = "newer"
		w.note("rollout of %s", w)
		err := w.settle(func() error {
			alive := w.alive()
			bound := len(alive) - len(filter(alive, isWaiting))
			if len(alive) > desired(w.vpod)+1 || bound < placed-1 || len(w.tally().placed) > desired(w.vpod) {
				return fmt.Errorf("%d exist and %d are placed of %d", len(alive), bound, desired(w.vpod))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n := len(w.tally().placed); n != placed {
			return fmt.Errorf("%d are placed, %d were", n, placed)
		}
		if slices.ContainsFunc(w.alive(), func(p *corev1.Pod) bool { return otherPriority(w.vpod, p) }) {
			return fmt.Errorf("not all are new")
		}
		if w.skew(byAdapter) > max(adapters, 1) || w.skew(byZone) > max(zones, 1) {
			return fmt.Errorf("ends %s", w)
		}
		return nil
	})
}

// G4: where others wait for the room that a rollout gives up, it costs one placement at most.
func TestRolloutLosesAtMostOneToOthers(t *testing.T) {
	everyWorld(t, func(w *world) error {
		if err := w.settle(w.always); err != nil {
			return err
		}
		w.fill()
		w.thieves = w.rng.IntN(10)
		placed := len(w.tally().placed)
		w.vpod.Spec.PriorityClassName = "newer"
		w.note("rollout of %s", w)
		return w.settle(func() error {
			if n := len(filter(w.alive(), isAdmitted)); n < placed-1 {
				return fmt.Errorf("%d are placed, %d were", n, placed)
			}
			return nil
		})
	})
}
