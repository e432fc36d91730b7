package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// stage is a pool on which a vpod x waits for one event.
type stage struct {
	*pool
	x       lab.VPod
	waiting *corev1.Pod
}

func newStage(t *testing.T, adapters []lab.Adapter, edit func(*lab.VPod)) *stage {
	t.Helper()
	s := &stage{pool: newPool(t, sharedLab(t), adapters...)}
	s.x = s.vpod("x")
	if edit != nil {
		edit(&s.x)
	}
	if s.x.SchedulerName != "" {
		s.scheduler = hardZones // The scheduler that has both added profiles.
	}
	return s
}

// place makes vreplicas of a vpod start on the adapters with these ordinals.
func (s *stage) place(vpod string, ordinals ...int) {
	s.t.Helper()
	v := s.x
	v.Name = vpod
	for _, o := range ordinals {
		s.grow(v, 1, s.on(o))
	}
}

// wait creates a vreplica of x that the scheduler refuses, on all that was arranged before.
func (s *stage) wait(edits ...func(*corev1.Pod)) {
	s.t.Helper()
	s.seen()
	s.waiting = s.grow(s.x, 1, edits...)[0]
	s.refused(labtest.TimeLimit(s.t), s.waiting)
}

func withFinalizer(pod *corev1.Pod) { pod.Finalizers = []string{"test.example/hold"} }

func withoutLabels(pod *corev1.Pod) { pod.Labels = nil }

// remove deletes a vpod's first vreplica.
func (s *stage) remove(vpod string) {
	s.t.Helper()
	s.delete(vpod + "-vreplica-0")
}

// annotate and label change the waiting vreplica.
func (s *stage) annotate(key, value string) {
	s.patchPod(s.waiting.Name, metadata("annotations", key, value))
}
func (s *stage) label(key, value string) { s.patchPod(s.waiting.Name, metadata("labels", key, value)) }

// give makes a vpod's first vreplica one of another vpod.
func (s *stage) give(from, to string) {
	s.patchPod(from+"-vreplica-0", metadata("labels", v1alpha1.LabelVPod, to))
}

func (p *pool) nodeLabel(ordinal int, key, value string) {
	p.patchNode(ordinal, metadata("labels", key, value))
}

func (p *pool) cordon(ordinal int, cordoned bool) {
	p.patchNode(ordinal, object{"spec": object{"unschedulable": cordoned}})
}

func (p *pool) capacity(ordinal int, n string) {
	p.patchNode(ordinal, object{"status": object{"allocatable": object{v1alpha1.ResourceVReplicas: n}}}, "status")
}

// taint sets the taints of an adapter beside that of its pool.
func (p *pool) taint(ordinal int, more ...corev1.Taint) {
	own := corev1.Taint{Key: v1alpha1.TaintPool, Value: p.name, Effect: corev1.TaintEffectNoSchedule}
	p.patchNode(ordinal, object{"spec": object{"taints": append(more, own)}})
}

// object is one in JSON.
type object map[string]any

func metadata(field, key, value string) object {
	return object{"metadata": object{field: object{key: value}}}
}

func (p *pool) patchPod(name string, patch object, subresources ...string) {
	p.t.Helper()
	_, err := p.Client().CoreV1().Pods(p.name).Patch(
		p.t.Context(), name, types.MergePatchType, encode(p.t, patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pool) patchNode(ordinal int, patch object, subresources ...string) {
	p.t.Helper()
	_, err := p.Client().CoreV1().Nodes().Patch(
		p.t.Context(), p.node(ordinal), types.MergePatchType, encode(p.t, patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		p.t.Fatal(err)
	}
}

func encode(t *testing.T, patch object) []byte {
	t.Helper()
	data, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (p *pool) delete(pod string) {
	p.t.Helper()
	if err := p.Client().CoreV1().Pods(p.name).Delete(p.t.Context(), pod, metav1.DeleteOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

// until waits for one pod to be as wanted, and returns it.
func (p *pool) until(ctx context.Context, name, what string, holds func(*corev1.Pod) bool) *corev1.Pod {
	p.t.Helper()
	var pod *corev1.Pod
	err := lab.Wait(ctx, "pod "+name+" is "+what, func(ctx context.Context) (err error) {
		pod, err = p.Client().CoreV1().Pods(p.name).Get(ctx, name, metav1.GetOptions{})
		if err == nil && !holds(pod) {
			err = fmt.Errorf("it is on node %q, refused for %q, nominated to %q", pod.Spec.NodeName, lab.Reason(pod), pod.Status.NominatedNodeName)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return pod
}

// bound waits until a pod is placed, and returns where.
func (p *pool) bound(ctx context.Context, pod *corev1.Pod) string {
	p.t.Helper()
	return p.until(ctx, pod.Name, "placed", func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" }).Spec.NodeName
}

// refused waits until a pod is refused a node, and returns why.
func (p *pool) refused(ctx context.Context, pod *corev1.Pod) string {
	p.t.Helper()
	return lab.Reason(p.until(ctx, pod.Name, "refused", func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "" && lab.Reason(pod) != ""
	}))
}
