package lab

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/manifests"
	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// command runs bin/vpod-lab in another folder than the checkout, so that it has to find the programs by itself.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	root, err := findRoot()
	must(t, err)
	path := filepath.Join(root, "bin", "vpod-lab")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run 'make build' first", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir()
	return cmd
}

func TestCommandStaysUntilInterrupted(t *testing.T) {
	cmd := command(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var kubeconfig string
	lines := bufio.NewScanner(stdout)
	for kubeconfig == "" && lines.Scan() {
		if found := regexp.MustCompile(`export KUBECONFIG=(\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			kubeconfig = found[1]
		}
	}
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Errorf("the KUBECONFIG line names %q: %v", kubeconfig, err)
	}

	must(t, cmd.Process.Signal(syscall.SIGINT))
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted, it ends with %v and says:\n%s", err, stderr.String())
	}
	if _, err := os.Stat(filepath.Dir(kubeconfig)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lab's data is still there: %v", err)
	}
}

// A scheduler that packs where it should spread stands for one that is broken.
func TestDemoFailsWhenARuleIsBroken(t *testing.T) {
	config := map[string]any{}
	must(t, yaml.Unmarshal(manifests.SchedulerConfig, &config))
	packing, ok := config["profiles"].([]any)[1].(map[string]any)
	if !ok || packing["schedulerName"] != v1alpha1.SchedulerNameMaxFillUp {
		t.Fatalf("the second profile is %v, want the one that packs", packing["schedulerName"])
	}
	packing["schedulerName"] = v1alpha1.SchedulerName
	config["profiles"] = []any{packing}
	content, err := yaml.Marshal(config)
	must(t, err)
	file := filepath.Join(t.TempDir(), "config.yaml")
	must(t, os.WriteFile(file, content, 0o600))

	cmd := command(t, "demo", "-config", file)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ends with %v, want exit status 1", err)
	}
	for _, want := range []string{"step 1: this is not what the rules say", "which has room"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q but:\n%s", want, out)
		}
	}
}

func TestCommandRefusesWhatItDoesNotKnow(t *testing.T) {
	out, err := command(t, "demonstrate").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `unexpected argument "demonstrate"`) {
		t.Errorf("it ends with %v and says:\n%s", err, out)
	}
}
