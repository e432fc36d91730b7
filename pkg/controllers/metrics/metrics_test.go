package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// cluster is a cache that holds an observation, or fails.
type cluster struct {
	client.Reader
	observation
	err error
}

func (c *cluster) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1alpha1.AdapterPoolList:
		list.Items = c.pools
	case *appsv1.StatefulSetList:
		list.Items = c.sets
	case *v1alpha1.VPodList:
		list.Items = c.vpods
	case *corev1.PodList:
		list.Items = c.unbound
	default:
		return fmt.Errorf("there are no %T", list)
	}
	return c.err
}

// leader is the collector of a process that leads.
func leader(c *cluster) *collector {
	elected := make(chan struct{})
	close(elected)
	return &collector{objects: c, elected: elected}
}

func poolNamed(name string) v1alpha1.AdapterPool {
	return v1alpha1.AdapterPool{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec:       v1alpha1.AdapterPoolSpec{StatefulSetRef: v1alpha1.StatefulSetReference{Namespace: "eventing", Name: name}},
	}
}

func setNamed(name string, replicas int32) appsv1.StatefulSet {
	return appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "eventing", Name: name}, Spec: appsv1.StatefulSetSpec{Replicas: &replicas},
	}
}

// everything has a pool with a value of each kind.
func everything(name string) *cluster {
	pool := poolNamed(name)
	pool.Spec.Autoscaling = &v1alpha1.Autoscaling{Mode: v1alpha1.AutoscalingAuto, MinReplicas: new(int32(1)), MaxReplicas: 9}
	pool.Status = v1alpha1.AdapterPoolStatus{
		Adapters: 5, ReadyAdapters: 4, Capacity: 60, Used: 33, WantedAdapters: new(int32(2)), TargetAdapters: new(int32(3)),
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionScaled, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDraining,
		}},
	}
	return &cluster{observation: observation{
		pools: []v1alpha1.AdapterPool{pool}, sets: []appsv1.StatefulSet{setNamed(name, 6)},
	}}
}

func TestWhatIsToldOfAPool(t *testing.T) {
	for name, want := range map[string]float64{
		"min_adapters": 1, "max_adapters": 9, "wanted_adapters": 2, "target_adapters": 3, "current_adapters": 6,
		"draining_adapters": 3, "virtual_nodes": 5, "ready_adapters": 4, "capacity_vreplicas": 60, "used_vreplicas": 33,
	} {
		t.Run(name, func(t *testing.T) {
			check(t, leader(everything("told")), poolPrefix+name, fmt.Sprintf("{pool=\"told\"} %v\n", want))
		})
	}
	check(t, leader(everything("told")), poolPrefix+"status_condition",
		`{condition="Scaled",pool="told",reason="Draining",status="False"} 1`+"\n")
}

// lines are the values of metrics as they are scraped, without buckets.
func lines(t *testing.T, c prometheus.Collector, names ...string) string {
	t.Helper()
	text, err := testutil.CollectAndFormat(c, expfmt.TypeTextPlain, names...)
	if err != nil {
		t.Fatal(err)
	}
	var values strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "_bucket{") {
			values.WriteString(line)
		}
	}
	return values.String()
}

