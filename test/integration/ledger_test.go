package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"vpod.dev/vpod-scheduler/test/lab"
)

// ledger follows the placements of a namespace and notes what must not happen at any moment, however briefly: an
// adapter above its capacity, or a pod that is placed twice. A terminating pod holds its room until it is gone.
type ledger struct {
	capacity int

	mu sync.Mutex
	// limits are the capacities of nodes that have one of their own.
	limits   map[string]int
	nodes    map[types.UID]string
	load     map[string]int
	breaches []string
}

// audit opens the ledger of a pool whose adapters all have the same capacity.
func (p *pool) audit(capacity int) *ledger {
	p.t.Helper()
	b := &ledger{capacity: capacity, limits: map[string]int{}, nodes: map[types.UID]string{}, load: map[string]int{}}
	factory := informers.NewSharedInformerFactoryWithOptions(p.Client(), 0, informers.WithNamespace(p.name))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { b.placed(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { b.placed(obj.(*corev1.Pod)) },
		DeleteFunc: b.gone,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	factory.StartWithContext(p.t.Context())
	if !cache.WaitForCacheSync(p.t.Context().Done(), informer.HasSynced) {
		p.t.Fatal("the ledger's informer did not start")
	}
	return b
}

func (b *ledger) placed(pod *corev1.Pod) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, before := pod.Spec.NodeName, b.nodes[pod.UID]
	if now == before {
		return
	}
	if before != "" {
		b.breaches = append(b.breaches, fmt.Sprintf("%s moved from %s to %q", pod.Name, before, now))
	}
	b.nodes[pod.UID] = now
	b.load[now]++
	limit, own := b.limits[now]
	if !own {
		limit = b.capacity
	}
	if b.load[now] > limit {
		b.breaches = append(b.breaches, fmt.Sprintf("%s is number %d on %s", pod.Name, b.load[now], now))
	}
}

// allow sets the capacity of one node from now on.
func (b *ledger) allow(node string, capacity int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limits[node] = capacity
}

func (b *ledger) gone(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	pod := obj.(*corev1.Pod)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.load[b.nodes[pod.UID]]--
	delete(b.nodes, pod.UID)
}

// count is how many pods are placed now.
func (b *ledger) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.nodes)
}

// reaches waits until at least n pods are placed.
func (b *ledger) reaches(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	err := lab.Wait(ctx, fmt.Sprintf("%d pods are placed", n), func(context.Context) error {
		if have := b.count(); have < n {
			return fmt.Errorf("placed are %d", have)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check fails the test for each breach.
func (b *ledger) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, breach := range b.breaches {
		t.Error(breach)
	}
}

// everyPodIsPlaced compares with what the API server has.
func (p *pool) everyPodIsPlaced(want int) {
	p.t.Helper()
	pods, err := p.Client().CoreV1().Pods(p.name).List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	placed := 0
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" {
			placed++
		}
	}
	if placed != want || len(pods.Items) != want {
		p.t.Errorf("of %d pods %d are placed, want %d", len(pods.Items), placed, want)
	}
}

// attempts counts how often a scheduler, whose verbosity is 3 or more, has tried to place a pod.
func attempts(scheduler *lab.Process, pod *corev1.Pod) int {
	n := 0
	for line := range strings.Lines(scheduler.Log()) {
		if strings.Contains(line, `"Attempting to schedule pod"`) &&
			strings.Contains(line, fmt.Sprintf("pod=%q", pod.Namespace+"/"+pod.Name)) {
			n++
		}
	}
	return n
}
