package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Kubectl runs bin/kubectl as an administrator in the module's root folder and returns what it prints.
func (l *Lab) Kubectl(ctx context.Context, args ...string) (string, error) {
	return l.KubectlInput(ctx, "", args...)
}

// KubectlInput does the same with something to read, for `kubectl apply -f -`.
func (l *Lab) KubectlInput(ctx context.Context, input string, args ...string) (string, error) {
	path, err := l.program("kubectl")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = l.root
	cmd.Stdin = strings.NewReader(input)
	// Its cache of discovery would otherwise grow in the user's home with every lab.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+l.Kubeconfig(), "KUBECACHEDIR="+l.path("kubectl-cache"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("running kubectl %s: %w: %s",
			strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Apply installs a kustomization as a user does. A relative path starts at the module's root folder.
func (l *Lab) Apply(ctx context.Context, dir string) error {
	_, err := l.Kubectl(ctx, "apply", "-k", dir)
	return err
}
