package snapshot

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// Vreplica is a placeholder pod that waits for an adapter.
type Vreplica struct {
	// Pool is the pool whose adapters it may use.
	Pool string
	VPod placement.VPod
	// Limit is the most adapters that its vpod may use; 0 where the pod does not say.
	Limit int
}

// errNoPool tells a placeholder from a pod that merely names our scheduler.
var errNoPool = errors.New("the pod has no label " + v1alpha1.LabelPool + ", which names the pool of adapters to use; " +
	"this scheduler places nothing but vreplicas")

// VreplicaOf reads a placeholder pod. The error says in a user's words what is wrong with the pod.
func VreplicaOf(pod *v1.Pod, name v1.ResourceName) (Vreplica, error) {
	v := Vreplica{Pool: pod.Labels[v1alpha1.LabelPool], VPod: VPodOf(pod)}
	if v.Pool == "" {
		return v, errNoPool
	}
	if n := Requested(pod, name); n != 1 {
		return v, fmt.Errorf("the pod requests %d %s, but a placeholder stands for 1 vreplica and requests exactly 1: create a pod for each vreplica", n, name)
	}
	if text, set := pod.Annotations[v1alpha1.AnnotationMaxAdapters]; set {
		limit, err := placement.ParseLimit(text)
		if err != nil {
			return v, fmt.Errorf("the pod's annotation %s: %w", v1alpha1.AnnotationMaxAdapters, err)
		}
		v.Limit = limit
	}
	return v, nil
}

// Requested is how much of an extended resource a pod asks for.
func Requested(pod *v1.Pod, name v1.ResourceName) int64 {
	if plain(&pod.Spec) {
		quantity := pod.Spec.Containers[0].Resources.Requests[name]
		return quantity.Value()
	}
	quantity := resource.PodRequests(pod, resource.PodResourcesOptions{})[name]
	return quantity.Value()
}

// plain says whether a pod asks for what its only container asks for, as placeholders do. All else is for the library,
// which makes a list of all resources to find one.
func plain(spec *v1.PodSpec) bool {
	return len(spec.Containers) == 1 && len(spec.InitContainers) == 0 && spec.Overhead == nil && spec.Resources == nil
}

// VPodOf says whose vreplica a pod is: the vpod that its label names, else the pod's controller, else the pod is a vpod
// of its own.
func VPodOf(pod *v1.Pod) placement.VPod {
	if name := pod.Labels[v1alpha1.LabelVPod]; name != "" {
		return placement.VPod{Namespace: pod.Namespace, Kind: "VPod", Name: name}
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return placement.VPod{Namespace: pod.Namespace, Kind: "controller", Name: string(owner.UID)}
	}
	return placement.VPod{Namespace: pod.Namespace, Kind: "Pod", Name: string(pod.UID)}
}
