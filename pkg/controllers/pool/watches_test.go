package pool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestWhichNodeChangesMatter(t *testing.T) {
	virtual := settled(1).nodes[0]
	for name, tc := range map[string]struct {
		of   func(*corev1.Node)
		edit func(*corev1.Node)
		want bool
	}{
		"nothing":                    {edit: func(*corev1.Node) {}},
		"an annotation of others":    {edit: func(n *corev1.Node) { n.Annotations = map[string]string{"x": "y"} }},
		"cordoned":                   {edit: func(n *corev1.Node) { n.Spec.Unschedulable = true }, want: true},
		"tainted":                    {edit: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}} }, want: true},
		"not ready":                  {edit: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, want: true},
		"not ready for another time": {edit: func(n *corev1.Node) { n.Status.Conditions[0].LastTransitionTime = earlier }, want: true},
		"other words":                {edit: func(n *corev1.Node) { n.Status.Conditions[0].Message = "other" }, want: true},
		"capacity":                   {edit: func(n *corev1.Node) { n.Status.Allocatable = nil }, want: true},
		"the host is silent": {
			edit: func(n *corev1.Node) {
				n.Annotations = map[string]string{v1alpha1.AnnotationCordon: v1alpha1.CordonHostNotReady}
			},
			want: true,
		},
		"a real node is not ready": {
			of:   func(n *corev1.Node) { n.Spec.ProviderID = "aws:///1" },
			edit: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse },
		},
		"it becomes virtual": {
			of:   func(n *corev1.Node) { n.Spec.ProviderID = "" },
			edit: func(n *corev1.Node) { n.Spec.ProviderID = virtual.Spec.ProviderID }, want: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			was := virtual.DeepCopy()
			if tc.of != nil {
				tc.of(was)
			}
			is := was.DeepCopy()
			tc.edit(is)
			if got := nodeMatters(was, is); got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhichChangesOfRealNodesMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*corev1.Node)
		want bool
	}{
		"nothing":   {edit: func(*corev1.Node) {}},
		"not ready": {edit: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }},
		"cordoned": {edit: func(n *corev1.Node) {
			n.Spec.Unschedulable = true
			n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		}},
		"another zone": {edit: func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = "b" }, want: true},
		"tainted": {
			edit: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}} }, want: true,
		},
		"it becomes real": {edit: func(n *corev1.Node) { n.Spec.ProviderID = "" }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was := settled(1).nodes[0]
			was.Spec.ProviderID = "aws:///1"
			is := was.DeepCopy()
			tc.edit(is)
			if got := realNodeMatters(was, is); got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
	virtual := settled(1).nodes[0]
	other := virtual.DeepCopy()
	other.Labels["x"] = "y"
	if realNodeMatters(virtual, other) {
		t.Error("a virtual node is none")
	}
}

func TestWhichVPodChangesMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		of, edit func(*v1alpha1.VPod)
		want     bool
	}{
		"nothing":   {edit: func(*v1alpha1.VPod) {}},
		"published": {edit: func(v *v1alpha1.VPod) { v.Status.ScheduledReplicas = 3 }},
		"replicas":  {edit: func(v *v1alpha1.VPod) { v.Spec.Replicas = new(int32(9)) }, want: true},
		"more than its controller has seen": {
			edit: func(v *v1alpha1.VPod) {
				v.Spec.Replicas, v.Generation, v.Status.DesiredReplicas = new(int32(9)), 2, new(int32(3))
			},
		},
		"fewer than its controller has seen": {
			edit: func(v *v1alpha1.VPod) {
				v.Spec.Replicas, v.Generation, v.Status.DesiredReplicas = new(int32(1)), 2, new(int32(3))
			},
			want: true,
		},
		"its controller has seen more": {
			of:   func(v *v1alpha1.VPod) { v.Generation = 2 },
			edit: func(v *v1alpha1.VPod) { v.Status.ObservedGeneration, v.Status.DesiredReplicas = 2, new(int32(3)) }, want: true,
		},
		"replicas that the manifest leaves out": {
			edit: func(v *v1alpha1.VPod) { v.Spec.Replicas, v.Status.DesiredReplicas = nil, new(int32(3)) },
		},
		"limit":   {edit: limitTo(2), want: true},
		"profile": {edit: func(v *v1alpha1.VPod) { v.Spec.SchedulerName = v1alpha1.SchedulerNameMaxFillUp }, want: true},
		"leaving": {edit: func(v *v1alpha1.VPod) { v.DeletionTimestamp = &earlier }, want: true},
		"refused": {
			edit: func(v *v1alpha1.VPod) {
				v.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionScheduled, Reason: v1alpha1.ReasonCreationRefused}}
			},
			want: true,
		},
		"no room": {
			edit: func(v *v1alpha1.VPod) {
				v.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionScheduled, Reason: v1alpha1.ReasonNoRoom}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			was := scaledPool(1).vpod("x", 3, 0).lastVPod()
			if tc.of != nil {
				tc.of(was)
			}
			is := was.DeepCopy()
			tc.edit(is)
			if got := vpodMatters(was, is); got != tc.want {
				t.Errorf("matters: %v, want %v", got, tc.want)
			}
		})
	}
}

func limitTo(n int32) func(*v1alpha1.VPod) {
	return func(v *v1alpha1.VPod) { v.Spec.MaxAdapters = &n }
}

func TestWhichPodChangesMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		of   func(*corev1.Pod)
		edit func(*corev1.Pod)
		want bool
		// wantOfAdapter is for an adapter where that differs.
		wantOfAdapter bool
	}{
		"nothing": {edit: func(*corev1.Pod) {}},
		"refused": {
			of: func(p *corev1.Pod) { p.Status.Conditions = nil },
			edit: func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "full"}}
			},
			want: true,
		},
		"refused in other words": {
			of: func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "full"}}
			},
			edit:          func(p *corev1.Pod) { p.Status.Conditions[0].Message = "fuller" },
			wantOfAdapter: true,
		},
		"bound":      {edit: func(p *corev1.Pod) { p.Spec.NodeName = "kafka-0" }, want: true},
		"failed":     {edit: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, want: true},
		"leaving":    {edit: func(p *corev1.Pod) { p.DeletionTimestamp = &earlier }, want: true},
		"other pool": {edit: func(p *corev1.Pod) { p.Labels[v1alpha1.LabelPool] = "other" }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			was := settled(1).place("a", "", 1).lastPod()
			if tc.of != nil {
				tc.of(was)
			}
			is := was.DeepCopy()
			tc.edit(is)
			if got := podMatters(was, is); got != tc.want {
				t.Errorf("of a placeholder: %v, want %v", got, tc.want)
			}
			if got := adapterMatters(was, is); got != (tc.want || tc.wantOfAdapter) {
				t.Errorf("of an adapter: %v, want %v", got, tc.want || tc.wantOfAdapter)
			}
		})
	}
}

func TestWhosePoolItIs(t *testing.T) {
	pod := func(pool, node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelPool: pool}}, Spec: corev1.PodSpec{NodeName: node},
		}
	}
	for name, tc := range map[string]struct{ got, want []string }{
		"waiting":              {ofPlaceholder(t.Context(), pod("a", "")), []string{"a"}},
		"placed":               {ofPlaceholder(t.Context(), pod("a", "a-1")), []string{"a"}},
		"on that of another":   {ofPlaceholder(t.Context(), pod("a", "b-1")), []string{"a", "b"}},
		"on a real node":       {ofPlaceholder(t.Context(), pod("a", "host")), []string{"a"}},
		"a virtual node":       {ofNode(t.Context(), settled(2).nodes[1]), []string{"kafka"}},
		"a node with its name": {ofNode(t.Context(), settled(2).takenBy(1, "").members[1].node), []string{"kafka"}},
		"any other node":       {ofNode(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "host"}}), nil},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: pools (-want +got):\n%s", name, diff)
		}
	}
}
