package integration

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

func TestC33_TwentyRunsAlike(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(20, "z1", "z1", "z1")...)
	for ordinal := range 3 {
		p.grow(p.vpod("other"), 18, p.on(ordinal))
	}
	for run := range 20 {
		x := p.vpod(fmt.Sprintf("x%d", run))
		pods := p.grow(x, 3)
		p.settled(x, "1/1/1", 0)
		for ordinal, pod := range pods {
			if node := p.bound(labtest.TimeLimit(t), pod); node != p.node(ordinal) {
				t.Fatalf("run %d: vreplica %d is on %s, want %s", run, ordinal, node, p.node(ordinal))
			}
			p.delete(pod.Name)
		}
	}
}

func TestG3_TheSameRequestsGiveTheSamePlacement(t *testing.T) {
	t.Parallel()
	var first map[string]string
	for range 4 {
		p := sharedPool(t, append(zones(20, "z1", "z2", "z3", "z3", ""),
			lab.Adapter{Capacity: 20}, lab.Adapter{Host: "host-0", Zone: "z1", Capacity: 20})...)
		x, y, z := p.vpod("x"), p.vpod("y"), p.vpod("z")
		y.SchedulerName = v1alpha1.SchedulerNameMaxFillUp
		z.MaxAdapters = 2
		for range 8 {
			p.grow(x, 1)
			p.grow(y, 1)
			p.grow(z, 1)
		}
		placed := map[string]string{}
		for vreplica, node := range p.placed(24) {
			name, _, _ := strings.Cut(vreplica, " ")
			placed[name] = strings.TrimPrefix(node, p.name)
		}
		if first == nil {
			first = placed
		}
		if diff := cmp.Diff(first, placed); diff != "" {
			t.Errorf("placed unlike the first time (-first +now):\n%s", diff)
		}
	}
}

// A pod that was put on an adapter by hand counts for what it requests, and so makes a skew of a thousand.
func TestC35_HugeOrdinalsAndSkewsStayInRange(t *testing.T) {
	t.Parallel()
	p := newPool(t, sharedLab(t))
	p.adapter(lab.Adapter{Ordinal: 0, Zone: "z1", Capacity: 2000})
	p.adapter(lab.Adapter{Ordinal: 5000, Zone: "z1", Capacity: 2000})
	p.adapter(lab.Adapter{Ordinal: 10000, Zone: "z2", Capacity: 2000})
	p.seen()
	x, y, z := p.vpod("x"), p.vpod("y"), p.vpod("z")
	z.SchedulerName = v1alpha1.SchedulerNameMaxFillUp
	p.grow(x, 1, p.on(0), requesting("1000"))
	p.steps(x, []step{{1, "1/0/1"}, {1, "1/1/1"}, {1, "1/1/2"}})
	p.steps(y, []step{{1, "1/0/0"}, {1, "1/0/1"}, {1, "1/1/1"}, {1, "1/1/2"}})
	p.steps(z, []step{{3, "3/0/0"}})
	for _, line := range regexp.MustCompile(`(?m)^E.*$`).FindAllString(shared.scheduler.Log(), -1) {
		if strings.Contains(line, p.name) {
			t.Errorf("the scheduler logs %s", line)
		}
	}
}

// requesting has a pod request so many vreplicas.
func requesting(n string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		list := corev1.ResourceList{v1alpha1.ResourceVReplicas: resource.MustParse(n)}
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
	}
}
