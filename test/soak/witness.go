package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// event is one write of an object, or its removal.
type event struct {
	version uint64
	// at is when the witness heard of it.
	at time.Time
	// object is as it was written, or as it was last if it is gone.
	object client.Object
	gone   bool
	// missed: the removal itself was not seen, as while the API server was down, and may have been at any time since version.
	missed bool
}

// Witness watches everything for as long as it lives. The informers tell of each kind by itself, and later than others of
// another; so it writes down what they tell, and puts that into the order in which it was written, by the revisions of the
// store, before it judges: what History sees is what was there at each moment.
type Witness struct {
	mu sync.Mutex
	// heard are the events that are not judged yet, current the objects as the informers have them.
	heard   []event
	current map[types.UID]client.Object
	outages outages
	history *history
}

func emptyWitness() *Witness {
	return &Witness{current: map[types.UID]client.Object{}, outages: newOutages(), history: newHistory()}
}

// newWitness starts to watch, and returns once it has seen everything.
func newWitness(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) (*Witness, error) {
	w := emptyWitness()
	c, err := cache.New(config, cache.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making the witness: %w", err)
	}
	kinds := []client.Object{
		&corev1.Pod{}, &corev1.Node{}, &appsv1.StatefulSet{}, &v1alpha1.VPod{}, &v1alpha1.AdapterPool{},
		&policyv1.PodDisruptionBudget{},
	}
	for _, kind := range kinds {
		informer, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { w.hear(o.(client.Object)) },
			UpdateFunc: func(was, is any) { w.hearAgain(was.(client.Object), is.(client.Object)) },
			DeleteFunc: w.hearEnd,
		})
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
	}
	go func() { _ = c.Start(ctx) }() // It ends with ctx.
	if !c.WaitForCacheSync(ctx) {
		return nil, errors.New("starting the witness: its informers did not fill")
	}
	return w, nil
}

func (w *Witness) hear(o client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was := w.current[o.GetUID()]; was != nil && was.GetResourceVersion() == o.GetResourceVersion() {
		return // a resync, or the same object after the watch was opened again
	}
	w.current[o.GetUID()] = o
	w.note(event{version: version(o.GetResourceVersion()), at: time.Now(), object: o})
}

// hearAgain knows that what went and came back with the same name, while nobody saw, looks like a change.
func (w *Witness) hearAgain(was, is client.Object) {
	if was.GetUID() != is.GetUID() {
		w.hearEnd(toolscache.DeletedFinalStateUnknown{Key: key(was), Obj: was})
	}
	w.hear(is)
}

func (w *Witness) note(e event) {
	w.outages.happens(e)
	w.heard = append(w.heard, e)
}

func (w *Witness) hearEnd(o any) {
	unknown, missed := o.(toolscache.DeletedFinalStateUnknown)
	if missed {
		o = unknown.Obj
	}
	object := o.(client.Object)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.current, object.GetUID())
	w.note(event{
		version: version(object.GetResourceVersion()), at: time.Now(), object: object, gone: true, missed: missed,
	})
}

// sees says what the witness has not heard of yet. When it is nil, the witness knows all that led to the world.
func (w *Witness) sees(now *world) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := now.seen()
	for _, o := range all {
		have := w.current[o.GetUID()]
		if have == nil || have.GetResourceVersion() != o.GetResourceVersion() {
			return fmt.Errorf("%T %s has just changed", o, key(o))
		}
	}
	if len(w.current) != len(all) {
		return fmt.Errorf("there are %d objects, and there were just %d", len(all), len(w.current))
	}
	return nil
}

// judge goes through what has happened up to a revision.
func (w *Witness) judge(upTo uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.heard, func(a, b event) int { return cmp.Compare(a.version, b.version) })
	n, _ := slices.BinarySearchFunc(w.heard, upTo+1, func(e event, v uint64) int { return cmp.Compare(e.version, v) })
	for _, e := range w.heard[:n] {
		w.history.happens(e)
	}
	w.heard = slices.Clone(w.heard[n:])
}

// expect tells the witness what is about to be done by hand.
func (w *Witness) expect(do func(*expected)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(&w.history.expected)
}

// settled begins a new step: what was expected in the last one is over.
func (w *Witness) settled() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history.settled()
}

// world is what the informers know: it costs nobody anything, and may be late.
func (w *Witness) world() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all objects
	for _, o := range w.current {
		switch o := o.(type) {
		case *corev1.Pod:
			all.pods = append(all.pods, o)
		case *corev1.Node:
			all.nodes = append(all.nodes, o)
		case *v1alpha1.VPod:
			all.vpods = append(all.vpods, o)
		case *v1alpha1.AdapterPool:
			all.pools = append(all.pools, o)
		case *appsv1.StatefulSet:
			all.sets = append(all.sets, o)
		case *policyv1.PodDisruptionBudget:
			all.budgets = append(all.budgets, o)
		}
	}
	now := newWorld(all, time.Now())
	now.leases, now.notReady = nil, maps.Clone(w.outages.since)
	return now
}

// notReady is since when which adapters are not ready.
func (w *Witness) notReady() map[string]time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.outages.since)
}

// report is what the witness has noted so far.
func (w *Witness) report() (findings, tally) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.history.breaches), w.history.tally
}
