package vpod

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// writes are the seconds, from the first change on, at which a status is written that has major changes all the time until
// all are placed, then minor ones until all are ready, which is urgent.
func writes(placed, ready time.Duration) []float64 {
	const tick = 100 * time.Millisecond
	var p pace
	var at []float64
	for now := time.Duration(0); now <= ready; now += tick {
		change := major
		switch {
		case now == ready:
			change = urgent
		case now > placed:
			change = minor
		}
		if p.wait(change, noon.Add(now)) == 0 {
			p = p.wrote(noon.Add(now))
			at = append(at, now.Seconds())
		}
	}
	return at
}

// C44: at most 5 writes for a vpod while its vreplicas bind.
func TestPace_C44(t *testing.T) {
	const s = time.Second
	for name, tc := range map[string]struct {
		placed, ready time.Duration
		want          []float64
	}{
		"at once":                          {placed: 0, ready: 0, want: []float64{0}},
		"within 1 s":                       {placed: s, ready: s, want: []float64{0, 1}},
		"within 8 s":                       {placed: 8 * s, ready: 8 * s, want: []float64{0, 2, 6, 8}},
		"within 22 s":                      {placed: 22 * s, ready: 22 * s, want: []float64{0, 2, 6, 14, 22}},
		"within 40 s":                      {placed: 40 * s, ready: 40 * s, want: []float64{0, 2, 6, 14, 22, 30, 38, 40}},
		"at once, and ready one by one":    {placed: 0, ready: 44 * s, want: []float64{0, 15, 30, 44}},
		"within 8 s and ready one by one":  {placed: 8 * s, ready: 30 * s, want: []float64{0, 2, 6, 21, 30}},
		"within 14 s and ready one by one": {placed: 14 * s, ready: 29 * s, want: []float64{0, 2, 6, 14, 29}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, writes(tc.placed, tc.ready)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPaceStartsAnewAfterQuiet(t *testing.T) {
	p := pace{}.wrote(noon).wrote(noon.Add(time.Second)).wrote(noon.Add(2 * time.Second))
	for after, want := range map[time.Duration]map[weight]time.Duration{
		0:                {major: 8 * time.Second, minor: 15 * time.Second},
		5 * time.Second:  {major: 3 * time.Second, minor: 10 * time.Second},
		8 * time.Second:  {major: 0, minor: 7 * time.Second},
		15 * time.Second: {major: 0, minor: 0},
	} {
		for change, want := range want {
			if got := p.wait(change, noon.Add(2*time.Second+after)); got != want {
				t.Errorf("after %v of quiet a change of weight %d waits %v, want %v", after, change, got, want)
			}
		}
	}
	// After a quiet time the second write waits as briefly as at first, after a short one as long as before.
	for after, want := range map[time.Duration]time.Duration{10 * time.Second: paceFirst, 9 * time.Second: paceMost} {
		now := noon.Add(2*time.Second + after)
		if got := p.wrote(now).wait(major, now); got != want {
			t.Errorf("a write after %v is followed by a pause of %v, want %v", after, got, want)
		}
	}
	if got := (pace{}).wait(minor, noon); got != 0 {
		t.Errorf("the first write of all waits %v", got)
	}
}

func TestWeigh(t *testing.T) {
	status := func(edits ...func(*v1alpha1.VPodStatus)) v1alpha1.VPodStatus {
		s := v1alpha1.VPodStatus{
			ObservedGeneration: 7, Replicas: 3, ScheduledReplicas: 3,
			Placements: []v1alpha1.Placement{{PodName: "s-0", VReplicas: 2}, {PodName: "s-1", VReplicas: 1}},
		}
		for _, edit := range edits {
			edit(&s)
		}
		return s
	}
	says := func(status metav1.ConditionStatus, reason, message string) func(*v1alpha1.VPodStatus) {
		return func(s *v1alpha1.VPodStatus) {
			s.Conditions = append(s.Conditions, condition(v1alpha1.ConditionReady, status, reason, message))
		}
	}
	ready, unready := says("True", v1alpha1.ReasonAllReady, ""), says("False", v1alpha1.ReasonAdaptersNotReady, "s-0")
	for name, tc := range map[string]struct {
		was, is v1alpha1.VPodStatus
		want    weight
	}{
		"one more exists":      {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.Replicas++ }), want: minor},
		"another is not ready": {was: status(unready), is: status(says("False", v1alpha1.ReasonAdaptersNotReady, "s-1")), want: minor},
		"one more is placed":   {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.Placements[1].VReplicas++ }), want: major},
		"another adapter more": {was: status(func(s *v1alpha1.VPodStatus) { s.Placements = s.Placements[:1] }), is: status(), want: major},
		"one less is ready":    {was: status(ready), is: status(unready), want: major},
		"for another reason":   {was: status(unready), is: status(says("False", v1alpha1.ReasonNotScheduled, "s-0")), want: major},
		"another spec":         {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.ObservedGeneration++ }), want: urgent},
		"all are ready":        {was: status(unready), is: status(ready), want: urgent},
		"one less is placed":   {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.Placements[0].VReplicas-- }), want: urgent},
		"an adapter is gone":   {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.Placements = s.Placements[:1] }), want: urgent},
	} {
		t.Run(name, func(t *testing.T) {
			if got := weigh(tc.was, tc.is); got != tc.want {
				t.Errorf("weight %d, want %d", got, tc.want)
			}
		})
	}
}
