package integration

import (
	"context"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestC18_TheAdapterLimitBoundsAdaptersNotVreplicas(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(3, "z1", "z2", "z3")...)
	x := p.vpod("x")
	x.MaxAdapters = 2
	p.steps(x, []step{{5, "3/2/0"}})

	p.grow(x, 3)
	waiting := p.refusedFor(x, "3/3/0", 2, "1 adapter(s) beyond the adapter limit of the vpod, "+full(2))

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for _, pod := range waiting {
		p.patchPod(pod.Name, metadata("annotations", v1alpha1.AnnotationMaxAdapters, "3"))
	}
	p.settledWithin(ctx, x, "3/3/2", 0)
}
