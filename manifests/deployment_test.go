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
	restricted := decodeOne[corev1.Namespace](t, scheduler, "Namespace").Labels["pod-security.kubernetes.io/enforce"]
	if restricted != "restricted" {
		t.Error("the namespace does not enforce the restricted standard")
	}
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			testPodSecurity(t, decodeOne[appsv1.Deployment](t, program, "Deployment").Spec.Template.Spec)
		})
	}
}

func testPodSecurity(t *testing.T, pod corev1.PodSpec) {
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		t.Fatal("want exactly one container")
	}
	container := pod.Containers[0]
	if pod.SecurityContext == nil || container.SecurityContext == nil || container.SecurityContext.Capabilities == nil {
		t.Fatal("a security context is missing")
	}
	isTrue := func(b *bool) bool { return b != nil && *b }
	isFalse := func(b *bool) bool { return b != nil && !*b }

	for name, ok := range map[string]bool{
		"runs as non-root": isTrue(pod.SecurityContext.RunAsNonRoot),
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

func TestProbes(t *testing.T) {
	for program, want := range map[string]struct {
		ports           map[string]int32
		port            string
		scheme          corev1.URIScheme
		liveness, ready string
	}{
		scheduler:  {ports: map[string]int32{"https": 10259}, port: "https", scheme: corev1.URISchemeHTTPS, liveness: "/livez", ready: "/readyz"},
		controller: {ports: map[string]int32{"https": 8443, "probes": 8081}, port: "probes", liveness: "/healthz", ready: "/readyz"},
	} {
		t.Run(program, func(t *testing.T) {
			container := decodeOne[appsv1.Deployment](t, program, "Deployment").Spec.Template.Spec.Containers[0]
			ports := map[string]int32{}
			for _, port := range container.Ports {
				ports[port.Name] = port.ContainerPort
			}
			if diff := cmp.Diff(want.ports, ports); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
			for path, probe := range map[string]*corev1.Probe{want.liveness: container.LivenessProbe, want.ready: container.ReadinessProbe} {
				if probe == nil || probe.HTTPGet == nil {
					t.Fatalf("no HTTP probe for %s", path)
				}
				if get := probe.HTTPGet; get.Path != path || get.Scheme != want.scheme || get.Port.String() != want.port {
					t.Errorf("got probe %v, want %s on the port %s", get, path, want.port)
				}
			}
		})
	}
}

// The flags say what the ports are for.
func TestControllerFlags(t *testing.T) {
	container := decodeOne[appsv1.Deployment](t, controller, "Deployment").Spec.Template.Spec.Containers[0]
	want := []string{"--leader-elect=true", "--metrics-bind-address=:8443", "--health-probe-bind-address=:8081"}
	if diff := cmp.Diff(want, container.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestAvailability(t *testing.T) {
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			testAvailability(t, decodeOne[appsv1.Deployment](t, program, "Deployment"),
				decodeOne[policyv1.PodDisruptionBudget](t, program, "PodDisruptionBudget"))
		})
	}
	one := decodeOne[appsv1.Deployment](t, scheduler, "Deployment").Spec.Template.Labels
	if selects(t, decodeOne[appsv1.Deployment](t, controller, "Deployment").Spec.Selector, one) {
		t.Error("the controller's Deployment selects the scheduler's pods")
	}
}

func testAvailability(t *testing.T, deployment appsv1.Deployment, budget policyv1.PodDisruptionBudget) {
	pod := deployment.Spec.Template.Spec
	container := pod.Containers[0]
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
		"keeps off virtual nodes":          pod.NodeSelector[corev1.LabelOSStable] == "linux",
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
