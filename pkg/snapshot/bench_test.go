package snapshot

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// BenchmarkUpdate is what a cycle pays to see what changed: nothing, or one adapter that serves 100 vreplicas of 20 vpods.
func BenchmarkUpdate(b *testing.B) {
	for _, adapters := range []int{100, 1000, 5000, 10_000} {
		nodes := adapterNodes(adapters, 0)
		cached := NewCache(v1alpha1.ResourceVReplicas)
		cached.Update(nodes)
		b.Run(fmt.Sprint("Same/", adapters), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cached.Update(nodes)
			}
		})
	}
	b.Run("OneChanged/100", func(b *testing.B) {
		nodes := adapterNodes(100, 100)
		cached := NewCache(v1alpha1.ResourceVReplicas)
		cached.Update(nodes)
		changing, added := nodes[0].(*framework.NodeInfo), vreplicaPod(100)
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			if n%2 == 0 {
				changing.AddPod(added)
			} else if err := changing.RemovePod(klog.Background(), added); err != nil {
				b.Fatal(err)
			}
			cached.Update(nodes)
		}
	})
}

// BenchmarkRequested is what the controllers pay for each pod they look at.
func BenchmarkRequested(b *testing.B) {
	pod := vreplicaPod(0)
	b.ReportAllocs()
	for b.Loop() {
		if Requested(pod, v1alpha1.ResourceVReplicas) != 1 {
			b.Fatal("the pod requests something else")
		}
	}
}

// adapterNodes are nodes of a pool, each with the same number of pods.
func adapterNodes(adapters, pods int) []fwk.NodeInfo {
	var nodes []fwk.NodeInfo
	for i := range adapters {
		info := framework.NewNodeInfo()
		info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("a-", i), Labels: map[string]string{v1alpha1.LabelPool: "p", v1alpha1.LabelOrdinal: fmt.Sprint(i)},
		}})
		for n := range pods {
			info.AddPod(vreplicaPod(n))
		}
		nodes = append(nodes, info)
	}
	return nodes
}

func vreplicaPod(n int) *v1.Pod {
	name := fmt.Sprint("vreplica-", n)
	return st.MakePod().Namespace("ns").Name(name).UID(name).Label(v1alpha1.LabelPool, "p").Label(v1alpha1.LabelVPod, fmt.Sprint("vpod-", n%20)).
		Req(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "1"}).Obj()
}