// check compares the values of one metric, given without its name.
func check(t *testing.T, c prometheus.Collector, name, want string) {
	t.Helper()
	got := strings.ReplaceAll(lines(t, c, name), name, "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// A pool without autoscaling has no number of adapters that it should have, and of two pools that refer to one StatefulSet
// the older one has it.
func TestPoolsThatLackSomething(t *testing.T) {
	older, younger := poolNamed("older"), poolNamed("younger")
	younger.Spec.StatefulSetRef.Name = "older"
	older.CreationTimestamp, younger.CreationTimestamp = metav1.Unix(1, 0), metav1.Unix(2, 0)
	c := leader(&cluster{observation: observation{
		pools: []v1alpha1.AdapterPool{younger, older, poolNamed("setless")}, sets: []appsv1.StatefulSet{setNamed("older", 3)},
	}})
	for name, want := range map[string]string{
		"wanted_adapters": "", "target_adapters": "", "min_adapters": "", "max_adapters": "",
		"current_adapters": "{pool=\"older\"} 3\n{pool=\"setless\"} 0\n{pool=\"younger\"} 0\n",
	} {
		check(t, c, poolPrefix+name, want)
	}
}

// While a process stands by it tells nothing, so that sums over the replicas are right.
func TestStandbysTellNothingOfPools(t *testing.T) {
	elected := make(chan struct{})
	c := &collector{objects: everything("standby"), elected: elected}
	used, moves := poolPrefix+"used_vreplicas", "vpod_controller_moved_vreplicas_total"
	if got := lines(t, c, used, moves); strings.Contains(got, "standby") {
		t.Errorf("a standby tells\n%s", got)
	}
	close(elected)
	if got := lines(t, c, used, moves); strings.Count(got, `pool="standby"`) != 5 {
		t.Errorf("the leader tells\n%s", got)
	}
}

// Counts begin at 0, for of a count that appears with its first event nobody sees that it grew; and they end with the pool.
func TestCountsLiveAsLongAsTheirPool(t *testing.T) {
	c := everything("counted")
	all := leader(c)
	want := func(n int) {
		t.Helper()
		check(t, all, "vpod_controller_rejected_vreplicas_total", fmt.Sprintf(`{pool="counted",reason="AdapterDraining"} 0
{pool="counted",reason="OtherPool"} 0
{pool="counted",reason="OutOfVReplicas"} %d
`, n))
	}
	want(0)
	Rejected("counted", v1alpha1.PodOutOfVReplicas, 2)
	want(2)
	c.pools = nil
	// Somebody may have been busy with a pool that is gone.
	Rejected("counted", v1alpha1.PodOutOfVReplicas, 1)
	Evicted("counted", v1alpha1.CordonLost)
	Admitted("counted", time.Second)
	for _, name := range []string{
		"vpod_controller_rejected_vreplicas_total", "vpod_controller_moved_vreplicas_total",
		"vpod_controller_placement_duration_seconds", "vpod_controller_pool_scale_writes_total",
	} {
		check(t, all, name, "")
	}
	c.pools = everything("counted").pools
	want(0)
}

// A cache that fails costs no more than what comes from it.
func TestCountsAreToldWithoutTheCache(t *testing.T) {
	c := everything("uncached")
	c.err = errors.New("not now")
	name := "vpod_controller_placeholders_created_total"
	if got := lines(t, leader(c), name); !strings.HasPrefix(got, name) {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsCounted(t *testing.T) {
	c := everything("events")
	all := leader(c)
	forget("events")
	Evicted("events", v1alpha1.CordonDraining)
	Evicted("events", v1alpha1.CordonDraining)
	Admitted("events", 3*time.Second)
	Admitted("events", -time.Second) // A clock that was set back.
	Scaled("events", 3, 5)
	Scaled("events", 5, 4)
	Scaled("events", 4, 4)
	DrainStarted("events")
	DrainBlocked("events")
	DrainFinished("events")
	for name, want := range map[string]string{
		"moved_vreplicas_total": `{pool="events",reason="AdapterNotReady"} 0
{pool="events",reason="AdapterRemoved"} 0
{pool="events",reason="Rebalance"} 0
{pool="events",reason="ScalingDown"} 2
`,
		"placement_duration_seconds": "_sum{pool=\"events\"} 3\n_count{pool=\"events\"} 2\n",
		"pool_scale_writes_total":    "{direction=\"down\",pool=\"events\"} 1\n{direction=\"up\",pool=\"events\"} 1\n",
		"pool_drains_started_total":  "{pool=\"events\"} 1\n",
		"pool_drains_blocked_total":  "{pool=\"events\"} 1\n",
		"pool_drains_finished_total": "{pool=\"events\"} 1\n",
	} {
		check(t, all, "vpod_controller_"+name, want)
	}
}

// Names, units and help texts are as Prometheus' conventions want them.
func TestConventions(t *testing.T) {
	problems, err := testutil.CollectAndLint(leader(everything("lint")))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
