package vpod

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

var threeAdapters = []string{"a-0 zone=z1", "a-1 zone=z2", "a-2 zone=z3"}

func TestDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas int
		edit     func(*v1alpha1.VPod)
		adapters []string
		pods     []string
		want     string
	}{
		"a new vpod":                    {replicas: 3, want: "create 0 1 2"},
		"all there":                     {replicas: 2, pods: []string{"0 @a-0", "1 refused"}},
		"C30: growth moves nothing":     {replicas: 5, pods: []string{"0 @a-0", "1 @a-1", "2 @a-0", "3 @a-1"}, want: "create 4"},
		"the lowest free indices":       {replicas: 5, pods: []string{"0 @a-0", "3 @a-1"}, want: "create 1 2 4"},
		"C52: none":                     {replicas: 0, pods: []string{"0 @a-0", "1"}, want: "remove 0 1"},
		"C52: nothing for none":         {replicas: 0},
		"failed ones are replaced":      {replicas: 2, pods: []string{"0 @a-0", "1 @a-1 failed"}, want: "remove 1, create 2"},
		"terminating ones do not count": {replicas: 2, pods: []string{"0 @a-0", "1 @a-1 terminating"}, want: "create 2"},

		"G1: what takes another room than that of one vreplica is replaced": {
			replicas: 2, pods: []string{"0 @a-0", "1 @a-1 size=0"}, want: "remove 1, create 2",
		},

		"shrinking: not bound first": {
			replicas: 2, pods: []string{"0 @a-0", "1 refused", "2 @a-1", "3"}, want: "remove 1 3",
		},
		"C6: shrinking: on adapters that are gone first": {
			replicas: 1, pods: []string{"0 @a-0", "1 @a-0", "2 @a-9", "3 @a-9"}, want: "remove 1 2 3",
		},
		"shrinking: then on adapters that are not ready": {
			adapters: []string{"a-0 unready", "a-1", "a-2"}, replicas: 2, pods: []string{"0 @a-0", "1 @a-1", "2 @a-2"}, want: "remove 0",
		},
		"shrinking: then where the most are": {
			replicas: 3, pods: []string{"0 @a-0", "1 @a-0", "2 @a-0", "3 @a-1", "4 @a-2"}, want: "remove 1 2",
		},
		"shrinking: then the highest ordinal": {
			replicas: 4, pods: []string{"0 @a-0", "1 @a-0", "2 @a-1", "3 @a-1", "4 @a-2", "5 @a-2"}, want: "remove 3 5",
		},

		"a profile that changed replaces those that wait": {
			replicas: 3, pods: []string{"0 @a-0 unprofiled", "1 unprofiled", "2 refused unprofiled"}, want: "remove 1 2, create 3 4",
		},
		"C18: the limit wakes those that wait, and the bound know of it": {
			replicas: 2, edit: limitedTo(3), pods: []string{"0 @a-0", "1 refused"},
			// The pods were made from the VPod before it was edited.
			want: "mend 0 1",
		},

		"a placeholder whose label was changed by hand": {replicas: 2, pods: []string{"0 @a-0 mislabelled", "1"}, want: "mend 0"},
		"a pod that is no placeholder any more cannot be mended and is replaced": {
			replicas: 2, pods: []string{"0 @a-0 unlabelled", "1"}, want: "create 2",
		},
		"a stranger's pod is left alone and its name avoided": {replicas: 2, pods: []string{"0 stranger", "1 @a-0"}, want: "create 2"},
		"what a vpod of the same name left is removed":        {replicas: 2, pods: []string{"0 @a-0 inherited", "1 @a-1"}, want: "remove 0, create 2"},
		"what it left is not removed twice":                   {replicas: 1, pods: []string{"0 @a-0 inherited terminating"}, want: "create 1"},
		"what was orphaned is adopted where it is":            {replicas: 2, pods: []string{"0 @a-0 orphan", "1 @a-1"}, want: "mend 0"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.adapters == nil {
				tc.adapters = threeAdapters
			}
			o := observed(xVPod(tc.replicas), adapterNodes(tc.adapters...), tc.pods...)
			if tc.edit != nil {
				tc.edit(o.vpod)
			}
			if got := decide(o).String(); got != tc.want {
				t.Errorf("plan %q, want %q", got, tc.want)
			}
		})
	}
}

