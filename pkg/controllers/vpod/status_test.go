package vpod

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// counted is a status without its conditions.
func counted(desired, existing, scheduled, ready int32, placements ...v1alpha1.Placement) v1alpha1.VPodStatus {
	return v1alpha1.VPodStatus{
		ObservedGeneration: 7, DesiredReplicas: &desired, Replicas: existing, ScheduledReplicas: scheduled, ReadyReplicas: ready,
		Adapters: int32(len(placements)), Selector: "vpod.dev/vpod=x", Placements: placements,
	}
}

func on(podName string, vreplicas int32) v1alpha1.Placement {
	return v1alpha1.Placement{PodName: podName, VReplicas: vreplicas}
}

func TestStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas int
		adapters []string
		pods     []string
		edit     func(*observation)
		want     v1alpha1.VPodStatus
	}{
		"none": {replicas: 0, want: counted(0, 0, 0, 0)},
		"placements are by ordinal, and pods of the StatefulSet": {
			replicas: 4, adapters: []string{"a-10", "a-9", "a-2"}, pods: []string{"0 @a-10", "1 @a-2 ready", "2 @a-9", "3 @a-2 ready"},
			want: counted(4, 4, 4, 2, on("s-2", 2), on("s-9", 1), on("s-10", 1)),
		},
		"C51: what exists counts, not what is asked for": {
			replicas: 5, pods: []string{"0 @a-0 ready", "1 @a-1 ready", "2 refused"},
			want: counted(5, 3, 2, 2, on("s-0", 1), on("s-1", 1)),
		},
		"neither terminating nor failed ones count": {
			replicas: 3, pods: []string{"0 @a-0 ready", "1 @a-1 ready terminating", "2 @a-1 failed"},
			want: counted(3, 1, 1, 1, on("s-0", 1)),
		},
		"G6, C6: no adapter that is gone": {
			replicas: 2, pods: []string{"0 @a-0 ready", "1 @a-7 ready"}, want: counted(2, 2, 1, 1, on("s-0", 1)),
		},
		"G1: what is bound counts once it is admitted": {
			replicas: 2, pods: []string{"0 @a-0 ready", "1 @a-0 unadmitted"}, want: counted(2, 2, 1, 1, on("s-0", 1)),
		},
		"G1: what takes another room than that of one vreplica is not served": {
			replicas: 3, pods: []string{"0 @a-0 ready", "1 @a-0 ready size=0", "2 @a-1 ready orphan size=2"},
			want: counted(3, 1, 1, 1, on("s-0", 1)),
		},
		"never more than asked for": {
			replicas: 1, pods: []string{"0 @a-0 ready", "1 @a-1 ready"}, want: counted(1, 2, 1, 1, on("s-0", 1)),
		},
		"neither strangers nor what another vpod of the name left count": {
			replicas: 3, pods: []string{"0 @a-0 ready", "1 @a-1 ready stranger", "2 @a-1 ready inherited"},
			want: counted(3, 1, 1, 1, on("s-0", 1)),
		},
		"without a pool nothing is placed": {
			replicas: 1, pods: []string{"0 @a-0 ready"}, edit: func(o *observation) { o.pool = nil }, want: counted(1, 1, 0, 0),
		},
		"two nodes of one ordinal are one adapter": {
			replicas: 2, pods: []string{"0 @a-0 ready", "1 @b-0 ready"}, want: counted(2, 2, 2, 2, on("s-0", 2)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.adapters == nil {
				tc.adapters = append([]string{"b-0"}, threeAdapters...)
			}
			o := observed(xVPod(tc.replicas), adapterNodes(tc.adapters...), tc.pods...)
			if tc.edit != nil {
				tc.edit(&o)
			}
			got := o.status()
			got.Conditions = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConditionsKeepTheirTimes(t *testing.T) {
	o := observed(xVPod(1), adapterNodes("a-0"), "0 @a-0 ready")
	before := metav1.NewTime(noon.Add(-time.Hour))
	o.vpod.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionScheduled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAllScheduled, LastTransitionTime: before},
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNotScheduled, LastTransitionTime: before},
		{Type: "OfSomebodyElse", Status: metav1.ConditionTrue, LastTransitionTime: before},
	}
	conditions := o.status().Conditions
	for kind, want := range map[string]time.Time{
		v1alpha1.ConditionScheduled: before.Time, v1alpha1.ConditionReady: noon, "OfSomebodyElse": before.Time,
	} {
		c := apimeta.FindStatusCondition(conditions, kind)
		if c == nil || !c.LastTransitionTime.Time.Equal(want) {
			t.Errorf("condition %s is %+v, want it from %v", kind, c, want)
		}
	}
	if old := o.vpod.Status.Conditions[1]; old.Status != metav1.ConditionFalse {
		t.Error("the old status was changed")
	}
}
