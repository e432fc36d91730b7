package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// ControllerOptions differ from a plain run of the program in what a test needs.
type ControllerOptions struct {
	// Verbosity is that of the log.
	Verbosity int
	// Args are more flags.
	Args []string
}

// StartController runs one replica of our controller with the service account of the manifests, and so with its rights
// and no others, and returns when its informers have caught up. It installs all manifests first if nobody has yet.
func (l *Lab) StartController(ctx context.Context, options ControllerOptions) (*Process, error) {
	if err := l.Install(ctx); err != nil {
		return nil, err
	}
	kubeconfig, err := l.ServiceAccountKubeconfig(ctx, v1alpha1.Namespace, v1alpha1.ControllerName)
	if err != nil {
		return nil, err
	}
	health, err := freePort()
	if err != nil {
		return nil, err
	}
	metrics, err := freePort()
	if err != nil {
		return nil, err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", metrics),
		fmt.Sprintf("--v=%d", options.Verbosity),
	}
	ready := func(ctx context.Context) error {
		// Metrics are served a moment later, for their certificate is made first.
		return errors.Join(serves(loopback("http", health, "/readyz"))(ctx), listens(ctx, metrics))
	}
	p, err := l.run(ctx, l.number(controllerProgram), controllerProgram, ready, append(args, options.Args...)...)
	if err != nil {
		return nil, err
	}
	p.metrics = loopback("https", metrics, "/metrics")
	return p, nil
}

// listens tells why nobody can connect to a loopback port.
func listens(ctx context.Context, port int) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return conn.Close()
}

// Metrics is the URL of the metrics of a scheduler or a controller.
func (p *Process) Metrics() string { return p.metrics }
