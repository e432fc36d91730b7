package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

const (
	// never is a delay that no test waits for. Tests begin with it where a pool is to have more adapters than are wanted.
	never = time.Hour
	// quick is a change to a delay that is soon over.
	quick = `{"scaleDownDelay":"1s"}`
)

// newScaled makes a pool with autoscaling: the StatefulSet has so many adapters with the given room when it begins, and
// there are hosts for more.
func (s *stage) newScaled(t testing.TB, adapters, hosts int, capacity int32, edits ...func(*v1alpha1.Autoscaling)) *pool {
	t.Helper()
	p := s.newSet(t, slices.Repeat([]string{""}, adapters)...)
	for range hosts - adapters {
		p.addHost("")
	}
	p.autoscale(capacity, edits...)
	return p
}

// autoscale makes the pool, with autoscaling that shrinks in a second or two.
func (p *pool) autoscale(capacity int32, edits ...func(*v1alpha1.Autoscaling)) {
	p.t.Helper()
	auto := &v1alpha1.Autoscaling{MaxReplicas: 100}
	after(time.Second)(auto)
	for _, edit := range edits {
		edit(auto)
	}
	pool := p.set.Pool(capacity)
	pool.Spec.Autoscaling = auto
	p.create(pool)
}

func after(delay time.Duration) func(*v1alpha1.Autoscaling) {
	return func(a *v1alpha1.Autoscaling) { a.ScaleDownDelay = &metav1.Duration{Duration: delay} }
}

func between(least, most int32) func(*v1alpha1.Autoscaling) {
	return func(a *v1alpha1.Autoscaling) { a.MinReplicas, a.MaxReplicas = &least, most }
}

// set changes the autoscaling of the pool.
func (p *pool) setAutoscaling(patch string) {
	p.t.Helper()
	p.patch("adapterpool", p.name, fmt.Sprintf(`{"spec":{"autoscaling":%s}}`, patch))
}

// statefulSet reads that of the pool.
func (p *pool) statefulSet(ctx context.Context) (*appsv1.StatefulSet, error) {
	return p.Client().AppsV1().StatefulSets(p.name).Get(ctx, p.name, metav1.GetOptions{})
}

// scaledTo waits until the StatefulSet has so many replicas, all of them running, the pool is held at that number, and its
// condition Scaled has the reason and the words.
func (p *pool) scaledTo(replicas int32, reason, words string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%d adapters, %s", replicas, reason), func(ctx context.Context) error {
		set, err := p.statefulSet(ctx)
		if err != nil {
			return err
		}
		pool, err := p.poolNamed(ctx, p.name)
		if err != nil {
			return err
		}
		target, c := int32(-1), meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionScaled)
		if pool.Status.TargetAdapters != nil {
			target = *pool.Status.TargetAdapters
		}
		switch {
		case *set.Spec.Replicas != replicas || set.Status.Replicas != replicas || target != replicas || pool.Status.Adapters != replicas:
			err = fmt.Errorf("the StatefulSet has %d of %d, the pool is held at %d and has %d",
				set.Status.Replicas, *set.Spec.Replicas, target, pool.Status.Adapters)
		case c != nil && c.Reason == reason && strings.Contains(c.Message, words) && c.ObservedGeneration == pool.Generation &&
			(c.Status == metav1.ConditionTrue) == (reason == v1alpha1.ReasonWantedSize):
			return nil
		}
		return fmt.Errorf("%w; the condition is %+v, want %s: %q", err, c, reason, words)
	})
}

// saysScaled waits until the condition Scaled has the reason and the words.
func (p *pool) saysScaled(reason, words string) *v1alpha1.AdapterPool {
	p.t.Helper()
	var pool *v1alpha1.AdapterPool
	p.eventually("the pool says "+reason, func(ctx context.Context) (err error) {
		if pool, err = p.poolNamed(ctx, p.name); err != nil {
			return err
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionScaled)
		if c == nil || c.Reason != reason || !strings.Contains(c.Message, words) || c.ObservedGeneration != pool.Generation {
			return fmt.Errorf("its condition is %+v, want %s: %q", c, reason, words)
		}
		return nil
	})
	return pool
}

// witnessScale watches the StatefulSet from now on. The function tells all numbers of replicas that it was asked for, the
// first included.
func (p *pool) witnessScale() (seen func() []int32) {
	p.t.Helper()
	var mu sync.Mutex
	var numbers []int32
	note := func(set *appsv1.StatefulSet) {
		mu.Lock()
		defer mu.Unlock()
		if n := *set.Spec.Replicas; len(numbers) == 0 || numbers[len(numbers)-1] != n {
			numbers = append(numbers, n)
		}
	}
	set, err := p.statefulSet(p.t.Context())
	p.must(err)
	note(set)
	changes := p.watching(set.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.FieldSelector = "metadata.name=" + p.name
		return p.Client().AppsV1().StatefulSets(p.name).Watch(ctx, o)
	})
	p.t.Cleanup(changes.Stop)
	go func() {
		for e := range changes.ResultChan() {
			if set, ok := e.Object.(*appsv1.StatefulSet); ok {
				note(set)
			}
		}
	}()
	return func() []int32 {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(numbers)
	}
}

// wasAskedFor fails the test if the StatefulSet was not asked for exactly these numbers of replicas, once all are seen.
func (p *pool) wasAskedFor(seen func() []int32, want ...int32) {
	p.t.Helper()
	set, err := p.statefulSet(p.t.Context())
	p.must(err)
	p.eventually("the last number is seen", func(context.Context) error {
		if numbers := seen(); numbers[len(numbers)-1] != *set.Spec.Replicas {
			return fmt.Errorf("seen are %v", numbers)
		}
		return nil
	})
	if numbers := seen(); !slices.Equal(numbers, want) {
		p.t.Errorf("the StatefulSet was asked for %v, want %v", numbers, want)
	}
}

// said waits until there is an event about the pool with the reason and the words.
func (p *pool) said(reason, words string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("there is an event %s: %q", reason, words), func(ctx context.Context) error {
		list, err := p.Client().EventsV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
			FieldSelector: "regarding.kind=AdapterPool,reason=" + reason + ",regarding.name=" + p.name,
		})
		if err != nil {
			return err
		}
		var notes []string
		for _, e := range list.Items {
			if strings.Contains(e.Note, words) {
				return nil
			}
			notes = append(notes, e.Note)
		}
		return fmt.Errorf("there are %q", notes)
	})
}

// scaleByHand has somebody else set the number of replicas.
func (p *pool) scaleByHand(replicas int32) {
	p.t.Helper()
	_, err := p.Kubectl(p.t.Context(), "-n", p.name, "scale", "statefulset", p.name, fmt.Sprintf("--replicas=%d", replicas))
	p.must(err)
}
