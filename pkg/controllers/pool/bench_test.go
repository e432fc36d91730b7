package pool

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// What a look at a large pool costs: 200 adapters, 500 VPods, 20,000 vreplicas.
func BenchmarkLook(b *testing.B) {
	s := scaledPool(200)
	for _, node := range s.nodes {
		node.Status.Allocatable[v1alpha1.ResourceVReplicas] = resource.MustParse("120")
	}
	s.pool.Spec.Capacity = 120
	for i := range 500 {
		on := make([]int, 200)
		for k := range 40 {
			on[(i*7+k*5)%200]++
		}
		s.vpod(fmt.Sprint("x-", i), 40, 0, on...)
	}
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			s.view(s.count(), testPatience)
		}
	})
	b.Run("shrink", func(b *testing.B) {
		c := s.count()
		for b.Loop() {
			s.shrink(c, 170)
		}
	})
}
