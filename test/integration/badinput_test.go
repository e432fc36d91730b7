package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

const noPool = "the pod has no label vpod.dev/pool, which names the pool of adapters to use; this scheduler places nothing but vreplicas"

// All of them wait side by side in one pool, in which a good vreplica that is younger than they is placed all the same.
func TestBadInput_OfAVreplicaIsToldInItsEvents(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit func(*corev1.Pod)
		want string
	}{
		"no pool":         {all(inPool(""), requestingNothing), noPool},
		"no labels":       {all(withoutLabels, requestingNothing), noPool},
		"an unknown pool": {inPool("nowhere"), `pool "nowhere" has no adapters: no node is labelled vpod.dev/pool=nowhere`},

		"limit 0":              {limitedTo("0"), noLimit(`"0"`)},
		"limit -1":             {limitedTo("-1"), noLimit(`"-1"`)},
		"limit x":              {limitedTo("x"), noLimit(`"x"`)},
		"limit 02":             {limitedTo("02"), noLimit(`"02"`)},
		"limit 1.5":            {limitedTo("1.5"), noLimit(`"1.5"`)},
		"a limit of no text":   {limitedTo(""), noLimit(`""`)},
		"a limit over 32 bits": {limitedTo("4294967297"), noLimit(`"4294967297"`)},

		"a request of 2":              {requesting("2"), notOne("2")},
		"a request of 0":              {requesting("0"), notOne("0")},
		"no request":                  {requestingNothing, notOne("0")},
		"2 containers that request 1": {twice, notOne("2")},
	}
	p := sharedPool(t, zones(10, "z1", "z2")...)
	pods := map[string]*corev1.Pod{}
	for name, tc := range tests {
		pods[name] = p.grow(p.vpod("bad"), 1, tc.edit)[0]
	}
	p.steps(p.vpod("good"), []step{{3, "2/1"}})

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := p.in(t)
			p.saysOf(pods[name], tc.want)
			p.described(pods[name].Name, tc.want)
		})
	}
}

// in returns the pool for use in a subtest.
func (p *pool) in(t *testing.T) *pool {
	same := *p
	same.t = t
	return &same
}

func noLimit(text string) string {
	return "the pod's annotation vpod.dev/max-adapters: " + text + " is not a whole number from 1 to 2147483647 in plain decimal digits"
}

func notOne(n string) string {
	return "the pod requests " + n + " vpod.dev/vreplicas, but a placeholder stands for 1 vreplica and requests exactly 1: " +
		"create a pod for each vreplica"
}

// inPool has a vreplica name another pool, or none.
func inPool(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeSelector = nil
		delete(pod.Labels, v1alpha1.LabelPool)
		if name != "" {
			pod.Labels[v1alpha1.LabelPool] = name
		}
	}
}

// all makes several edits. One that requests vreplicas and has no pool would be refused when it is created.
func all(edits ...func(*corev1.Pod)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for _, edit := range edits {
			edit(pod)
		}
	}
}

func limitedTo(text string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations = map[string]string{v1alpha1.AnnotationMaxAdapters: text} }
}

func requestingNothing(pod *corev1.Pod) {
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
}

func twice(pod *corev1.Pod) {
	second := pod.Spec.Containers[0].DeepCopy()
	second.Name = "second"
	pod.Spec.Containers = append(pod.Spec.Containers, *second)
}
