package pool

import (
	"strings"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// draining is a pool of three that has begun to go down to two, with five vreplicas to move.
func draining() *scene {
	return pooled(3).want(23).look().hold(9, 9, 5).want(19).look().pass(testDelay)
}

func (s *scene) check(t *testing.T, what string, wantTarget, wantReplicas int32, wantReason, wantWords string) {
	t.Helper()
	message := s.scaled(s.last, s.memory, s.at).Message
	if *s.target != wantTarget || s.replicas != wantReplicas || s.reason != wantReason || !strings.Contains(message, wantWords) {
		t.Errorf("%s: it is %s; want it held at %d, %d replicas, %s: %q", what, s, wantTarget, wantReplicas, wantReason, wantWords)
	}
}

func TestDrainWithoutProgressIsGivenUp(t *testing.T) {
	s := draining()
	s.check(t, "begun", 2, 3, v1alpha1.ReasonDraining, "5 vreplicas are still on x-2")
	s.pass(testPatience - 1)
	s.check(t, "still patient", 2, 3, v1alpha1.ReasonDraining, "")
	s.pass(1)
	s.check(t, "given up", 3, 3, v1alpha1.ReasonDrainBlocked, "3 adapters stay: 5 vreplicas have stayed on x-2 for 2m0s; size 2")
	if !s.last.gaveUp {
		t.Error("it does not say that it gave up")
	}
	s.pass(pauseFirst*testPatience - 1)
	s.check(t, "pause", 3, 3, v1alpha1.ReasonDrainBlocked, "")
	s.pass(1)
	s.check(t, "again", 2, 3, v1alpha1.ReasonDraining, "")
	s.pass(testPatience).check(t, "given up again", 3, 3, v1alpha1.ReasonDrainBlocked, "")
	s.pass(2*pauseFirst*testPatience-1).check(t, "longer pause", 3, 3, v1alpha1.ReasonDrainBlocked, "")
	s.pass(1).check(t, "once more", 2, 3, v1alpha1.ReasonDraining, "")
	s.hold(9, 9, 0).look()
	s.check(t, "empty", 2, 2, v1alpha1.ReasonDraining, "")
	s.look().check(t, "done", 2, 2, v1alpha1.ReasonWantedSize, "size 2")
	if s.pause != (pause{}) {
		t.Errorf("a drain that succeeded leaves the pause %+v", s.pause)
	}
}

func TestDrainWithProgressGoesOn(t *testing.T) {
	s := draining()
	for held := int64(4); held > 0; held-- {
		s.hold(9, 9, held).pass(testPatience-1).check(t, "progress", 2, 3, v1alpha1.ReasonDraining, "still on x-2")
	}
	s.hold(9, 9, 2).pass(testPatience-1).check(t, "a late one", 2, 3, v1alpha1.ReasonDraining, "")
	s.pass(1).check(t, "that is no progress", 3, 3, v1alpha1.ReasonDrainBlocked, "2 vreplicas have stayed")
}

// An adapter that is removed is progress, too.
func TestDrainIsPatientWithEachStep(t *testing.T) {
	s := pooled(4).want(33).look().hold(5, 5, 1, 0).want(11).look().pass(testDelay)
	s.pass(testPatience-1).check(t, "the first goes", 2, 3, v1alpha1.ReasonDraining, "")
	s.pass(testPatience-1).check(t, "the second has its time", 2, 3, v1alpha1.ReasonDraining, "")
	s.pass(testPatience).check(t, "but no more", 3, 3, v1alpha1.ReasonDrainBlocked, "on x-2 for 2m0s")
}

func TestThePauseGrowsToAnEnd(t *testing.T) {
	p := pause{}
	var lengths []string
	for range 8 {
		p = p.next(2, testPatience, now)
		lengths = append(lengths, p.length.String())
	}
	if got, want := strings.Join(lengths, " "), "4m0s 8m0s 16m0s 32m0s 1h0m0s 1h0m0s 1h0m0s 1h0m0s"; got != want {
		t.Errorf("pauses are %s, want %s", got, want)
	}
}

func TestThePauseEndsWhenSomethingElseIsWanted(t *testing.T) {
	s := draining().pass(testPatience)
	s.check(t, "given up", 3, 3, v1alpha1.ReasonDrainBlocked, "")
	s.want(9).look().check(t, "another size", 3, 3, v1alpha1.ReasonScaleDownDelayed, "")
	s.pass(testDelay).check(t, "tried again", 1, 3, v1alpha1.ReasonDraining, "")
	if s.pause != (pause{}) {
		t.Errorf("the pause is %+v", s.pause)
	}
}

// The numbers do not see every rule: vreplicas that wait without end in the middle of a drain may wait for its adapters.
func TestDrainIsGivenUpForVReplicasThatWait(t *testing.T) {
	s := draining().lack(0).change(func(s *scene) { s.waiting = 1 }).look()
	s.hold(9, 9, 4).pass(lackFor-1).check(t, "for a moment", 2, 3, v1alpha1.ReasonDraining, "")
	s.hold(9, 9, 3).pass(1).check(t, "too long", 3, 3, v1alpha1.ReasonDrainBlocked, "1 vreplica waits for room though")
	s.lack().pass(testPatience).check(t, "pause", 3, 3, v1alpha1.ReasonDrainBlocked, "")
}

// Somebody waits at each look at a busy pool, but not for long.
func TestDrainGoesOnWhileOneVReplicaWaitsAfterTheOther(t *testing.T) {
	s := draining()
	for range 5 {
		s.lack(0, time.Second).pass(lackFor-1).check(t, "one after the other", 2, 3, v1alpha1.ReasonDraining, "")
	}
	s.lack(0).look().pass(lackFor).check(t, "the same", 3, 3, v1alpha1.ReasonDrainBlocked, "")
}

// What waits since before the drain does not wait for its adapters. Who did not see it begin does not know that.
func TestDrainGoesOnWhateverWaitedBefore(t *testing.T) {
	s := draining().lack(-time.Second).look()
	s.pass(2*lackFor).check(t, "it waits", 2, 3, v1alpha1.ReasonDraining, "")
	s.restart().look().check(t, "after a restart", 3, 3, v1alpha1.ReasonDrainBlocked, "1 vreplica waits for room though")
}

// Each drain has the whole patience, even one like that which was taken back just before it ran out.
func TestEachDrainHasItsTime(t *testing.T) {
	s := draining().pass(testPatience - 1).want(25).look().want(19).look().pass(testDelay)
	s.check(t, "begun again", 2, 3, v1alpha1.ReasonDraining, "")
	s.pass(testPatience-1).check(t, "still patient", 2, 3, v1alpha1.ReasonDraining, "")
	s.pass(1).check(t, "given up", 3, 3, v1alpha1.ReasonDrainBlocked, "")
}

// An adapter that is empty and still takes vreplicas is about to be cordoned.
func TestDrainThatIsDoneIsNotGivenUp(t *testing.T) {
	s := draining().hold(9, 9, 0).change(func(s *scene) { s.adapters[2].closed = false }).look().
		change(func(s *scene) { s.adapters[2].closed = false }).pass(2 * testPatience)
	s.check(t, "waiting for the cordon", 2, 3, v1alpha1.ReasonDraining, "1 of 3 adapters are to be removed; size 2")
	s.look().check(t, "and then", 2, 2, v1alpha1.ReasonDraining, "")
}

// What replaces a vreplica that is moved waits, too, and ends no drain.
func TestDrainDoesNotWaitForItself(t *testing.T) {
	draining().change(func(s *scene) { s.waiting = 5 }).look().pass(testPatience-1).
		check(t, "moving", 2, 3, v1alpha1.ReasonDraining, "")
}

func TestAPlanThatIsImpossibleIsNotMadeAgainAtOnce(t *testing.T) {
	s := pooled(3).want(23).look().want(19).look().change(func(s *scene) { s.end, s.why = 3, "full" }).pass(testDelay)
	for range 9 {
		s.pass(time.Second)
	}
	s.check(t, "blocked", 3, 3, v1alpha1.ReasonDrainBlocked, "full")
	if s.planned != 1 {
		t.Errorf("it was planned %d times", s.planned)
	}
	s.change(func(s *scene) { s.end, s.why = 0, "" }).pass(time.Second)
	s.check(t, "there is room", 2, 3, v1alpha1.ReasonDraining, "1 of 3 adapters are to be removed; size 2")
	if s.planned != 2 {
		t.Errorf("it was planned %d times", s.planned)
	}
}

// Time alone changes what is decided: then is the time to look.
func TestWhenToLookAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		s    *scene
		want time.Duration
	}{
		"all is well":              {s: pooled(3).want(25).look()},
		"the delay":                {s: pooled(3).want(25).look().want(15).look().pass(20 * time.Second), want: testDelay - 20*time.Second},
		"a drain":                  {s: draining().pass(30 * time.Second), want: testPatience - 30*time.Second},
		"vreplicas that wait":      {s: draining().lack(0).look().pass(time.Second), want: lackFor - time.Second},
		"a pause":                  {s: draining().pass(testPatience).pass(testDelay), want: pauseFirst*testPatience - testDelay},
		"a plan":                   {s: pooled(3).want(25).look().want(15).look().change(func(s *scene) { s.end = 3 }).pass(testDelay).pass(time.Second), want: planAgain - time.Second},
		"pods that are not there":  {s: pooled(3).want(25).change(func(s *scene) { s.missing = []string{"x-1"} }).look().pass(time.Second), want: stuckAfter - time.Second},
		"pods that do not go":      {s: pooled(3).want(25).change(func(s *scene) { s.excess = []string{"x-3"} }).look(), want: stuckAfter},
		"stuck":                    {s: pooled(3).want(25).change(func(s *scene) { s.excess = []string{"x-3"} }).look().pass(time.Hour)},
		"more adapters are coming": {s: pooled(3).want(45).look()},
	} {
		if tc.s.last.after != tc.want {
			t.Errorf("%s: look again after %s, want %s", name, tc.s.last.after, tc.want)
		}
	}
}
