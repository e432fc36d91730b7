package vpod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

const wantPlaceholder = `
metadata:
  annotations:
    vpod.dev/max-adapters: "2"
    vpod.dev/priority-class-name: new
    vpod.dev/scheduler-name: vpod-scheduler
  labels:
    vpod.dev/pool: a
    vpod.dev/vpod: x
  name: x-vreplica-3
  namespace: ns
  ownerReferences:
  - apiVersion: vpod.dev/v1alpha1
    blockOwnerDeletion: true
    controller: true
    kind: VPod
    name: x
    uid: x-uid
spec:
  automountServiceAccountToken: false
  containers:
  - image: registry.k8s.io/pause:3.10
    name: vreplica
    resources:
      limits:
        vpod.dev/vreplicas: "1"
      requests:
        vpod.dev/vreplicas: "1"
    securityContext:
      allowPrivilegeEscalation: false
      capabilities:
        drop: [ALL]
  enableServiceLinks: false
  nodeSelector:
    vpod.dev/pool: a
  priorityClassName: new
  schedulerName: vpod-scheduler
  securityContext:
    runAsNonRoot: true
    seccompProfile:
      type: RuntimeDefault
  terminationGracePeriodSeconds: 0
  tolerations:
  - {key: vpod.dev/pool, operator: Equal, value: a, effect: NoSchedule}
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoSchedule}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}
`

func TestPlaceholder(t *testing.T) {
	var want corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(wantPlaceholder), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, placeholder(xVPod(1, limitedTo(2)), 3)); diff != "" {
		t.Errorf("placeholder (-want +got):\n%s", diff)
	}
}

func TestMend(t *testing.T) {
	for name, edit := range map[string]func(*corev1.Pod){
		"as it was created":     func(*corev1.Pod) {},
		"another limit":         func(p *corev1.Pod) { p.Annotations[v1alpha1.AnnotationMaxAdapters] = "1" },
		"no limit":              func(p *corev1.Pod) { delete(p.Annotations, v1alpha1.AnnotationMaxAdapters) },
		"no annotations at all": func(p *corev1.Pod) { p.Annotations = nil },
		"another vpod":          func(p *corev1.Pod) { p.Labels[v1alpha1.LabelVPod] = "y" },
		"another pool":          func(p *corev1.Pod) { p.Labels[v1alpha1.LabelPool] = "b" },
		"nobody's":              func(p *corev1.Pod) { p.OwnerReferences = nil },
		"also somebody else's":  func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: "Team", Name: "t"}} },
	} {
		t.Run(name, func(t *testing.T) {
			v := xVPod(1, limitedTo(2))
			created, edited := placeholder(v, 0), placeholder(v, 0)
			edit(edited)
			if same := cmp.Equal(created, edited); isMended(v, edited) != same {
				t.Errorf("mended %t, want %t", !same, same)
			}
			mend(v, edited)
			if !isMended(v, edited) {
				t.Error("still to be mended")
			}
			if !metav1.IsControlledBy(edited, v) {
				t.Error("still not its own")
			}
		})
	}
}

func TestMendTakesTheLimitAway(t *testing.T) {
	p := placeholder(xVPod(1, limitedTo(2)), 0)
	v := xVPod(1)
	if isMended(v, p) {
		t.Error("mended, although the limit was taken away")
	}
	mend(v, p)
	if _, limited := p.Annotations[v1alpha1.AnnotationMaxAdapters]; limited || !isMended(v, p) {
		t.Errorf("annotations are %v", p.Annotations)
	}
}
