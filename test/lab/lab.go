// Package lab runs a Kubernetes control plane of real parts on this machine: etcd, kube-apiserver with RBAC, and where
// wanted kube-controller-manager, kwok for real nodes whose kubelet is simulated, and schedulers. Labs do not see each
// other: each has its own ports and data folder, and nothing of it outlives the process that started it, not even when
// that is killed.
//
// It starts etcd and kube-apiserver by itself and not through envtest, whose processes outlive a killed test.
package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AllControllers makes kube-controller-manager run all that it runs in a cluster.
var AllControllers = []string{"*"}

// Options choose what runs beside etcd and kube-apiserver. The fewer processes, the faster.
type Options struct {
	// Controllers are the controllers of kube-controller-manager, as its flag --controllers takes them. None: it is
	// not started, and pods need no service account.
	Controllers []string
	// Kwok simulates the kubelets of the nodes that Host describes.
	Kwok bool
	// NodeGrace is how long a node may be without heartbeats before kube-controller-manager calls it unreachable. 0: a
	// day, for adapters that a test makes by itself and nobody sends heartbeats for.
	NodeGrace time.Duration
	// ControllerManagerArgs are more flags of kube-controller-manager. They override those that the lab sets.
	ControllerManagerArgs []string
}

// Lab is a running control plane.
type Lab struct {
	options Options
	// root is the folder of this module, bin its folder of programs.
	root, bin string
	folder    *folder
	ports     struct{ etcd, apiServer int }
	apiServer *Process
	config    *rest.Config
	client    kubernetes.Interface
	objects   client.Client

	mu        sync.Mutex
	processes []*Process
	installed []string
	numbers   map[string]int
}

// Start brings a lab up; the context bounds how long that may take. The caller stops it.
func Start(ctx context.Context, options Options) (*Lab, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	l := &Lab{options: options, root: root, bin: filepath.Join(root, "bin")}
	if l.folder, err = newFolder(); err != nil {
		return nil, err
	}
	if err := l.start(ctx); err != nil {
		l.Stop()
		return nil, err
	}
	return l, nil
}

func (l *Lab) start(ctx context.Context) error {
	if err := l.startControlPlane(ctx); err != nil {
		return err
	}
	if err := l.connect(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	if len(l.options.Controllers) > 0 {
		group.Go(func() error { return l.startControllerManager(ctx) })
	}
	if l.options.Kwok {
		group.Go(func() error { return l.startKwok(ctx) })
	}
	return group.Wait()
}

// Stop ends everything that the lab started and removes its data. There is nothing to save, so it kills.
func (l *Lab) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range l.processes {
		wg.Go(p.Kill)
	}
	wg.Wait()
	l.processes = nil
	if err := l.folder.remove(); err != nil {
		// A leftover folder is swept by the next lab; failing the caller's work for it would help nobody.
		klog.Background().Error(err, "Lab left its data behind")
	}
}

// Config is an administrator's access, without a client-side rate limit.
func (l *Lab) Config() *rest.Config { return rest.CopyConfig(l.config) }

// Client is an administrator's client.
func (l *Lab) Client() kubernetes.Interface { return l.client }

// Objects is an administrator's client that knows our own kinds as well. It reads live.
func (l *Lab) Objects() client.Client { return l.objects }

// Dir is the lab's data folder, where each process has its log.
func (l *Lab) Dir() string { return l.folder.path }

// path is a file in the data folder.
func (l *Lab) path(name string) string { return filepath.Join(l.folder.path, name) }

// run starts one of the programs in bin and has Stop end it.
func (l *Lab) run(
	ctx context.Context, name, program string, ready func(context.Context) error, args ...string,
) (*Process, error) {
	path, err := l.program(program)
	if err != nil {
		return nil, err
	}
	p := newProcess(l.folder.path, name, path, ready, args...)
	l.mu.Lock()
	l.processes = append(l.processes, p)
	l.mu.Unlock()
	if err := p.Start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// RestartAPIServer kills kube-apiserver and starts it again on the same port with the same data, as after a crash.
// Open watches break; what they would have told meanwhile is in etcd.
func (l *Lab) RestartAPIServer(ctx context.Context) error {
	l.apiServer.Kill()
	return l.apiServer.Start(ctx)
}

// APIServer is the process of kube-apiserver, for tests that stop it for a while.
func (l *Lab) APIServer() *Process { return l.apiServer }

// number tells the runs of one program apart: "vpod-scheduler-0", "vpod-scheduler-1", ...
func (l *Lab) number(program string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.numbers == nil {
		l.numbers = map[string]int{}
	}
	name := fmt.Sprintf("%s-%d", program, l.numbers[program])
	l.numbers[program]++
	return name
}

// loopback is the URL of a path that a local program serves on the port.
func loopback(scheme string, port int, path string) string {
	return fmt.Sprintf("%s://127.0.0.1:%d%s", scheme, port, path)
}
