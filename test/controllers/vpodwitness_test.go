package controllers

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	retry "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// witness sees every change of the placeholders and VPods of a namespace from its start on, one by one.
type witness struct {
	mu   sync.Mutex
	pods map[types.UID]*corev1.Pod
	// alive and on are how many placeholders of each VPod exist and how many are on each adapter, and the most of each.
	alive, mostAlive, on, mostOn map[string]int
	// created, bound and deleted count placeholders by VPod.
	created, bound, deleted map[string]int
	vpods                   map[string]*v1alpha1.VPod
	// writes counts the writes of each VPod's status, fewest is the least sum of placements that one of them told.
	writes, fewest map[string]int
	// wrong is the first status that promised more than was asked for.
	wrong string
}

// witnessAll starts a witness of the pool's namespace.
func (p *pool) witnessAll() *witness {
	p.t.Helper()
	w := &witness{pods: map[types.UID]*corev1.Pod{}, vpods: map[string]*v1alpha1.VPod{}}
	for _, m := range []*map[string]int{&w.alive, &w.mostAlive, &w.on, &w.mostOn, &w.created, &w.bound, &w.deleted, &w.writes, &w.fewest} {
		*m = map[string]int{}
	}
	pods, err := p.Client().CoreV1().Pods(p.name).List(p.t.Context(), metav1.ListOptions{LabelSelector: v1alpha1.LabelVPod})
	p.must(err)
	for i := range pods.Items {
		w.seePod(watch.Modified, &pods.Items[i])
	}
	podWatch := p.watching(pods.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.LabelSelector = v1alpha1.LabelVPod
		return p.Client().CoreV1().Pods(p.name).Watch(ctx, o)
	})
	watcher, err := client.NewWithWatch(p.Config(), client.Options{Scheme: p.Objects().Scheme()})
	p.must(err)
	var vpods v1alpha1.VPodList
	p.must(watcher.List(p.t.Context(), &vpods, client.InNamespace(p.name)))
	for i := range vpods.Items {
		w.vpods[vpods.Items[i].Name] = &vpods.Items[i]
	}
	vpodWatch := p.watching(vpods.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		return watcher.Watch(ctx, &v1alpha1.VPodList{}, &client.ListOptions{Namespace: p.name, Raw: &o})
	})
	for _, changes := range []watch.Interface{podWatch, vpodWatch} {
		p.t.Cleanup(changes.Stop)
		go func() {
			for e := range changes.ResultChan() {
				switch o := e.Object.(type) {
				case *corev1.Pod:
					w.seePod(e.Type, o)
				case *v1alpha1.VPod:
					w.seeVPod(e.Type, o)
				}
			}
		}()
	}
	return w
}

// watching goes on where it was when the API server ends a watch, as one under load does.
func (p *pool) watching(from string, start cache.WatchFuncWithContext) watch.Interface {
	p.t.Helper()
	watcher, err := retry.NewRetryWatcherWithContext(p.t.Context(), from, &cache.ListWatch{WatchFuncWithContext: start})
	p.must(err)
	return watcher
}

func (w *witness) seePod(change watch.EventType, pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name, was := pod.Labels[v1alpha1.LabelVPod], w.pods[pod.UID]
	if was != nil && isAlive(was) {
		w.alive[was.Labels[v1alpha1.LabelVPod]]--
		w.on[was.Spec.NodeName]--
	}
	switch change {
	case watch.Deleted:
		delete(w.pods, pod.UID)
		w.deleted[name]++
		return
	case watch.Added:
		w.created[name]++
	}
	if was != nil && was.Spec.NodeName == "" && pod.Spec.NodeName != "" {
		w.bound[name]++
	}
	w.pods[pod.UID] = pod
	if isAlive(pod) {
		w.alive[name]++
		w.on[pod.Spec.NodeName]++
		w.mostAlive[name] = max(w.mostAlive[name], w.alive[name])
		w.mostOn[pod.Spec.NodeName] = max(w.mostOn[pod.Spec.NodeName], w.on[pod.Spec.NodeName])
	}
}

func isAlive(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

func (w *witness) seeVPod(change watch.EventType, v *v1alpha1.VPod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.vpods[v.Name]
	w.vpods[v.Name] = v
	if change != watch.Modified || was == nil || apiequality.Semantic.DeepEqual(was.Status, v.Status) {
		return
	}
	w.writes[v.Name]++
	sum := int32(0)
	for _, placement := range v.Status.Placements {
		sum += placement.VReplicas
	}
	if fewest, known := w.fewest[v.Name]; !known || int(sum) < fewest {
		w.fewest[v.Name] = int(sum)
	}
	if asked := *v.Status.DesiredReplicas; w.wrong == "" && (sum > asked || sum != v.Status.ScheduledReplicas) {
		w.wrong = fmt.Sprintf("%s asks for %d, and its status has %+v", v.Name, asked, v.Status)
	}
}

// hear waits until a witness has seen all that happened so far, and reads what it saw.
func (p *pool) hear(w *witness, read func(*witness)) {
	p.t.Helper()
	last := p.byHand(1000)
	p.eventually("the witness has seen all", func(ctx context.Context) error {
		var vpods v1alpha1.VPodList
		if err := p.Objects().List(ctx, &vpods, client.InNamespace(p.name)); err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.pods[last.UID] == nil {
			return fmt.Errorf("it has not seen %s", last.Name)
		}
		for _, v := range vpods.Items {
			if seen := w.vpods[v.Name]; seen == nil || seen.ResourceVersion != v.ResourceVersion {
				return fmt.Errorf("it has not seen the last of %s", v.Name)
			}
		}
		return nil
	})
	p.must(p.Client().CoreV1().Pods(p.name).Delete(p.t.Context(), last.Name, metav1.DeleteOptions{}))
	w.mu.Lock()
	defer w.mu.Unlock()
	read(w)
}
