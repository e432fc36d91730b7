package manifests

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestPodSecurity(t *testing.T) {
	pod := decodeOne[appsv1.Deployment](t, "Deployment").Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		t.Fatal("want exactly one container")
	}
	container := pod.Containers[0]
	if pod.SecurityContext == nil || container.SecurityContext == nil || container.SecurityContext.Capabilities == nil {
		t.Fatal("a security context is missing")
	}
	isTrue := func(b *bool) bool { return b != nil && *b }
	isFalse := func(b *bool) bool { return b != nil && !*b }
	restricted := decodeOne[corev1.Namespace](t, "Namespace").Labels["pod-security.kubernetes.io/enforce"]

	for name, ok := range map[string]bool{
		"namespace enforces the restricted standard": restricted == "restricted",
		"runs as non-root":                           isTrue(pod.SecurityContext.RunAsNonRoot),
		"seccomp profile of the runtime": pod.SecurityContext.SeccompProfile != nil &&
			pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"no privilege escalation":    isFalse(container.SecurityContext.AllowPrivilegeEscalation),
		"not privileged":             container.SecurityContext.Privileged == nil,
		"read-only root file system": isTrue(container.SecurityContext.ReadOnlyRootFilesystem),
		"drops all capabilities":     slices.Equal(container.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}),
		"adds no capability":         len(container.SecurityContext.Capabilities.Add) == 0,
		"shares nothing of its host": !pod.HostNetwork && !pod.HostPID && !pod.HostIPC,
		"mounts nothing but configuration": !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.ConfigMap == nil }) &&
			!slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return !m.ReadOnly }),
	} {
		if !ok {
			t.Errorf("not so: %s", name)
		}
	}
}

func TestAvailability(t *testing.T) {
	deployment := decodeOne[appsv1.Deployment](t, "Deployment")
	budget := decodeOne[policyv1.PodDisruptionBudget](t, "PodDisruptionBudget")
	pod := deployment.Spec.Template.Spec
	container := pod.Containers[0]

	probes := map[string]*corev1.Probe{"/livez": container.LivenessProbe, "/readyz": container.ReadinessProbe}
	for probePath, probe := range probes {
		if probe == nil || probe.HTTPGet == nil {
			t.Fatalf("no HTTP probe for %s", probePath)
		}
		get := probe.HTTPGet
		if get.Path != probePath || get.Scheme != corev1.URISchemeHTTPS || get.Port.String() != "https" {
			t.Errorf("got probe %v, want %s on the port https", get, probePath)
		}
	}
	if port := container.Ports[0]; port.Name != "https" || port.ContainerPort != 10259 {
		t.Errorf("got port %v, want https 10259", port)
	}

	var topology []string
	for _, spread := range pod.TopologySpreadConstraints {
		topology = append(topology, spread.TopologyKey)
		if !selects(t, spread.LabelSelector, deployment.Spec.Template.Labels) {
			t.Errorf("the spread over %s does not select the Deployment's pods", spread.TopologyKey)
		}
	}
	if diff := cmp.Diff([]string{corev1.LabelTopologyZone, corev1.LabelHostname}, topology); diff != "" {
		t.Errorf("topology spread (-want +got):\n%s", diff)
	}

	for name, ok := range map[string]bool{
		"two replicas":                     *deployment.Spec.Replicas == 2,
		"selects its own pods":             selects(t, deployment.Spec.Selector, deployment.Spec.Template.Labels),
		"the budget selects them":          selects(t, budget.Spec.Selector, deployment.Spec.Template.Labels),
		"the budget lets one go at a time": budget.Spec.MaxUnavailable != nil && budget.Spec.MaxUnavailable.IntValue() == 1,
		"critical priority":                pod.PriorityClassName == "system-cluster-critical",
		"requests CPU":                     !container.Resources.Requests.Cpu().IsZero(),
		"requests memory":                  !container.Resources.Requests.Memory().IsZero(),
		"limits memory":                    !container.Resources.Limits.Memory().IsZero(),
	} {
		if !ok {
			t.Errorf("not so: %s", name)
		}
	}
}

func selects(t *testing.T, selector *metav1.LabelSelector, pod map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return !s.Empty() && s.Matches(labels.Set(pod))
}
