package manifests

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// document is one object of a file, still as text, so that each test decodes it into its own type.
type document struct {
	file, namespace string
	metav1.TypeMeta
	text []byte
}

func documents(t *testing.T) []document {
	t.Helper()
	files, err := fs.Glob(Scheduler, "scheduler/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var docs []document
	for _, file := range files {
		text, err := Scheduler.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range bytes.Split(text, []byte("\n---\n")) {
			var header metav1.PartialObjectMetadata
			if err := yaml.Unmarshal(part, &header); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			docs = append(docs, document{file: path.Base(file), namespace: header.Namespace, TypeMeta: header.TypeMeta, text: part})
		}
	}
	return docs
}

// decodeStrictly knows the spelling of fields as exactly as the API server and the scheduler do: an unknown, doubled or
// wrongly capitalised field is an error.
func decodeStrictly(t *testing.T, file string, text []byte, into any) {
	t.Helper()
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	unknown, err := json.UnmarshalStrict(asJSON, into)
	if err := errors.Join(append(unknown, err)...); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// decode returns all objects of a kind.
func decode[T any](t *testing.T, kind string) []T {
	t.Helper()
	var objects []T
	for _, doc := range documents(t) {
		if doc.Kind != kind {
			continue
		}
		var object T
		decodeStrictly(t, doc.file, doc.text, &object)
		objects = append(objects, object)
	}
	return objects
}

func decodeOne[T any](t *testing.T, kind string) T {
	t.Helper()
	objects := decode[T](t, kind)
	if len(objects) != 1 {
		t.Fatalf("got %d objects of kind %s, want 1", len(objects), kind)
	}
	return objects[0]
}

func TestNothingActsAsDefaultScheduler(t *testing.T) {
	for _, doc := range documents(t) {
		if doc.Kind == "ValidatingAdmissionPolicy" {
			continue // It keeps that scheduler from our pods.
		}
		if bytes.Contains(doc.text, []byte(corev1.DefaultSchedulerName)) {
			t.Errorf("%s names %s", doc.file, corev1.DefaultSchedulerName)
		}
	}
}

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

func TestKustomization(t *testing.T) {
	text, err := Scheduler.ReadFile("scheduler/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var k kustomization
	if err := yaml.Unmarshal(text, &k); err != nil {
		t.Fatal(err)
	}
	if k.Namespace != "" {
		t.Error("a namespace here would move the binding in kube-system")
	}

	entries, err := Scheduler.ReadDir("scheduler")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		if name := entry.Name(); name != "kustomization.yaml" && name != "config.yaml" {
			files = append(files, name)
		}
	}
	slices.Sort(k.Resources)
	if diff := cmp.Diff(files, k.Resources); diff != "" {
		t.Errorf("resources (-files in the folder +resources):\n%s", diff)
	}

	if len(k.ConfigMapGenerator) != 1 {
		t.Fatalf("got %d generated ConfigMaps, want 1", len(k.ConfigMapGenerator))
	}
	generated := k.ConfigMapGenerator[0]
	pod := decodeOne[appsv1.Deployment](t, "Deployment").Spec.Template.Spec
	if volume := pod.Volumes[0]; generated.Namespace != v1alpha1.Namespace || volume.ConfigMap.Name != generated.Name ||
		pod.Containers[0].VolumeMounts[0].Name != volume.Name {
		t.Errorf("the Deployment mounts the ConfigMap %s, generated is %s/%s", volume.ConfigMap.Name, generated.Namespace, generated.Name)
	}
	for _, rule := range decodeOne[rbacv1.Role](t, "Role").Rules {
		if slices.Contains(rule.ResourceNames, generated.Name) {
			t.Errorf("kustomize would add the hash of the ConfigMap to the name %s in %v", generated.Name, rule)
		}
	}
	if len(k.Images) != 1 || pod.Containers[0].Image != k.Images[0].Name {
		t.Errorf("the Deployment's image is %s, overlays replace %v", pod.Containers[0].Image, k.Images)
	}
	wantArg := "--config=" + path.Join(pod.Containers[0].VolumeMounts[0].MountPath, "config.yaml")
	if diff := cmp.Diff([]string{wantArg}, pod.Containers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"config.yaml"}, generated.Files); diff != "" {
		t.Errorf("files of the ConfigMap (-want +got):\n%s", diff)
	}
}

func TestNamespaces(t *testing.T) {
	clusterScoped := []string{
		"Namespace", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"Kustomization", "KubeSchedulerConfiguration",
	}
	for _, doc := range documents(t) {
		want := v1alpha1.Namespace
		switch {
		case slices.Contains(clusterScoped, doc.Kind):
			want = ""
		case bytes.Contains(doc.text, []byte("name: extension-apiserver-authentication-reader")):
			want = metav1.NamespaceSystem
		}
		if doc.namespace != want {
			t.Errorf("%s: a %s in namespace %q, want %q", doc.file, doc.Kind, doc.namespace, want)
		}
	}
}
