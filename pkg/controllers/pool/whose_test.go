package pool

import (
	"fmt"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

// A bare pod with the label of a VPod is that VPod's if it adopts it, and else takes room that is nobody's.
func TestWhoseABarePodIs(t *testing.T) {
	for name, want := range map[string]string{
		adapter.PlaceholderName("x", 9): "1: 9 vreplicas wanted, 10 per adapter",
		"my-own-9":                      "2: 9 vreplicas wanted, 10 per adapter, adapter dispatcher-0 with 2 taken by pods of no VPod",
	} {
		s := scaledPool(1).vpod("x", 9, 0, 7).place("x", "kafka-0", 2)
		for i, pod := range s.placeholders[7:] {
			pod.Name, pod.Spec.Containers = name+fmt.Sprint(i), requestsOne()
		}
		if got := s.size(s.count()).String(); got != want {
			t.Errorf("with %s the size is %s, want %s", name, got, want)
		}
	}
}
