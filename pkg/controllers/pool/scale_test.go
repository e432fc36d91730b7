package pool

import (
	"context"
	"errors"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// stored is an API server with a pool whose adapters are empty, and a StatefulSet that nobody can scale.
type stored struct {
	client.Client
	pool *v1alpha1.AdapterPool
}

var errScaled = errors.New("it was asked for another number of replicas")

func (s stored) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	s.pool.DeepCopyInto(o.(*v1alpha1.AdapterPool))
	return nil
}

func (s stored) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func (s stored) SubResource(string) client.SubResourceClient { return frozen{} }

type frozen struct{ client.SubResourceClient }

func (frozen) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return errScaled
}

// A pool that is not scaled any more has the adapters in use again that were found empty.
func TestNothingIsRemovedFromAPoolThatChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.AdapterPool)
		to   int32
		want error
	}{
		"as it was":          {edit: func(*v1alpha1.AdapterPool) {}, to: 1, want: errScaled},
		"switched off":       {edit: func(p *v1alpha1.AdapterPool) { p.Generation++ }, to: 1, want: errBehind},
		"created again":      {edit: func(p *v1alpha1.AdapterPool) { p.UID = "other" }, to: 1, want: errBehind},
		"more are no danger": {edit: func(p *v1alpha1.AdapterPool) { p.Generation++ }, to: 3, want: errScaled},
	} {
		t.Run(name, func(t *testing.T) {
			s := scaledPool(2)
			api := stored{pool: s.pool.DeepCopy()}
			tc.edit(api.pool)
			r := &reconciler{client: api, live: api, clock: clocktesting.NewFakePassiveClock(now)}
			d := decision{target: tc.to, replicas: tc.to}
			err := r.rescale(t.Context(), s.state, s.view(s.count(), testPatience), d, attempt{&autoscalingv1.Scale{}, now})
			if !errors.Is(err, tc.want) {
				t.Errorf("it says %v, want %v", err, tc.want)
			}
		})
	}
}
