package manifests

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// The folders of programs, each with a Deployment of its own.
const (
	scheduler  = "scheduler"
	controller = "controller"
)

var programs = []string{scheduler, controller}

// document is one object of a file, still as text, so that each test decodes it into its own type.
type document struct {
	file, namespace string
	metav1.TypeMeta
	text []byte
}

func documents(t *testing.T, folder string) []document {
	t.Helper()
	files, err := fs.Glob(Files, path.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var docs []document
	for _, file := range files {
		text, err := Files.ReadFile(file)
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

// decode returns all objects of a kind in a folder.
func decode[T any](t *testing.T, folder, kind string) []T {
	t.Helper()
	var objects []T
	for _, doc := range documents(t, folder) {
		if doc.Kind != kind {
			continue
		}
		var object T
		decodeStrictly(t, doc.file, doc.text, &object)
		objects = append(objects, object)
	}
	return objects
}

func decodeOne[T any](t *testing.T, folder, kind string) T {
	t.Helper()
	objects := decode[T](t, folder, kind)
	if len(objects) != 1 {
		t.Fatalf("got %d objects of kind %s, want 1", len(objects), kind)
	}
	return objects[0]
}

func TestNothingActsAsDefaultScheduler(t *testing.T) {
	for _, doc := range documents(t, scheduler) {
		if doc.Kind == "ValidatingAdmissionPolicy" {
			continue // It keeps that scheduler from our pods.
		}
		if bytes.Contains(doc.text, []byte(corev1.DefaultSchedulerName)) {
			t.Errorf("%s names %s", doc.file, corev1.DefaultSchedulerName)
		}
	}
}

func TestNamespaces(t *testing.T) {
	clusterScoped := []string{
		"Namespace", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"Kustomization", "KubeSchedulerConfiguration",
	}
	for _, doc := range slices.Concat(documents(t, scheduler), documents(t, controller), documents(t, monitoring)) {
		want := v1alpha1.Namespace
		switch {
		case slices.Contains(clusterScoped, doc.Kind):
			want = ""
		case bytes.Contains(doc.text, []byte("name: extension-apiserver-authentication-reader")):
			want = metav1.NamespaceSystem
		case bytes.Contains(doc.text, []byte("name: vpod-controller:heartbeats")):
			want = corev1.NamespaceNodeLease
		}
		if doc.namespace != want {
			t.Errorf("%s: a %s in namespace %q, want %q", doc.file, doc.Kind, doc.namespace, want)
		}
	}
}
