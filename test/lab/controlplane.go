package lab

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Files in the data folder that several programs read.
const (
	certDir             = "certs"
	serviceAccountKey   = "service-account.key"
	clientCA            = "client-ca.crt"
	tokens              = "tokens.csv"
	adminKubeconfigFile = "kubeconfig"
)

// kubeletLabel marks the nodes that kwok simulates, with the value simulated. It is a label and not the annotation that
// kwok suggests: kwok lets go of a node that loses it.
const (
	kubeletLabel = "kwok.x-k8s.io/node"
	simulated    = "fake"
)

// startControlPlane starts etcd and kube-apiserver side by side: the latter waits for the former by itself.
func (l *Lab) startControlPlane(ctx context.Context) error {
	if err := l.writeCredentials(); err != nil {
		return fmt.Errorf("writing credentials: %w", err)
	}
	for _, port := range []*int{&l.ports.etcd, &l.ports.apiServer} {
		var err error
		if *port, err = freePort(); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.startEtcd(ctx) })
	group.Go(func() (err error) {
		l.apiServer, err = l.startAPIServer(ctx)
		return err
	})
	return group.Wait()
}

func (l *Lab) startEtcd(ctx context.Context) error {
	url := loopback("http", l.ports.etcd, "")
	_, err := l.run(ctx, "etcd", "etcd", serves(url+"/health"),
		"--data-dir="+l.path("etcd"),
		"--listen-client-urls="+url,
		"--advertise-client-urls="+url,
		"--listen-peer-urls=http://127.0.0.1:0",
		// The data is worth nothing once the machine crashes.
		"--unsafe-no-fsync",
	)
	return err
}

func (l *Lab) startAPIServer(ctx context.Context) (*Process, error) {
	args := []string{
		"--etcd-servers=" + loopback("http", l.ports.etcd, ""),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", l.ports.apiServer),
		"--cert-dir=" + l.path(certDir),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=Node,RBAC",
		"--token-auth-file=" + l.path(tokens),
		// Nobody has a certificate of this authority; schedulers look it up at start, as they do in a cluster.
		"--client-ca-file=" + l.path(clientCA),
		"--service-account-issuer=" + loopback("https", l.ports.apiServer, ""),
		"--service-account-key-file=" + l.path(serviceAccountKey),
		"--service-account-signing-key-file=" + l.path(serviceAccountKey),
		// The Service "kubernetes" would get a loopback address, which is refused every ten seconds.
		"--endpoint-reconciler-type=none",
		"--allow-privileged",
	}
	if !l.hasServiceAccounts() {
		// It refuses every pod until a controller has made its namespace's default service account.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return l.run(ctx, "kube-apiserver", "kube-apiserver", serves(loopback("https", l.ports.apiServer, "/readyz")), args...)
}

// hasServiceAccounts tells whether a controller gives each namespace its default service account.
func (l *Lab) hasServiceAccounts() bool {
	return slices.Contains(l.options.Controllers, "*") ||
		slices.Contains(l.options.Controllers, "serviceaccount-controller")
}

func (l *Lab) startControllerManager(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	args := []string{
		"--kubeconfig=" + l.Kubeconfig(),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--leader-elect=false",
		"--controllers=" + strings.Join(l.options.Controllers, ","),
		"--service-account-private-key-file=" + l.path(serviceAccountKey),
		"--root-ca-file=" + filepath.Join(l.path(certDir), "apiserver.crt"),
		// Its default of 20 would have large StatefulSets and deletions take minutes.
		"--kube-api-qps=1000", "--kube-api-burst=2000",
		"--node-monitor-grace-period=" + l.options.nodeGrace().String(),
	}
	_, err = l.run(ctx, "kube-controller-manager", "kube-controller-manager",
		serves(loopback("https", port, "/healthz")), append(args, l.options.ControllerManagerArgs...)...)
	return err
}

// nodeGrace is how long a node may be without heartbeats.
func (o Options) nodeGrace() time.Duration { return cmp.Or(o.NodeGrace, 24*time.Hour) }

func (l *Lab) startKwok(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	_, err = l.run(ctx, "kwok", "kwok", serves(loopback("http", port, "/healthz")),
		"--kubeconfig="+l.Kubeconfig(),
		"--config="+filepath.Join(l.root, "test", "lab", "kwok.yaml"),
		fmt.Sprintf("--server-address=127.0.0.1:%d", port),
		"--manage-all-nodes=false",
		"--manage-nodes-with-label-selector="+kubeletLabel+"="+simulated,
		fmt.Sprintf("--node-lease-duration-seconds=%d", min(40, int(l.options.nodeGrace().Seconds()))),
	)
	return err
}

// writeCredentials makes what kube-apiserver needs to know its users by. Its serving certificate it makes itself.
func (l *Lab) writeCredentials() error {
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("making the service account key: %w", err)
	}
	ca, _, err := cert.GenerateSelfSignedCertKey("lab", nil, nil)
	if err != nil {
		return fmt.Errorf("making the client authority: %w", err)
	}
	files := map[string][]byte{
		serviceAccountKey: key,
		clientCA:          ca,
		tokens:            []byte(l.adminToken() + `,admin,admin,"system:masters"` + "\n"),
	}
	for name, content := range files {
		if err := os.WriteFile(l.path(name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
