package integration

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// The examples of the README work as they stand, typed by a user with kubectl.
func TestREADME(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{Controllers: []string{"replicaset-controller", "serviceaccount-controller"}})
	if _, err := l.StartScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := l.CreateNamespace(t.Context(), "readme"); err != nil {
		t.Fatal(err)
	}
	apply := func(example string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), example+".yaml")
		if err := os.WriteFile(file, []byte(readmeExample(t, example)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := l.Kubectl(t.Context(), "apply", "-n", "readme", "-f", file); err != nil {
			t.Fatal(err, out)
		}
	}
	shell := func(script string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "KUBECONFIG="+l.Kubeconfig(), "PATH="+binDir(t)+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}

	install := regexp.MustCompile(`(?m)^kubectl .*vpod-s.*$|^kubectl apply -k .*$`).FindAllString(readme(t), -1)
	if len(install) != 2 {
		t.Fatalf("the README installs with %q, want two commands of kubectl", install)
	}
	for _, command := range install {
		shell(command)
	}
	apply("adapter")
	shell(readmeExample(t, "capacity"))
	apply("workload")
	pods, err := l.WaitForPods(labtest.TimeLimit(t), "readme", lab.Scheduled(3, 0))
	if err != nil {
		t.Fatal(err)
	}
	if node := pods[0].Spec.NodeName; node != "kafka-6" {
		t.Errorf("placed on %q, want kafka-6", node)
	}

	shell("kubectl cordon kafka-6; kubectl -n readme scale replicaset orders --replicas=4")
	const unschedulable = "1 node(s) were unschedulable"
	pods, err = l.WaitForPods(labtest.TimeLimit(t), "readme", lab.Scheduled(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	waiting := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.Spec.NodeName == "" })
	if reason := lab.Reason(&pods[waiting]); !strings.Contains(reason, unschedulable) {
		t.Errorf("waits with the reason %q", reason)
	}
	// Events are written a little later.
	err = lab.Wait(labtest.TimeLimit(t), "kubectl describe shows why the pod waits", func(ctx context.Context) error {
		out, err := l.Kubectl(ctx, "-n", "readme", "describe", "pod", pods[waiting].Name)
		if err == nil && !strings.Contains(out, unschedulable) {
			err = errors.New("it shows\n" + out)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// readmeExample returns the code block that follows a mark.
func readmeExample(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile("<!-- example: " + name + " -->\n```[a-z]+\n([^`]*)```").FindStringSubmatch(readme(t))
	if m == nil {
		t.Fatalf("the README has no example %s", name)
	}
	return m[1]
}

func binDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
