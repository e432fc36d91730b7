package lab

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// AdapterSet describes a StatefulSet whose pods are adapters, at most one on a host, on hosts of its own: those with the
// label HostsOf.
type AdapterSet struct {
	Namespace, Name string
	Replicas        int32
	// BySize has kube-scheduler take the largest host for each adapter, where it would spread them over zones first.
	BySize bool
}

// hostsOf is the label of a host that says whose adapters run there.
const hostsOf = "hosts-of"

// Host is a simulated real node for the adapters of this set.
func (s AdapterSet) Host(name, zone string) *corev1.Node {
	host := Host(name, zone)
	host.Labels[hostsOf] = s.Name
	return host
}

// StatefulSet has kube-controller-manager keep the adapters and kube-scheduler place them.
func (s AdapterSet) StatefulSet() *appsv1.StatefulSet {
	labels := map[string]string{"app": s.Name}
	var constraints []corev1.TopologySpreadConstraint
	if s.BySize {
		// Any constraint takes the place of kube-scheduler's defaults. This one is kept anyway.
		constraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
		}}
	}
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            &s.Replicas,
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeSelector:              map[string]string{hostsOf: s.Name},
					TopologySpreadConstraints: constraints,
					Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
						RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
							LabelSelector: &metav1.LabelSelector{MatchLabels: labels}, TopologyKey: corev1.LabelHostname,
						}},
					}},
					TerminationGracePeriodSeconds: new(int64(0)),
					Containers: []corev1.Container{{
						Name:  "adapter",
						Image: "none",
						Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
							corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"),
						}},
					}},
				},
			},
		},
	}
}

// Pool is an AdapterPool of this set, of the same name.
func (s AdapterSet) Pool(capacity int32) *v1alpha1.AdapterPool {
	return &v1alpha1.AdapterPool{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindAdapterPool},
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		Spec: v1alpha1.AdapterPoolSpec{
			StatefulSetRef: v1alpha1.StatefulSetReference{Namespace: s.Namespace, Name: s.Name},
			Capacity:       capacity,
		},
	}
}

// PodName is the name of the adapter with an ordinal.
func (s AdapterSet) PodName(ordinal int) string { return fmt.Sprintf("%s-%d", s.Name, ordinal) }

// ScaleAdapters sets the number of adapters, and returns when they run.
func (l *Lab) ScaleAdapters(ctx context.Context, s AdapterSet, replicas int32) error {
	sets := l.client.AppsV1().StatefulSets(s.Namespace)
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := sets.Patch(ctx, s.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "scale"); err != nil {
		return fmt.Errorf("scaling StatefulSet %s: %w", s.Name, err)
	}
	return Wait(ctx, fmt.Sprintf("StatefulSet %s has %d adapters", s.Name, replicas), func(ctx context.Context) error {
		set, err := sets.Get(ctx, s.Name, metav1.GetOptions{})
		if err == nil && (set.Status.ReadyReplicas != replicas || set.Status.Replicas != replicas) {
			err = fmt.Errorf("it has %d, of which %d are ready", set.Status.Replicas, set.Status.ReadyReplicas)
		}
		return err
	})
}

// CreateAdapters creates a StatefulSet with one adapter on each of the hosts, which it creates as well. Host by host: so
// the adapter with ordinal 0 is on the first host, and so on. A kube-scheduler has to run.
func (l *Lab) CreateAdapters(ctx context.Context, s AdapterSet, hosts ...*corev1.Node) error {
	s.Replicas = 0
	if _, err := l.client.AppsV1().StatefulSets(s.Namespace).Create(ctx, s.StatefulSet(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating StatefulSet %s: %w", s.Name, err)
	}
	for i, host := range hosts {
		if err := l.CreateNode(ctx, host); err != nil {
			return err
		}
		if err := l.ScaleAdapters(ctx, s, int32(i+1)); err != nil {
			return err
		}
	}
	return nil
}
