package labtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"vpod.dev/vpod-scheduler/test/lab"
)

// README is the text that users start from.
func README(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Example returns the code block of the README that follows the mark <!-- example: name -->.
func Example(t testing.TB, name string) string {
	t.Helper()
	m := regexp.MustCompile("<!-- example: " + name + " -->\n```[a-z]+\n([^`]*)```").FindStringSubmatch(README(t))
	if m == nil {
		t.Fatalf("the README has no example %s", name)
	}
	return m[1]
}

// Shell runs a command as a user of a lab does, in the root of the checkout and with the lab's kubectl.
func Shell(t testing.TB, l *lab.Lab, script string) {
	t.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "KUBECONFIG="+l.Kubeconfig(), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// ApplyExample applies an example of the README in a namespace.
func ApplyExample(ctx context.Context, t testing.TB, l *lab.Lab, namespace, name string) {
	t.Helper()
	if _, err := l.KubectlInput(ctx, Example(t, name), "apply", "-n", namespace, "-f", "-"); err != nil {
		t.Fatal(err)
	}
}
