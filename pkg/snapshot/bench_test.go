package snapshot

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// BenchmarkUpdate is what a cycle pays to see that nothing changed.
func BenchmarkUpdate(b *testing.B) {
	for _, adapters := range []int{100, 1000, 5000, 10_000} {
		var nodes []fwk.NodeInfo
		for i := range adapters {
			info := framework.NewNodeInfo()
			info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprint("a-", i), Labels: map[string]string{v1alpha1.LabelPool: "p", v1alpha1.LabelOrdinal: fmt.Sprint(i)},
			}})
			nodes = append(nodes, info)
		}
		b.Run(fmt.Sprint(adapters), func(b *testing.B) {
			cached := NewCache(v1alpha1.ResourceVReplicas)
			cached.Update(nodes)
			b.ReportAllocs()
			for b.Loop() {
				cached.Update(nodes)
			}
		})
	}
}
