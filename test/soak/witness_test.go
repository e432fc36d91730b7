package soak

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// testWitness has heard of testWorld, at versions from 1 on.
func testWitness() *Witness {
	w := emptyWitness()
	for _, o := range testHistoryOrder() {
		w.hears(o)
	}
	w.judge(1000)
	w.settled()
	return w
}

// hears tells the witness of a write, at the next version, or at the one that is given.
func (w *Witness) hears(o client.Object, version ...int) client.Object {
	at := len(w.current) + 1
	if len(version) > 0 {
		at = version[0]
	}
	o.SetResourceVersion(fmt.Sprint(at))
	w.hear(o)
	return o
}

// Informers tell of each kind by itself: a vreplica that is served may be heard of before the capacity that it needed.
func TestWitnessJudgesInTheOrderOfWrites(t *testing.T) {
	w := testWitness()
	w.hears(asksFor(5), 101)
	w.hears(testPlaceholder(3, "p-0"), 103)
	w.hears(testPlaceholder(4, "p-0"), 105)
	w.judge(102)
	w.hears(room(4), 104)
	w.judge(1000)
	if breaches, _ := w.report(); len(breaches) > 0 {
		t.Errorf("found:\n%s", strings.Join(breaches, "\n"))
	}

	w = testWitness()
	w.hears(asksFor(5), 101)
	w.hears(room(4), 105)
	w.hears(testPlaceholder(3, "p-0"), 103)
	w.hears(testPlaceholder(4, "p-0"), 104)
	w.judge(1000)
	if breaches, _ := w.report(); len(breaches) != 1 || !strings.HasPrefix(breaches[0], "G1") {
		t.Errorf("found:\n%s\nwant the one that was served too early", strings.Join(breaches, "\n"))
	}
}

// An informer that missed the end of a pod, and the beginning of the next one of the same name, tells of a change.
func TestWitnessTellsAPodFromItsSuccessor(t *testing.T) {
	w := testWitness()
	var was *corev1.Pod
	for _, p := range w.world().pods {
		if p.Name == "x-vreplica-0" {
			was = p
		}
	}
	is := testPlaceholder(0, "p-1")
	is.UID, is.ResourceVersion = types.UID("another"), "101"
	w.expect(func(x *expected) { x.pods[was.UID] = true })
	w.hearAgain(was, is)
	w.judge(1000)
	w.settled()
	breaches, tally := w.report()
	if len(breaches) > 0 || tally.moved["by hand"] != 1 {
		t.Errorf("moved %v; found:\n%s", tally.moved, strings.Join(breaches, "\n"))
	}
}

func TestWitnessKnowsWhatItHasNotHeard(t *testing.T) {
	w := testWitness()
	if err := w.sees(w.world()); err != nil {
		t.Errorf("it has not heard of what it told itself: %v", err)
	}
	for name, tc := range map[string]struct {
		hears func()
		want  string
	}{
		"a change": {func() { w.hears(asksFor(4), 201) }, "*v1alpha1.VPod ns/x has just changed"},
		"one more": {func() { w.hears(testPlaceholder(7, ""), 202) }, "there are"},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.world()
			tc.hears()
			if err := w.sees(before); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
