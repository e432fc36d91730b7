package manifests

import (
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// kustomization is the part of the file that the tests look at; `kubectl kustomize` judges the rest.
type kustomization struct {
	Namespace          string   `json:"namespace"`
	Resources          []string `json:"resources"`
	Images             []struct{ Name string }
	ConfigMapGenerator []struct {
		Name, Namespace string
		Files           []string
	} `json:"configMapGenerator"`
}

func readKustomization(t *testing.T, folder string) kustomization {
	t.Helper()
	text, err := Files.ReadFile(path.Join(folder, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var k kustomization
	if err := yaml.Unmarshal(text, &k); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKustomizationsNameAllFiles(t *testing.T) {
	for _, folder := range []string{"crds", scheduler, controller, monitoring} {
		k := readKustomization(t, folder)
		if k.Namespace != "" {
			t.Errorf("a namespace in %s would move what is of another, such as the binding in kube-system", folder)
		}
		entries, err := Files.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, entry := range entries {
			if name := entry.Name(); !slices.Contains([]string{"kustomization.yaml", "config.yaml", dashboard}, name) {
				files = append(files, name)
			}
		}
		slices.Sort(k.Resources)
		if diff := cmp.Diff(files, k.Resources); diff != "" {
			t.Errorf("resources (-files in %s +resources):\n%s", folder, diff)
		}
	}
	if diff := cmp.Diff([]string{"../crds", "../scheduler", "../controller"}, readKustomization(t, "default").Resources); diff != "" {
		t.Errorf("resources of everything (-want +got):\n%s", diff)
	}
}

// One image holds both programs: an overlay's entry replaces it in both Deployments.
func TestOneImage(t *testing.T) {
	for _, folder := range programs {
		container := decodeOne[appsv1.Deployment](t, folder, "Deployment").Spec.Template.Spec.Containers[0]
		k := readKustomization(t, folder)
		if len(k.Images) != 1 || k.Images[0].Name != v1alpha1.SchedulerName || container.Image != v1alpha1.SchedulerName {
			t.Errorf("the image of %s is %s, overlays replace %v, want %s", folder, container.Image, k.Images, v1alpha1.SchedulerName)
		}
		if want := []string{"/usr/local/bin/" + container.Name}; !slices.Equal(container.Command, want) {
			t.Errorf("the command of %s is %v, want %v", folder, container.Command, want)
		}
	}
}

func TestSchedulerConfigIsMounted(t *testing.T) {
	k := readKustomization(t, scheduler)
	if len(k.ConfigMapGenerator) != 1 {
		t.Fatalf("got %d generated ConfigMaps, want 1", len(k.ConfigMapGenerator))
	}
	generated := k.ConfigMapGenerator[0]
	pod := decodeOne[appsv1.Deployment](t, scheduler, "Deployment").Spec.Template.Spec
	if volume := pod.Volumes[0]; generated.Namespace != v1alpha1.Namespace || volume.ConfigMap.Name != generated.Name ||
		pod.Containers[0].VolumeMounts[0].Name != volume.Name {
		t.Errorf("the Deployment mounts the ConfigMap %s, generated is %s/%s", volume.ConfigMap.Name, generated.Namespace, generated.Name)
	}
	for _, rule := range decodeOne[rbacv1.Role](t, scheduler, "Role").Rules {
		if slices.Contains(rule.ResourceNames, generated.Name) {
			t.Errorf("kustomize would add the hash of the ConfigMap to the name %s in %v", generated.Name, rule)
		}
	}
	wantArg := "--config=" + path.Join(pod.Containers[0].VolumeMounts[0].MountPath, "config.yaml")
	if diff := cmp.Diff([]string{wantArg}, pod.Containers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"config.yaml"}, generated.Files); diff != "" {
		t.Errorf("files of the ConfigMap (-want +got):\n%s", diff)
	}
}
