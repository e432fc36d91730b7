package lab

import (
	"context"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// FastFailover are flags of a scheduler that have a standby take over within seconds, for tests that wait for it.
var FastFailover = []string{
	"--leader-elect-lease-duration=3s",
	"--leader-elect-renew-deadline=2s",
	"--leader-elect-retry-period=500ms",
}

// SchedulerOptions differ from a plain run of the program in what a test needs.
type SchedulerOptions struct {
	// Config is a file with the scheduler's configuration. Empty: what ships inside the program.
	Config string
	// Verbosity is that of the log.
	Verbosity int
	// Args are more flags.
	Args []string
}

// StartScheduler runs one replica of our scheduler with the service account of the manifests, and so with its rights
// and no others, and returns when it is ready. It installs the manifests first if nobody has yet.
func (l *Lab) StartScheduler(ctx context.Context, options SchedulerOptions) (*Process, error) {
	if err := l.InstallScheduler(ctx); err != nil {
		return nil, err
	}
	kubeconfig, err := l.ServiceAccountKubeconfig(ctx, v1alpha1.Namespace, v1alpha1.SchedulerName)
	if err != nil {
		return nil, err
	}
	return l.runScheduler(ctx, schedulerProgram, kubeconfig, options)
}

// StartKubeScheduler runs the stock kube-scheduler, which places the pods of default-scheduler. Its lease is its own.
func (l *Lab) StartKubeScheduler(ctx context.Context, options SchedulerOptions) (*Process, error) {
	return l.runScheduler(ctx, "kube-scheduler", l.Kubeconfig(), options)
}

func (l *Lab) runScheduler(
	ctx context.Context, program, kubeconfig string, options SchedulerOptions,
) (*Process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		fmt.Sprintf("--v=%d", options.Verbosity),
	}
	name := l.number(program)
	if options.Config != "" {
		config := l.path(name + ".yaml")
		if err := configure(options.Config, kubeconfig, config); err != nil {
			return nil, err
		}
		args = append(args, "--config="+config)
	}
	p, err := l.run(ctx, name, program, serves(loopback("https", port, "/readyz")), append(args, options.Args...)...)
	if err != nil {
		return nil, err
	}
	p.metrics = loopback("https", port, "/metrics")
	return p, nil
}

// configure copies a scheduler's configuration and puts the access into it: beside --config, a scheduler ignores
// --kubeconfig.
func configure(from, kubeconfig, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading the scheduler's configuration: %w", err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(content, &config); err != nil {
		return fmt.Errorf("decoding the scheduler's configuration %s: %w", from, err)
	}
	connection, ok := config["clientConnection"].(map[string]any)
	if !ok {
		connection = map[string]any{}
	}
	connection["kubeconfig"] = kubeconfig
	config["clientConnection"] = connection
	if content, err = yaml.Marshal(config); err != nil {
		return fmt.Errorf("encoding the scheduler's configuration: %w", err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		return fmt.Errorf("writing the scheduler's configuration: %w", err)
	}
	return nil
}
