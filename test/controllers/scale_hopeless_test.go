package controllers

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// Pods that no adapter can ever be found for, one that is no placeholder as it should be and one with rules of its own, keep
// a pool neither from shrinking nor from draining its adapters.
func TestG7_PodsWithoutHopeKeepNoAdapters(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newScaled(t, 3, 3, 10, after(never))
	p.run("x", 3, "1/1/1")
	double := lab.VPod{Namespace: p.name, Name: "double", Pool: p.name, SchedulerName: v1alpha1.SchedulerName}.Pod(0)
	two := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse("2")}
	double.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: two, Limits: two}
	picky := lab.VPod{Namespace: p.name, Name: "picky", Pool: p.name, SchedulerName: v1alpha1.SchedulerName}.Pod(0)
	picky.Spec.NodeSelector = map[string]string{v1alpha1.LabelPool: p.name, corev1.LabelTopologyZone: "nowhere"}
	for _, pod := range []*corev1.Pod{double, picky} {
		p.create(pod)
		p.eventually(pod.Name+" finds no place", func(ctx context.Context) error {
			pod, err := p.Client().CoreV1().Pods(p.name).Get(ctx, pod.Name, metav1.GetOptions{})
			if err == nil && len(pod.Status.Conditions) == 0 {
				err = fmt.Errorf("nobody has tried it")
			}
			return err
		})
	}
	p.setAutoscaling(quick)
	p.scaledTo(1, v1alpha1.ReasonWantedSize, "size 1: 4 vreplicas wanted")
	p.settled("x", "3")
}
