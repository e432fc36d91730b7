package adapter

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestIndexOf(t *testing.T) {
	for name, tc := range map[string]struct {
		vpod, pod string
		want      int
		wantOK    bool
	}{
		"a placeholder":                     {vpod: "x", pod: PlaceholderName("x", 12), want: 12, wantOK: true},
		"of a vpod that ends alike":         {vpod: "x", pod: PlaceholderName("x-vreplica-1", 2)},
		"of a vpod that begins alike":       {vpod: "x", pod: PlaceholderName("xy", 2)},
		"of a vpod named like one of these": {vpod: "x-vreplica-1", pod: PlaceholderName("x-vreplica-1", 2), want: 2, wantOK: true},
		"leading zeros":                     {vpod: "x", pod: "x-vreplica-01"},
		"no index":                          {vpod: "x", pod: "x-vreplica-"},
		"some other pod":                    {vpod: "x", pod: "x-1"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := IndexOf(tc.vpod, tc.pod)
			if ok != tc.wantOK || ok && got != tc.want {
				t.Errorf("index %d, %t; want %d, %t", got, ok, tc.want, tc.wantOK)
			}
		})
	}
}

func TestWhichPodsAVPodAdopts(t *testing.T) {
	vpod := &v1alpha1.VPod{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: v1alpha1.VPodSpec{PoolName: "p"}}
	for name, tc := range map[string]struct {
		edit func(*corev1.Pod)
		want bool
	}{
		"like its own":  {edit: func(*corev1.Pod) {}, want: true},
		"controlled":    {edit: func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Controller: new(true)}} }},
		"another name":  {edit: func(p *corev1.Pod) { p.Name = "my-own-0" }},
		"another label": {edit: func(p *corev1.Pod) { p.Labels[v1alpha1.LabelVPod] = "y" }},
		"another pool":  {edit: func(p *corev1.Pod) { p.Labels[v1alpha1.LabelPool] = "q" }},
		"two vreplicas": {edit: func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, p.Spec.Containers...) }},
		"no vreplica":   {edit: func(p *corev1.Pod) { p.Spec.Containers = nil }},
	} {
		one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: PlaceholderName("x", 3), Labels: map[string]string{v1alpha1.LabelVPod: "x", v1alpha1.LabelPool: "p"},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: one}}}},
		}
		tc.edit(pod)
		if got := Adopts(vpod, pod); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
