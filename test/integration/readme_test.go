package integration

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// What the README says of the scheduler without the controller works as it stands, typed by a user with kubectl.
func TestREADME(t *testing.T) {
	t.Parallel()
	l := labtest.OwnLab(t, lab.Options{Controllers: []string{"replicaset-controller", "serviceaccount-controller"}})
	if _, err := l.StartScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := l.CreateNamespace(t.Context(), "readme"); err != nil {
		t.Fatal(err)
	}
	const install = "kubectl apply -k manifests/scheduler"
	if !strings.Contains(labtest.README(t), "`"+install+"`") {
		t.Fatalf("the README does not install the scheduler alone with %s", install)
	}
	labtest.Shell(t, l, install)
	labtest.ApplyExample(t.Context(), t, l, "readme", "adapter")
	labtest.Shell(t, l, labtest.Example(t, "capacity"))
	labtest.ApplyExample(t.Context(), t, l, "readme", "workload")
	pods, err := l.WaitForPods(labtest.TimeLimit(t), "readme", lab.Scheduled(3, 0))
	if err != nil {
		t.Fatal(err)
	}
	if node := pods[0].Spec.NodeName; node != "kafka-6" {
		t.Errorf("placed on %q, want kafka-6", node)
	}

	labtest.Shell(t, l, "kubectl cordon kafka-6; kubectl -n readme scale replicaset orders --replicas=4")
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
