package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// A filter that is not ours refuses the contender: the vreplica is tried again over all adapters, at once, and nothing
// is preempted for it.
func TestG2_AFilterThatIsNotOursHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	const name = "with-cpu"
	l := sharedLab(t)
	config := shippedConfig(t, map[string][]arguments{name: nil})
	multiPoint := &config.Profiles[0].Plugins.MultiPoint
	multiPoint.Enabled = append(multiPoint.Enabled, configv1.Plugin{Name: "NodeResourcesFit"})
	config.Profiles[0].Plugins.Score.Disabled = append(config.Profiles[0].Plugins.Score.Disabled, configv1.Plugin{Name: "NodeResourcesFit"})
	scheduler, err := l.StartScheduler(labtest.TimeLimit(t), lab.SchedulerOptions{
		Config: configFile(t, config), Verbosity: 4, Args: []string{"--leader-elect=false"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scheduler.Kill)

	p := newPool(t, l, zones(10, "z1", "z2", "z3")...)
	p.scheduler = name
	p.seen()
	takesCPU := func(pod *corev1.Pod) {
		one := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m")}
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: "cpu", Image: "none", Resources: corev1.ResourceRequirements{Requests: one, Limits: one},
		})
	}
	// a-0 and a-1 have no CPU left, which our rules do not look at.
	p.grow(p.vpod("other"), 1, p.on(0), takesCPU)
	p.grow(p.vpod("other"), 1, p.on(1), takesCPU)
	x := p.vpod("x")
	p.grow(x, 1, takesCPU)
	p.settled(x, "0/0/1", 0)
	p.settled(p.vpod("other"), "1/1/0", 0)
	if !strings.Contains(scheduler.Log(), "all adapters are judged next") {
		t.Error("the vreplica was placed at the first attempt: the test proves nothing")
	}

	refused := p.grow(p.vpod("y"), 1, takesCPU)
	// The first attempt looks at those adapters alone that were to win, and says so.
	err = lab.Wait(labtest.TimeLimit(t), "the reason of all 3 adapters is told", func(ctx context.Context) error {
		if reason := p.refused(ctx, refused[0]); !strings.Contains(reason, "3 Insufficient cpu") {
			return fmt.Errorf("refused with %q", reason)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
