package snapshot

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
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

// Requested is what the library says, of whatever a pod asks for and in whatever way.
func TestRequestedIsWhatTheLibraryCounts(t *testing.T) {
	const seed, pods = 20261130, 20_000
	random := rand.New(rand.NewPCG(seed, 2))
	shortcuts := 0
	for n := range pods {
		pod := &v1.Pod{Spec: randomRequests(random)}
		if plain(&pod.Spec) {
			shortcuts++
		}
		for _, name := range []v1.ResourceName{v1alpha1.ResourceVReplicas, "example.com/other"} {
			quantity := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})[name]
			if got, want := Requested(pod, name), quantity.Value(); got != want {
				t.Fatalf("seed %d, pod %d requests %d %s, want %d: %+v", seed, n, got, name, want, pod.Spec)
			}
		}
	}
	if shortcuts == 0 || shortcuts == pods {
		t.Errorf("%d of %d pods are plain, want some of each kind", shortcuts, pods)
	}
}

// randomRequests makes up what a pod asks for: containers, sidecars and all else that adds to it.
func randomRequests(random *rand.Rand) v1.PodSpec {
	requests := func() v1.ResourceList {
		list := v1.ResourceList{}
		for _, name := range []v1.ResourceName{v1alpha1.ResourceVReplicas, "example.com/other", v1.ResourceCPU} {
			if random.IntN(2) == 0 {
				list[name] = resource.MustParse([]string{"0", "1", "3", "1500m", "1k", "-1"}[random.IntN(6)])
			}
		}
		return list
	}
	containers := func(most int) (list []v1.Container) {
		for range random.IntN(most + 1) {
			c := v1.Container{Resources: v1.ResourceRequirements{Requests: requests()}}
			list = append(list, c)
		}
		return list
	}
	spec := v1.PodSpec{Containers: containers(2)}
	if random.IntN(3) == 0 {
		spec.InitContainers = containers(2)
		for i := range spec.InitContainers {
			if random.IntN(2) == 0 {
				spec.InitContainers[i].RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			}
		}
	}
	if random.IntN(4) == 0 {
		spec.Overhead = requests()
	}
	if random.IntN(4) == 0 {
		spec.Resources = &v1.ResourceRequirements{Requests: requests()}
	}
	return spec
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