// Admission gives pods that ask for no PriorityClass the default one of the cluster, and may change a scheduler.
func TestDecideLeavesAloneWhatAdmissionChanged(t *testing.T) {
	v := xVPod(2, func(v *v1alpha1.VPod) { v.Spec.PriorityClassName = "" })
	o := observed(v, adapterNodes(threeAdapters...), "0 @a-0", "1")
	for _, pod := range o.pods {
		pod.Spec.PriorityClassName, pod.Spec.SchedulerName = "default-of-the-cluster", "of-a-webhook"
	}
	if p := decide(o); !p.isEmpty() {
		t.Errorf("plan %q, want none", p)
	}
}

func TestDecideCreatesInBursts(t *testing.T) {
	if n := len(decide(observed(xVPod(2*burst), nil)).create); n != burst {
		t.Errorf("creates %d at once, want %d", n, burst)
	}
}

func TestDesired_C52(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, last *int32
		want       int
	}{
		"new, without a number":        {want: 1},
		"asked for":                    {spec: new(int32(4)), last: new(int32(2)), want: 4},
		"none asked for":               {spec: new(int32(0)), last: new(int32(2)), want: 0},
		"the field was dropped":        {last: new(int32(7)), want: 7},
		"the field was dropped at 0":   {last: new(int32(0)), want: 0},
		"asked for before any applied": {spec: new(int32(3)), want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			v := &v1alpha1.VPod{Spec: v1alpha1.VPodSpec{Replicas: tc.spec}, Status: v1alpha1.VPodStatus{DesiredReplicas: tc.last}}
			if got := desired(v); got != tc.want {
				t.Errorf("desired %d, want %d", got, tc.want)
			}
		})
	}
}

func TestRelation(t *testing.T) {
	v := xVPod(1)
	for name, tc := range map[string]struct {
		text string
		edit func(*metav1.ObjectMeta)
		want relation
	}{
		"its own":                        {text: "0", want: own},
		"a predecessor's":                {text: "0 inherited", want: inherited},
		"a ReplicaSet's":                 {text: "0 stranger", want: foreign},
		"nobody's":                       {text: "0 orphan", want: own},
		"nobody's, of another pool":      {text: "0 orphan", edit: func(m *metav1.ObjectMeta) { m.Labels[v1alpha1.LabelPool] = "b" }, want: foreign},
		"nobody's, of another vpod":      {text: "0 orphan mislabelled", want: foreign},
		"nobody's, of another name":      {text: "0 orphan", edit: func(m *metav1.ObjectMeta) { m.Name = "x-vreplica-00" }, want: foreign},
		"a namesake's of another group":  {text: "0 inherited", edit: func(m *metav1.ObjectMeta) { m.OwnerReferences[0].APIVersion = "other/v1" }, want: foreign},
		"its own, not for its pool only": {text: "0 mislabelled", want: own},
		"no placeholder":                 {text: "0 unlabelled", want: foreign},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(v, tc.text)
			if tc.edit != nil {
				tc.edit(&p.ObjectMeta)
			}
			if got := (observation{vpod: v}).relationTo(p); got != tc.want {
				t.Errorf("relation %d, want %d", got, tc.want)
			}
		})
	}
}

// G7: no more wait for the scheduler's first word than it can say soon, or a VPod with a typing error in its number of
// replicas would fill the queue for everybody.
func TestALargeVPodGrowsAsFastAsTheSchedulerLooksAtIt(t *testing.T) {
	var pods []string
	for i := range burst - 10 {
		pods = append(pods, fmt.Sprintf("%d", i))
	}
	for name, tc := range map[string]struct {
		pods []string
		want int
	}{
		"none yet":          {want: burst},
		"some untried":      {pods: pods, want: 10},
		"enough untried":    {pods: append(pods, "300", "301", "302", "303", "304", "305", "306", "307", "308", "309", "310")},
		"tried and refused": {pods: []string{"0 refused", "1 refused", "2 @a-0"}, want: burst},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(decide(observed(xVPod(100_000), adapterNodes("a-0"), tc.pods...)).create); got != tc.want {
				t.Errorf("creates %d, want %d", got, tc.want)
			}
		})
	}
}
