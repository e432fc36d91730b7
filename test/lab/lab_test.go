package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

const timeout = 2 * time.Minute

func startLab(t *testing.T, options Options) (context.Context, *Lab) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	l, err := Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	return ctx, l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The stock scheduler stands for ours: what is tested is that all the parts work together.
func TestWholeLab(t *testing.T) {
	ctx, l := startLab(t, Options{Controllers: AllControllers, Kwok: true})
	must(t, l.CreateNamespace(ctx, "shop"))
	must(t, l.CreateNode(ctx, Host("host-1", "zone-1")))
	adapter := Adapter{Pool: "kafka", Ordinal: 3, Host: "host-1", Zone: "zone-1", Capacity: 2}
	must(t, l.CreateNode(ctx, adapter.Node()))
	_, err := l.StartKubeScheduler(ctx, SchedulerOptions{})
	must(t, err)

	vpod := VPod{Namespace: "shop", Name: "orders", Pool: "kafka", Replicas: 3, SchedulerName: corev1.DefaultSchedulerName}
	_, err = l.Client().AppsV1().ReplicaSets("shop").Create(ctx, vpod.ReplicaSet(), metav1.CreateOptions{})
	must(t, err)
	pods, err := l.WaitForPods(ctx, "shop", Scheduled(2, 1))
	must(t, err)
	wantWaiting(t, pods, "Insufficient "+v1alpha1.ResourceVReplicas)

	must(t, l.RestartAPIServer(ctx))
	must(t, l.Client().CoreV1().Pods("shop").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	_, err = l.WaitForPods(ctx, "shop", Scheduled(2, 1))
	must(t, err)

	kubeletRuns(ctx, t, l)
	for _, p := range pods {
		if p.Status.Phase != corev1.PodPending {
			t.Errorf("placeholder %s is %s: kwok must leave virtual nodes alone", p.Name, p.Status.Phase)
		}
	}
	out, err := l.Kubectl(ctx, "get", "node", adapter.Name())
	must(t, err)
	if !strings.Contains(out, "Ready") || !strings.Contains(out, "adapter") {
		t.Errorf("kubectl shows the adapter as\n%s", out)
	}
}

// wantWaiting checks what the pods without a node are told.
func wantWaiting(t *testing.T, pods []corev1.Pod, want string) {
	t.Helper()
	for i := range pods {
		if pods[i].Spec.NodeName == "" && !strings.Contains(Reason(&pods[i]), want) {
			t.Errorf("pod %s waits for reason %q, want one with %q", pods[i].Name, Reason(&pods[i]), want)
		}
	}
}

// kubeletRuns checks that a pod that needs no adapter runs on the host, and can be deleted.
func kubeletRuns(ctx context.Context, t *testing.T, l *Lab) {
	t.Helper()
	pods := l.Client().CoreV1().Pods("default")
	plain := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "plain"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
	}
	_, err := pods.Create(ctx, plain, metav1.CreateOptions{})
	must(t, err)
	must(t, Wait(ctx, "the pod runs", func(ctx context.Context) error {
		pod, err := pods.Get(ctx, plain.Name, metav1.GetOptions{})
		if err == nil && (pod.Status.Phase != corev1.PodRunning || pod.Spec.NodeName != "host-1") {
			err = fmt.Errorf("it is %s on node %q", pod.Status.Phase, pod.Spec.NodeName)
		}
		return err
	}))
	must(t, pods.Delete(ctx, plain.Name, metav1.DeleteOptions{}))
	must(t, Wait(ctx, "the pod is gone", func(ctx context.Context) error {
		_, err := pods.Get(ctx, plain.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there: %w", err)
	}))
}

func TestLabsSideBySideWithoutControllers(t *testing.T) {
	ctx, one := startLab(t, Options{})
	_, two := startLab(t, Options{})
	vpod := VPod{Namespace: "shop", Name: "orders", Pool: "kafka"}
	for _, l := range []*Lab{one, two} {
		must(t, l.CreateNamespace(ctx, "shop"))
		_, err := l.Client().CoreV1().Pods("shop").Create(ctx, vpod.Pod(0), metav1.CreateOptions{})
		must(t, err)
	}

	one.Stop()
	if _, err := os.Stat(one.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data folder of a stopped lab is still there: %v", err)
	}
	if _, err := two.WaitForPods(ctx, "shop", Scheduled(0, 0)); err != nil {
		t.Errorf("the other lab suffers: %v", err)
	}
	if _, err := two.StartKubeScheduler(ctx, SchedulerOptions{Args: []string{"--no-such-flag"}}); err == nil ||
		!strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("a scheduler that does not start ends in %v, want what it printed", err)
	}
	must(t, two.InstallScheduler(ctx))
	hasOnlyItsRights(ctx, t, two)
}

// hasOnlyItsRights checks that the scheduler's account may do what its role says, and nothing that an admin may.
func hasOnlyItsRights(ctx context.Context, t *testing.T, l *Lab) {
	t.Helper()
	config, err := l.ServiceAccountConfig(ctx, v1alpha1.Namespace, v1alpha1.SchedulerName)
	must(t, err)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	if _, err := client.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("listing pods as the scheduler: %v", err)
	}
	if _, err := client.CoreV1().Secrets("shop").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing secrets as the scheduler: %v, want forbidden", err)
	}
}

func TestWaitSaysWhatIsMissing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*pollInterval)
	defer cancel()
	missing := errors.New("only 2 of 3")
	err := Wait(ctx, "all are there", func(context.Context) error { return missing })
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, missing) ||
		!strings.Contains(err.Error(), "all are there") {
		t.Errorf("got %v", err)
	}
}
