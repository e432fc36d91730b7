package controllers

import (
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// uids tells for each placed vreplica of a VPod the adapter that it is on.
func (p *pool) uids(name string) map[types.UID]string {
	p.t.Helper()
	pods, err := p.placeholders(p.t.Context(), name)
	p.must(err)
	placed := map[types.UID]string{}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			placed[pod.UID] = pod.Spec.NodeName
		}
	}
	return placed
}

// stayed fails the test if one of the vreplicas is not where it was, and the very same.
func (p *pool) stayed(name string, before map[types.UID]string) {
	p.t.Helper()
	now := p.uids(name)
	maps.DeleteFunc(now, func(uid types.UID, _ string) bool { _, old := before[uid]; return !old })
	if !maps.Equal(before, now) {
		p.t.Errorf("vreplicas of %s moved: they were %v, and of those are there %v", name, before, now)
	}
}

// witnessReady watches a VPod from now on. The function tells the fewest placeholders that were ready at any time since
// all were.
func (p *pool) witnessReady(name string) (fewest func() int) {
	p.t.Helper()
	var mu sync.Mutex
	ready, least := map[types.UID]bool{}, -1
	count := func() {
		n := 0
		for _, is := range ready {
			if is {
				n++
			}
		}
		if least < 0 || n < least {
			least = n
		}
	}
	note := func(obj any, initial bool) {
		mu.Lock()
		defer mu.Unlock()
		pod := obj.(*corev1.Pod)
		ready[pod.UID] = podReady(pod)
		if !initial {
			count()
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(p.Client(), 0, informers.WithNamespace(p.name),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = v1alpha1.LabelVPod + "=" + name }))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    note,
		UpdateFunc: func(_, obj any) { note(obj, false) },
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			mu.Lock()
			defer mu.Unlock()
			delete(ready, obj.(*corev1.Pod).UID)
			count()
		},
	})
	p.must(err)
	factory.StartWithContext(p.t.Context())
	if !cache.WaitForCacheSync(p.t.Context().Done(), informer.HasSynced) {
		p.t.Fatal("the witness did not start")
	}
	return func() int { mu.Lock(); defer mu.Unlock(); return least }
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
