package vpod

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// writes are the seconds, from the first change on, at which a status is written that changes all the time until the last
// change, which is urgent.
func writes(last time.Duration) []float64 {
	const tick = 100 * time.Millisecond
	var p pace
	var at []float64
	for now := time.Duration(0); now <= last; now += tick {
		if p.wait(noon.Add(now)) == 0 || now == last {
			p = p.wrote(noon.Add(now))
			at = append(at, now.Seconds())
		}
	}
	return at
}

// C44: at most 5 writes for a vpod while its vreplicas bind.
func TestPace_C44(t *testing.T) {
	for name, tc := range map[string]struct {
		last time.Duration
		want []float64
	}{
		"at once":       {last: 0, want: []float64{0}},
		"within 1 s":    {last: time.Second, want: []float64{0, 1}},
		"within 8 s":    {last: 8 * time.Second, want: []float64{0, 2, 6, 8}},
		"within 22 s":   {last: 21900 * time.Millisecond, want: []float64{0, 2, 6, 14, 21.9}},
		"within 40 s":   {last: 40 * time.Second, want: []float64{0, 2, 6, 14, 22, 30, 38, 40}},
		"within 5.9999": {last: 5900 * time.Millisecond, want: []float64{0, 2, 5.9}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, writes(tc.last)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPaceStartsAnewAfterQuiet(t *testing.T) {
	p := pace{}.wrote(noon).wrote(noon.Add(time.Second)).wrote(noon.Add(2 * time.Second))
	for after, want := range map[time.Duration]time.Duration{
		0:                8 * time.Second,
		5 * time.Second:  3 * time.Second,
		8 * time.Second:  0,
		12 * time.Second: 0,
	} {
		if got := p.wait(noon.Add(2*time.Second + after)); got != want {
			t.Errorf("after %v of quiet it waits %v, want %v", after, got, want)
		}
	}
	// After a quiet time the second write waits as briefly as at first, after a short one as long as before.
	for after, want := range map[time.Duration]time.Duration{10 * time.Second: paceFirst, 9 * time.Second: paceMost} {
		now := noon.Add(2*time.Second + after)
		if got := p.wrote(now).wait(now); got != want {
			t.Errorf("a write after %v is followed by a pause of %v, want %v", after, got, want)
		}
	}
}

func TestIsUrgent(t *testing.T) {
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
	ready := func(s *v1alpha1.VPodStatus) {
		s.Conditions = append(s.Conditions, condition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllReady, ""))
	}
	for name, tc := range map[string]struct {
		was, is v1alpha1.VPodStatus
		want    bool
	}{
		"nothing":              {was: status(), is: status()},
		"one more is placed":   {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.Placements[1].VReplicas++ })},
		"one less is ready":    {was: status(ready), is: status()},
		"another spec":         {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.ObservedGeneration++ }), want: true},
		"all are ready":        {was: status(), is: status(ready), want: true},
		"all are ready still":  {was: status(ready), is: status(ready)},
		"one less is placed":   {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.Placements[0].VReplicas-- }), want: true},
		"an adapter is gone":   {was: status(), is: status(func(s *v1alpha1.VPodStatus) { s.Placements = s.Placements[:1] }), want: true},
		"another adapter more": {was: status(func(s *v1alpha1.VPodStatus) { s.Placements = s.Placements[:1] }), is: status()},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isUrgent(tc.was, tc.is); got != tc.want {
				t.Errorf("urgent %t, want %t", got, tc.want)
			}
		})
	}
}
