package soak

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// autoPool scales from 1 to 4 adapters with a delay of 10 s, wants so many, and is held at so many.
func autoPool(wanted, target int32) *v1alpha1.AdapterPool {
	p := testPool()
	p.Spec.Autoscaling = &v1alpha1.Autoscaling{
		Mode: v1alpha1.AutoscalingAuto, MinReplicas: new(int32(1)), MaxReplicas: 4, ScaleDownDelay: &metav1.Duration{Duration: 10 * time.Second},
	}
	p.Status.WantedAdapters, p.Status.TargetAdapters = &wanted, &target
	p.Status.Conditions = append(p.Status.Conditions, testCondition(v1alpha1.ConditionScaled, v1alpha1.ReasonWantedSize))
	return p
}

// autoHistory has seen the pool of testWorld scaled for long. Its 3 vreplicas need 1 adapter of 2.
func autoHistory() *chapter {
	c := &chapter{history: testHistory()}
	return c.event(event{object: autoPool(1, 2)}).later(60)
}

// scaledBy is a StatefulSet whose number of replicas somebody set.
func scaledBy(manager string, replicas int32) *appsv1.StatefulSet {
	set := testSet(replicas)
	set.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {
		Manager: manager, Subresource: "scale", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
	}}
	return set
}

func asksForAt(replicas int32, generation int64) *v1alpha1.VPod {
	v := asksFor(replicas)
	v.Generation = generation
	return v
}

func TestHistoryFindsEachBreachOfScaling(t *testing.T) {
	ours, theirs := v1alpha1.ControllerName, "kubectl"
	for name, tc := range map[string]struct {
		happens func(c *chapter)
		want    string
	}{
		"wants too many": {func(c *chapter) { c.event(event{object: autoPool(2, 2)}) }, "scale: pool p wants 2 adapters, and of late [1] were right"},
		"wants too few": {func(c *chapter) {
			c.event(event{object: asksFor(7)}).later(9).event(event{object: autoPool(2, 2)})
		}, "scale: pool p wants 2 adapters, and of late [3] were right"},
		"held below what it wants":        {func(c *chapter) { c.event(event{object: autoPool(1, 0)}) }, "scale: pool p is held at 0 adapters, and wants 1"},
		"held at more than anybody wants": {func(c *chapter) { c.event(event{object: autoPool(1, 3)}) }, "scale: pool p is to have 3 adapters instead of 2, and wants 1"},
		"shrinks too early": {func(c *chapter) {
			c.event(event{object: asksFor(4)}).event(event{object: autoPool(2, 2)}).event(event{object: asksForAt(3, 3)}).
				event(event{object: autoPool(1, 2)}).later(6).event(event{object: autoPool(1, 1)})
		}, "scale: pool p is to have 1 adapters instead of 2, and wanted 2 within its delay"},
		"removes what serves": {func(c *chapter) { c.event(event{object: autoPool(1, 1)}).event(event{object: scaledBy(ours, 1)}) }, "G6: adapter p-1 was removed, and served ns/x-vreplica-1"},
		"serves on what was removed": {func(c *chapter) {
			c.expected.pods["x-vreplica-1"] = true
			c.removes(testPlaceholder(1, "p-1")).event(event{object: autoPool(1, 1)}).event(event{object: scaledBy(ours, 1)})
			c.event(event{object: testPlaceholder(1, "p-1")})
		}, "G6: ns/x-vreplica-1 is served by p-1, which was removed"},
		"loses what we removed": {func(c *chapter) {
			c.event(event{object: autoPool(1, 1)}).later(9).event(event{object: scaledBy(ours, 1)}).removes(testPlaceholder(1, "p-1"))
		}, "G4: ns/x-vreplica-1 was served by p-1"},
		"shrinks further than it said": {func(c *chapter) { c.event(event{object: scaledBy(ours, 1)}) }, "scale: s/set was scaled from 2 to 1, and pool p is held at 2"},
		"grows further than it said":   {func(c *chapter) { c.event(event{object: scaledBy(ours, 3)}) }, "scale: s/set was scaled from 2 to 3, and pool p is held at 2"},
		"scales what is a person's": {func(c *chapter) {
			c.event(event{object: testPool()}).later(9).event(event{object: scaledBy(ours, 3)})
		}, "scale: s/set was scaled from 2 to 3, and pool p is not autoscaled"},
		"does not bring it back": {func(c *chapter) {
			c.event(event{object: scaledBy(theirs, 1)}).event(event{object: scaledBy(ours, 3)})
		}, "scale: s/set was scaled from 1 to 3, and pool p is held at 2"},
	} {
		t.Run(name, func(t *testing.T) {
			c := autoHistory()
			tc.happens(c)
			if f := strings.Join(c.breaches, "\n"); !strings.Contains(f, tc.want) {
				t.Errorf("found:\n%s\nand not %s", f, tc.want)
			}
		})
	}
}

func TestHistoryLetsPoolsScale(t *testing.T) {
	ours, theirs := v1alpha1.ControllerName, "kubectl"
	for name, happens := range map[string]func(c *chapter){
		"up at once": func(c *chapter) {
			c.event(event{object: asksFor(7)}).event(event{object: autoPool(3, 3)}).event(event{object: scaledBy(ours, 3)})
		},
		"down after the delay, when it is empty": func(c *chapter) {
			c.expected.pods["x-vreplica-1"] = true
			c.event(event{object: autoPool(1, 1)}).removes(testPlaceholder(1, "p-1")).event(event{object: scaledBy(ours, 1)})
		},
		"down at once where it may not have as many": func(c *chapter) {
			few, held := autoPool(1, 1), autoPool(3, 3)
			few.Spec.Autoscaling.MaxReplicas, held.Spec.Autoscaling.MaxReplicas = 1, 1
			c.event(event{object: asksFor(7)}).event(event{object: autoPool(3, 3)}).event(event{object: held}).event(event{object: few})
		},
		"a drain that is taken back": func(c *chapter) {
			c.event(event{object: autoPool(1, 1)}).later(9).event(event{object: autoPool(1, 2)})
		},
		"a number set by hand, and put back": func(c *chapter) {
			c.event(event{object: scaledBy(theirs, 1)}).event(event{object: scaledBy(ours, 2)})
			c.removes(testPlaceholder(1, "p-1")) // Somebody had not heard.
		},
		"what is wanted by those who have not heard": func(c *chapter) {
			c.event(event{object: asksFor(7)}).event(event{object: autoPool(1, 2)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := autoHistory()
			if happens(c); len(c.breaches) > 0 {
				t.Errorf("found:\n%s", strings.Join(c.breaches, "\n"))
			}
		})
	}
}

func TestTimelineHasWhatLasted(t *testing.T) {
	var line timeline[int]
	for i, is := range []int{1, 1, 2, 3} {
		line.becomes(is, noon.Add(time.Duration(i)*time.Second))
	}
	for from, want := range map[int]int{0: 3, 1: 3, 2: 2, 3: 1, 9: 1} {
		if got := line.since(noon.Add(time.Duration(from) * time.Second)); len(got) != want || got[len(got)-1] != 3 {
			t.Errorf("since %d s: %v, want the last %d", from, got, want)
		}
	}
	line.becomes(4, noon.Add(time.Hour))
	if got := line.since(noon); len(got) != 2 {
		t.Errorf("after an hour it still has %v", got)
	}
}
