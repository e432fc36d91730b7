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
		if p = p.notice(noon.Add(now)); p.wait(change, noon.Add(now)) == 0 {
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
		"at once":                       {placed: 0, ready: 0, want: []float64{0}},
		"within 1 s":                    {placed: s, ready: s, want: []float64{0, 1}},
		"within 8 s":                    {placed: 8 * s, ready: 8 * s, want: []float64{0, 2, 8}},
		"within 22 s":                   {placed: 22 * s, ready: 22 * s, want: []float64{0, 2, 8, 22}},
		"within 38 s":                   {placed: 38 * s, ready: 38 * s, want: []float64{0, 2, 8, 23, 38}},
		"within 60 s":                   {placed: 60 * s, ready: 60 * s, want: []float64{0, 2, 8, 23, 38, 53, 60}},
		"at once, and ready one by one": {placed: 0, ready: 44 * s, want: []float64{0, 15, 30, 44}},
		"within 7 s, and the same":      {placed: 7 * s, ready: 30 * s, want: []float64{0, 2, 17, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, writes(tc.placed, tc.ready)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPaceStartsAnewAfterQuiet(t *testing.T) {
	at := func(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }
	// Three writes, and a change that waits at 5 s.
	p := pace{}
	for _, now := range []float64{0, 1, 2} {
		p = p.notice(at(now)).wrote(at(now))
	}
	p = p.notice(at(5))
	for name, tc := range map[string]struct {
		change weight
		now    float64
		want   time.Duration
	}{
		"a minor change":       {change: minor, now: 5, want: 12 * time.Second},
		"a major one":          {change: major, now: 5, want: 12 * time.Second},
		"trouble":              {change: trouble, now: 3, want: time.Second},
		"an urgent one":        {change: urgent, now: 5},
		"after 9 s of quiet":   {change: major, now: 14, want: 3 * time.Second},
		"after 10 s of quiet":  {change: major, now: 15},
		"a minor one then":     {change: minor, now: 15, want: 2 * time.Second},
		"after the whole time": {change: minor, now: 17},
	} {
		if got := p.notice(at(tc.now)).wait(tc.change, at(tc.now)); got != tc.want {
			t.Errorf("%s waits %v, want %v", name, got, tc.want)
		}
	}
	if got := p.notice(at(15)).wrote(at(15)).notice(at(16)).wait(major, at(16)); got != time.Second {
		t.Errorf("after a first write the next waits %v", got)
	}
	if got := (pace{}).notice(noon).wait(minor, noon); got != 0 {
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
	scheduled := func(status metav1.ConditionStatus, reason string) func(*v1alpha1.VPodStatus) {
		return func(s *v1alpha1.VPodStatus) {
			s.Conditions = append(s.Conditions, condition(v1alpha1.ConditionScheduled, status, reason, ""))
		}
	}
	all, waits := scheduled("True", v1alpha1.ReasonAllScheduled), scheduled("False", v1alpha1.ReasonScheduling)
	full, limited := scheduled("False", v1alpha1.ReasonNoRoom), scheduled("False", v1alpha1.ReasonAdapterLimit)
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
		"no room":              {was: status(waits), is: status(full), want: trouble},
		"no room any more":     {was: status(all), is: status(full), want: trouble},
		"another trouble":      {was: status(full), is: status(limited), want: trouble},
		"the same trouble":     {was: status(full), is: status(full), want: minor},
		"trouble is over":      {was: status(full), is: status(waits), want: major},
		"all are placed":       {was: status(waits), is: status(all), want: major},
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
