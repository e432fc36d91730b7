package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

func TestVreplicaOf(t *testing.T) {
	good := func() *st.PodWrapper {
		return st.MakePod().Namespace("ns").Name("x-0").Label(v1alpha1.LabelPool, "p").Label(v1alpha1.LabelVPod, "x").
			Req(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "1"})
	}
	const number = "is not a whole number from 1 to 2147483647 in plain decimal digits"
	const request = ", but a placeholder stands for 1 vreplica and requests exactly 1: create a pod for each vreplica"
	for name, tc := range map[string]struct {
		pod     *st.PodWrapper
		want    Vreplica
		wantErr string
	}{
		"without a limit":  {pod: good(), want: Vreplica{Pool: "p"}},
		"with a limit":     {pod: good().Annotation(v1alpha1.AnnotationMaxAdapters, "2"), want: Vreplica{Pool: "p", Limit: 2}},
		"limit 0":          {pod: good().Annotation(v1alpha1.AnnotationMaxAdapters, "0"), wantErr: `the pod's annotation vpod.dev/max-adapters: "0" ` + number},
		"limit -1":         {pod: good().Annotation(v1alpha1.AnnotationMaxAdapters, "-1"), wantErr: `the pod's annotation vpod.dev/max-adapters: "-1" ` + number},
		"limit x":          {pod: good().Annotation(v1alpha1.AnnotationMaxAdapters, "x"), wantErr: `the pod's annotation vpod.dev/max-adapters: "x" ` + number},
		"empty limit":      {pod: good().Annotation(v1alpha1.AnnotationMaxAdapters, ""), wantErr: `the pod's annotation vpod.dev/max-adapters: "" ` + number},
		"no pool":          {pod: good().Label(v1alpha1.LabelPool, ""), wantErr: "the pod has no label vpod.dev/pool, which names the pool of adapters to use; this scheduler places nothing but vreplicas"},
		"no vreplica":      {pod: good().Containers(nil), wantErr: "the pod requests 0 vpod.dev/vreplicas" + request},
		"two vreplicas":    {pod: good().Req(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "1"}), wantErr: "the pod requests 2 vpod.dev/vreplicas" + request},
		"two in one place": {pod: good().Containers(nil).Req(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "2"}), wantErr: "the pod requests 2 vpod.dev/vreplicas" + request},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := VreplicaOf(tc.pod.Obj(), v1alpha1.ResourceVReplicas)
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Fatalf("error %v, want %s", err, tc.wantErr)
				}
				return
			}
			tc.want.VPod = placement.VPod{Namespace: "ns", Kind: "VPod", Name: "x"}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("error %v, (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestVPodOf(t *testing.T) {
	controller := func() []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "rs", UID: "other"}, {Kind: "ReplicaSet", Name: "rs", UID: "rs-uid", Controller: new(true)}}
	}
	labelled := st.MakePod().Namespace("ns").UID("u").Label(v1alpha1.LabelVPod, "x").Obj()
	labelled.OwnerReferences = controller()
	owned := st.MakePod().Namespace("ns").UID("u").Obj()
	owned.OwnerReferences = controller()
	for name, tc := range map[string]struct {
		pod  *v1.Pod
		want placement.VPod
	}{
		"the label comes first":        {pod: labelled, want: placement.VPod{Namespace: "ns", Kind: "VPod", Name: "x"}},
		"else the controlling owner":   {pod: owned, want: placement.VPod{Namespace: "ns", Kind: "controller", Name: "rs-uid"}},
		"else the pod is its own vpod": {pod: st.MakePod().Namespace("ns").UID("u").Obj(), want: placement.VPod{Namespace: "ns", Kind: "Pod", Name: "u"}},
		"an empty label names nothing": {pod: st.MakePod().Namespace("ns").UID("u").Label(v1alpha1.LabelVPod, "").Obj(), want: placement.VPod{Namespace: "ns", Kind: "Pod", Name: "u"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, VPodOf(tc.pod)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
