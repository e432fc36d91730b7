package vpod

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestCensusCountsByVPod(t *testing.T) {
	c := &census{served: map[string]map[types.NamespacedName]int64{}}
	for _, text := range []string{"0 @a-0", "1 @a-0", "2 @a-1", "3 @a-0 mislabelled", "4 @a-0 terminating"} {
		c.count(pod(xVPod(1), text))
	}
	got := map[string]int64{}
	for _, node := range []string{"a-0", "a-1", "a-2"} {
		got[node+" but x"] = c.others(node, types.NamespacedName{Namespace: "ns", Name: "x"})
		got[node+" but y"] = c.others(node, types.NamespacedName{Namespace: "ns", Name: "y"})
		got[node+" but x elsewhere"] = c.others(node, types.NamespacedName{Namespace: "elsewhere", Name: "x"})
	}
	want := map[string]int64{
		"a-0 but x": 1, "a-0 but y": 3, "a-0 but x elsewhere": 4,
		"a-1 but x": 0, "a-1 but y": 1, "a-1 but x elsewhere": 1,
		"a-2 but x": 0, "a-2 but y": 0, "a-2 but x elsewhere": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// What was published by an older census is looked at again when another one can be taken.
func TestCensusExpires(t *testing.T) {
	for name, tc := range map[string]struct {
		census *census
		want   time.Duration
	}{
		"none":           {},
		"taken just now": {census: &census{taken: noon}},
		"an older one":   {census: &census{taken: noon.Add(-400 * time.Millisecond)}, want: 600 * time.Millisecond},
		"one too old":    {census: &census{taken: noon.Add(-time.Minute)}, want: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.census.expires(noon); got != tc.want {
				t.Errorf("expires after %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAdapterNamesAreOrderedByOrdinal(t *testing.T) {
	got := []string{"s-10", "s-9", "s-2"}
	slices.SortFunc(got, compareOrdinals)
	if diff := cmp.Diff([]string{"s-2", "s-9", "s-10"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestIsAdapterOf(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*corev1.Node)
		want bool
	}{
		"an adapter":        {edit: func(*corev1.Node) {}, want: true},
		"of another pool":   {edit: func(n *corev1.Node) { n.Labels["vpod.dev/pool"] = "b" }},
		"of no pool":        {edit: func(n *corev1.Node) { n.Labels = nil }},
		"without ordinal":   {edit: func(n *corev1.Node) { delete(n.Labels, "vpod.dev/ordinal") }},
		"with a wrong one":  {edit: func(n *corev1.Node) { n.Labels["vpod.dev/ordinal"] = "01" }},
		"out of use as yet": {edit: func(n *corev1.Node) { n.Spec.Unschedulable = true }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			node := adapterNode("a-0")
			tc.edit(node)
			if got := isAdapterOf(node, "a"); got != tc.want {
				t.Errorf("adapter %t, want %t", got, tc.want)
			}
		})
	}
}
