package adapter

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestHolderIsTheOldestPool(t *testing.T) {
	pool := func(name string, second int64) v1alpha1.AdapterPool {
		return v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(second, 0)}}
	}
	leaving := pool("leaving", 0)
	leaving.DeletionTimestamp = new(metav1.NewTime(time.Unix(9, 0)))
	for name, tc := range map[string]struct {
		pools []v1alpha1.AdapterPool
		want  string
	}{
		"none":                      {},
		"one":                       {pools: []v1alpha1.AdapterPool{pool("a", 1)}, want: "a"},
		"the older, whatever order": {pools: []v1alpha1.AdapterPool{pool("a", 2), pool("b", 1)}, want: "b"},
		"of the same age, by name":  {pools: []v1alpha1.AdapterPool{pool("b", 1), pool("a", 1)}, want: "a"},
		"deleted, but not gone yet": {pools: []v1alpha1.AdapterPool{pool("a", 1), leaving}, want: "leaving"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if holder := Holder(tc.pools); holder != nil {
				got = holder.Name
			}
			if got != tc.want {
				t.Errorf("holder is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestIsPlaceholder(t *testing.T) {
	one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
	container := corev1.Container{Resources: corev1.ResourceRequirements{Requests: one}}
	labels := map[string]string{v1alpha1.LabelPool: "pool"}
	for name, tc := range map[string]struct {
		pod  corev1.Pod
		want bool
	}{
		"placeholder": {want: true, pod: corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{}, container}},
		}},
		"labelled adapter": {pod: corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{}}},
		}},
		"without a pool": {pod: corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsPlaceholder(&tc.pod); got != tc.want {
				t.Errorf("placeholder: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAdaptersBeyondTheTargetAreDraining(t *testing.T) {
	auto := &v1alpha1.Autoscaling{Mode: v1alpha1.AutoscalingAuto, MaxReplicas: 9}
	target := func(n int32, autoscaling *v1alpha1.Autoscaling) v1alpha1.AdapterPool {
		return v1alpha1.AdapterPool{
			Spec:   v1alpha1.AdapterPoolSpec{Autoscaling: autoscaling},
			Status: v1alpha1.AdapterPoolStatus{TargetAdapters: new(n)},
		}
	}
	leaving := target(2, auto)
	leaving.DeletionTimestamp = new(metav1.Now())
	// Five replicas, of which the first has ordinal 3.
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(5)), Ordinals: &appsv1.StatefulSetOrdinals{Start: 3},
	}}
	for name, tc := range map[string]struct {
		pool v1alpha1.AdapterPool
		want []int
	}{
		"two of five":           {pool: target(2, auto), want: []int{5, 6, 7}},
		"as many as there are":  {pool: target(5, auto)},
		"none":                  {pool: target(0, auto), want: []int{3, 4, 5, 6, 7}},
		"not decided yet":       {pool: v1alpha1.AdapterPool{Spec: v1alpha1.AdapterPoolSpec{Autoscaling: auto}}},
		"autoscaling off":       {pool: target(2, &v1alpha1.Autoscaling{Mode: v1alpha1.AutoscalingOff})},
		"autoscaling taken out": {pool: target(2, nil)},
		"pool deleted":          {pool: leaving},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for ordinal := range 12 {
				if (ID{Ordinal: ordinal}).IsDraining(&tc.pool, set) {
					got = append(got, ordinal)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("draining are %v, want %v", got, tc.want)
			}
		})
	}
}
