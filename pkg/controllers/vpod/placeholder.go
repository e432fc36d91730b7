package vpod

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// image is one that policies about images know. Nobody ever pulls it.
const image = "registry.k8s.io/pause:3.10"

// selector selects the placeholders of a VPod. It is a string, because that is what the scale subresource wants.
func selector(vpod *v1alpha1.VPod) string { return v1alpha1.LabelVPod + "=" + vpod.Name }

// placeholder is the pod that stands for one vreplica. Namespaces with the pod security standard "restricted" accept it.
func placeholder(vpod *v1alpha1.VPod, index int) *corev1.Pod {
	one := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("1")}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: vpod.Namespace,
			Name:      adapter.PlaceholderName(vpod.Name, index),
			Annotations: map[string]string{
				v1alpha1.AnnotationSchedulerName:     schedulerName(vpod),
				v1alpha1.AnnotationPriorityClassName: vpod.Spec.PriorityClassName,
			},
		},
		Spec: corev1.PodSpec{
			SchedulerName:                 schedulerName(vpod),
			PriorityClassName:             vpod.Spec.PriorityClassName,
			NodeSelector:                  map[string]string{v1alpha1.LabelPool: vpod.Spec.PoolName},
			Tolerations:                   tolerations(vpod.Spec.PoolName),
			TerminationGracePeriodSeconds: new(int64(0)),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:      "vreplica",
				Image:     image,
				Resources: corev1.ResourceRequirements{Requests: one, Limits: one},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	mend(vpod, pod)
	return pod
}

// schedulerName is the profile for new vreplicas. The API server sets the default, but not in VPods that were stored by a
// version without one.
func schedulerName(vpod *v1alpha1.VPod) string {
	if vpod.Spec.SchedulerName == "" {
		return v1alpha1.SchedulerName
	}
	return vpod.Spec.SchedulerName
}

// tolerations are for the pool's taint, and for an adapter in trouble: only the controllers move vreplicas, and time that
// passes moves none.
func tolerations(pool string) []corev1.Toleration {
	all := []corev1.Toleration{{
		Key: v1alpha1.TaintPool, Operator: corev1.TolerationOpEqual, Value: pool, Effect: corev1.TaintEffectNoSchedule,
	}}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
			all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
		}
	}
	return all
}

// isMended says whether mend has nothing to do.
func isMended(vpod *v1alpha1.VPod, pod *corev1.Pod) bool {
	return pod.Labels[v1alpha1.LabelVPod] == vpod.Name && pod.Labels[v1alpha1.LabelPool] == vpod.Spec.PoolName &&
		pod.Annotations[v1alpha1.AnnotationMaxAdapters] == maxAdapters(vpod) && metav1.GetControllerOfNoCopy(pod) != nil
}

// mend sets what can be changed of a placeholder and has to follow its VPod, or was changed by hand. The adapter limit wakes
// a placeholder that waits for it.
func mend(vpod *v1alpha1.VPod, pod *corev1.Pod) {
	metav1.SetMetaDataLabel(&pod.ObjectMeta, v1alpha1.LabelVPod, vpod.Name)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, v1alpha1.LabelPool, vpod.Spec.PoolName)
	if limit := maxAdapters(vpod); limit != "" {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.AnnotationMaxAdapters, limit)
	} else {
		delete(pod.Annotations, v1alpha1.AnnotationMaxAdapters)
	}
	if metav1.GetControllerOfNoCopy(pod) == nil {
		owner := metav1.NewControllerRef(vpod, v1alpha1.GroupVersion.WithKind(v1alpha1.KindVPod))
		pod.OwnerReferences = append(pod.OwnerReferences, *owner)
	}
}

// maxAdapters is the adapter limit as the scheduler reads it, "" without one.
func maxAdapters(vpod *v1alpha1.VPod) string {
	if vpod.Spec.MaxAdapters == nil {
		return ""
	}
	return strconv.Itoa(int(*vpod.Spec.MaxAdapters))
}

// otherScheduler and otherPriority say whether a placeholder was made for another profile or PriorityClass than its VPod
// has now. What it asked for counts, not what admission made of it, or each would be replaced again and again.
func otherScheduler(vpod *v1alpha1.VPod, pod *corev1.Pod) bool {
	return asked(pod, v1alpha1.AnnotationSchedulerName, pod.Spec.SchedulerName) != schedulerName(vpod)
}

func otherPriority(vpod *v1alpha1.VPod, pod *corev1.Pod) bool {
	return asked(pod, v1alpha1.AnnotationPriorityClassName, pod.Spec.PriorityClassName) != vpod.Spec.PriorityClassName
}

func asked(pod *corev1.Pod, annotation, has string) string {
	if asked, remembers := pod.Annotations[annotation]; remembers {
		return asked
	}
	return has
}
