package soak

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// autoWorld is testWorld with its pool scaled from 2 to 4 adapters, of which it needs 1.
func autoWorld() *world {
	w := testWorld()
	p := autoPool(2, 2)
	p.Spec.Autoscaling.MinReplicas = new(int32(2))
	w.pools["p"] = p
	return w
}

// least sets the fewest adapters.
func (w *world) least(n int32) { w.pools["p"].Spec.Autoscaling.MinReplicas = &n }

func (w *world) most(n int32) { w.pools["p"].Spec.Autoscaling.MaxReplicas = n }

// says sets how many adapters the pool wants, and why it has as many as it has.
func (w *world) says(wanted int32, reason string) {
	w.pools["p"].Status.WantedAdapters = &wanted
	c := &w.pools["p"].Status.Conditions[1]
	if c.Reason, c.Status = reason, metav1.ConditionTrue; reason != v1alpha1.ReasonWantedSize {
		c.Status = metav1.ConditionFalse
	}
}

// switchOff has the pool tell its size alone.
func (w *world) switchOff() {
	w.pools["p"].Spec.Autoscaling.Mode = v1alpha1.AutoscalingOff
	w.pools["p"].Status.TargetAdapters = nil
	w.says(2, v1alpha1.ReasonAutoscalingOff)
}

// waitsFor has a vreplica wait beside 4 of others, for which the pool would need 3 adapters, and may have so many.
func (w *world) waitsFor(most int32) {
	w.waits(4)
	w.most(most)
	w.says(min(3, most), v1alpha1.ReasonMaxReplicas)
}

func TestCheckFindsNothingWhereAPoolHasItsSize(t *testing.T) {
	for name, edit := range map[string]func(*world){
		"as many as it may have at least": func(*world) {},
		"as many as it needs":             func(w *world) { w.least(0); w.setCapacity(2) },
		"off":                             func(w *world) { w.switchOff(); w.least(1); w.says(1, v1alpha1.ReasonAutoscalingOff) },
		"more than it may have":           func(w *world) { w.waitsFor(2) },
		"a budget in the way": func(w *world) {
			w.least(1)
			w.says(1, v1alpha1.ReasonDrainBlocked)
			w.budgets = append(w.budgets, budget())
		},
		"a guest in the way": func(w *world) {
			w.least(1)
			w.says(1, v1alpha1.ReasonDrainBlocked)
			w.pods = append(w.pods, others("p-1"))
			w.pools["p"].Status.Used++
		},
		"a limit that holds back what waits": func(w *world) {
			w.waits(0)
			w.limit(1)
			w.crowd1()
			w.least(1)
			w.says(1, v1alpha1.ReasonDrainBlocked)
			w.pods = append(w.pods, others("p-1"))
			w.pools["p"].Status.Used++
		},
		"an adapter without a host": func(w *world) {
			w.least(3)
			w.sets["s/set"] = testSet(3)
			w.pools["p"].Status.TargetAdapters = new(int32(3))
			w.says(3, v1alpha1.ReasonScalingUp)
			w.pools["p"].Status.Conditions[0].Status = metav1.ConditionFalse
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := autoWorld()
			edit(w)
			if f := check(w); len(f) > 0 {
				t.Errorf("found:\n%s", strings.Join(f, "\n"))
			}
		})
	}
}

func TestCheckFindsEachWrongSize(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*world)
		want string
	}{
		"wants too few":            {func(w *world) { w.says(1, v1alpha1.ReasonWantedSize) }, "scale: pool p wants 1 adapters, true is 2"},
		"has one too many":         {func(w *world) { w.least(1); w.says(1, v1alpha1.ReasonScaleDownDelayed) }, "scale: pool p has 2 adapters, needs 1"},
		"is blocked by nothing":    {func(w *world) { w.least(1); w.says(1, v1alpha1.ReasonDrainBlocked) }, "scale: pool p has 2 adapters, needs 1"},
		"has one too few":          {func(w *world) { w.setCapacity(1); w.says(3, v1alpha1.ReasonScalingUp) }, "scale: pool p has 2 adapters, needs 3"},
		"has fewer than it is to":  {func(w *world) { w.least(3) }, "scale: pool p has 2 adapters, and is to have 3 to 4"},
		"has more than it is to":   {func(w *world) { w.least(1); w.most(1) }, "scale: pool p has 2 adapters, and is to have 1 to 1"},
		"still drains":             {func(w *world) { w.pools["p"].Status.TargetAdapters = new(int32(1)) }, "scale: pool p is held at 1 adapters, and its StatefulSet at 2"},
		"still cordoned":           {func(w *world) { w.cordon("p-1", v1alpha1.CordonDraining) }, `nodes: p-1 is cordoned because of "ScalingDown", which is not so`},
		"still held, though off":   {func(w *world) { w.switchOff(); w.pools["p"].Status.TargetAdapters = new(int32(2)) }, "scale: pool p is held at 2 adapters, and its StatefulSet at none"},
		"off, and does not say so": {func(w *world) { w.switchOff(); w.says(2, v1alpha1.ReasonWantedSize) }, `G9: pool p says of its size "True", "WantedSize"`},
		"not scaled, and says so":  {func(w *world) { w.pools["p"].Spec.Autoscaling = nil }, "scale: pool p wants 2 adapters, true is none"},
		"waits below the bound":    {func(w *world) { w.waitsFor(3) }, "G2: ns/x-vreplica-2 waits, and pool p could have more adapters"},
		"does not name the bound":  {func(w *world) { w.waitsFor(2); w.says(2, v1alpha1.ReasonWantedSize) }, `true is "MaxReplicas"`},
		"does not tell of a host":  {func(w *world) { w.pod("set-1").Spec.NodeName = "" }, `true is "ScalingUp"`},
		"does not say why":         {func(w *world) { w.pools["p"].Status.Conditions[1].Message = "" }, "G9: pool p does not say why it has this size"},
		"a move is left": {func(w *world) {
			*w.pod("x-vreplica-0") = *toMove(0, "p-0", "ByHand")
		}, `moves: ns/x-vreplica-0 is still to be moved: "ByHand"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := autoWorld()
			tc.edit(w)
			if f := strings.Join(check(w), "\n"); !strings.Contains(f, tc.want) {
				t.Errorf("found:\n%s\nand not %s", f, tc.want)
			}
		})
	}
}

// What an adapter can be counted on for, told from what its node says. x asks for 4, and others have none.
func TestSizeCountsOnAdapters(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*world)
		want int32
	}{
		"two of 3":                  {func(*world) {}, 2},
		"nothing asked for":         {func(w *world) { w.vpods["x"].Spec.Replicas = new(int32(0)) }, 0},
		"a VPod that is deleted":    {func(w *world) { w.vpods["x"].DeletionTimestamp = &metav1.Time{Time: noon} }, 0},
		"one that is not there":     {func(w *world) { delete(w.nodes, "p-1") }, 2},
		"one without a host":        {func(w *world) { w.cordon("p-1", v1alpha1.CordonNoHost) }, 2},
		"one that is drained":       {func(w *world) { w.cordon("p-1", v1alpha1.CordonDraining) }, 2},
		"one that a person has":     {func(w *world) { w.cordon("p-0", "") }, 2},
		"two that persons have":     {func(w *world) { w.cordon("p-0", ""); w.cordon("p-1", "") }, 3},
		"one that is lost":          {func(w *world) { w.cordon("p-0", v1alpha1.CordonLost) }, 3},
		"one with a guest":          {func(w *world) { w.pods = append(w.pods, others("p-0")) }, 2},
		"one full of guests":        {func(w *world) { w.pods = append(w.pods, others("p-0"), others("p-0"), others("p-0")) }, 3},
		"a cordon and a guest":      {func(w *world) { w.cordon("p-1", ""); w.pods = append(w.pods, others("p-1")) }, 2},
		"a limit of one":            {func(w *world) { w.vpods["x"].Spec.MaxAdapters = new(int32(1)) }, 1},
		"a limit without any room":  {func(w *world) { w.vpods["x"].Spec.MaxAdapters = new(int32(2)); w.setCapacity(2) }, 2},
		"a limit and room":          {func(w *world) { w.vpods["x"].Spec.MaxAdapters = new(int32(3)); w.setCapacity(1) }, 3},
		"a limit and a lost one":    {func(w *world) { w.vpods["x"].Spec.MaxAdapters = new(int32(2)); w.cordon("p-1", v1alpha1.CordonLost) }, 3},
		"the fewest that there are": {func(w *world) { w.least(3); w.vpods["x"].Spec.Replicas = new(int32(1)) }, 3},
		"no more than there may be": {func(w *world) { w.vpods["x"].Spec.Replicas = new(int32(99)) }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			w := autoWorld()
			w.least(0)
			w.vpods["x"].Spec.Replicas = new(int32(4))
			tc.edit(w)
			if got := w.size(w.pools["p"]).wanted; got != tc.want {
				t.Errorf("wanted are %d, want %d", got, tc.want)
			}
		})
	}
}

// moveTo puts one of x on another adapter.
func (w *world) moveTo(name, node string) { w.pod(name).Spec.NodeName = node }

func TestCheckKnowsWhatWouldBeBetter(t *testing.T) {
	packs := func(w *world) { w.vpods["x"].Spec.SchedulerName = v1alpha1.SchedulerNameMaxFillUp }
	for name, tc := range map[string]struct {
		edit func(*world)
		want bool
	}{
		"even":              {func(*world) {}, false},
		"the lower ordinal": {func(w *world) { w.moveTo("x-vreplica-0", "p-1") }, true},
		"two more on one":   {func(w *world) { w.moveTo("x-vreplica-1", "p-0") }, true},
		"another zone":      {func(w *world) { w.nodes["p-1"].Labels[corev1.LabelTopologyZone] = "y"; w.moveTo("x-vreplica-1", "p-0") }, true},
		"another zone, and then uneven adapters": {func(w *world) {
			w.sets["s/set"] = testSet(3)
			w.nodes["p-2"] = testNode(2)
			w.nodes["p-2"].Labels[corev1.LabelTopologyZone] = "y"
			w.pods = append(w.pods, testPlaceholder(3, "p-1"), testPlaceholder(4, "p-2"), testPlaceholder(5, "p-2"))
		}, false},
		"no room there":            {func(w *world) { w.moveTo("x-vreplica-0", "p-1"); w.nodes["p-0"].Status.Allocatable = nil }, false},
		"cordoned":                 {func(w *world) { w.moveTo("x-vreplica-0", "p-1"); w.cordon("p-0", "") }, false},
		"not ready":                {func(w *world) { w.moveTo("x-vreplica-1", "p-0"); w.nodes["p-1"].Status.Conditions = nil }, false},
		"on one that is not ready": {func(w *world) { w.moveTo("x-vreplica-0", "p-1"); w.nodes["p-1"].Status.Conditions = nil }, false},
		"on one that goes": {func(w *world) {
			w.pools["p"].Spec.Autoscaling = autoPool(1, 2).Spec.Autoscaling
			w.moveTo("x-vreplica-1", "p-0")
		}, false},
		"beyond its limit":    {func(w *world) { w.moveTo("x-vreplica-1", "p-0"); w.limit(1) }, false},
		"a budget in the way": {func(w *world) { w.moveTo("x-vreplica-0", "p-1"); w.budgets = append(w.budgets, budget()) }, false},
		"off":                 {func(w *world) { w.moveTo("x-vreplica-0", "p-1"); w.pools["p"].Spec.Descheduling = rebalance(false) }, false},
		"while one waits":     {func(w *world) { w.moveTo("x-vreplica-1", "p-0"); *w.pod("x-vreplica-2") = *testPlaceholder(2, "") }, false},
		"while another waits": {func(w *world) {
			w.moveTo("x-vreplica-0", "p-1")
			p := testPlaceholder(0, "")
			p.Name, p.OwnerReferences, p.Labels[v1alpha1.LabelVPod] = "guest-0", nil, "guest"
			w.pods = append(w.pods, p)
		}, true},
		"packed on two":             {packs, true},
		"packed":                    {func(w *world) { packs(w); w.moveTo("x-vreplica-1", "p-0") }, false},
		"packed on the higher one":  {func(w *world) { packs(w); w.moveTo("x-vreplica-0", "p-1"); w.moveTo("x-vreplica-2", "p-1") }, false},
		"packed where it has to be": {func(w *world) { packs(w); w.setCapacity(2) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := testWorld()
			w.pools["p"].Spec.Descheduling = rebalance(true)
			tc.edit(w)
			w.now = noon.Add(time.Minute)
			if got := strings.Contains(strings.Join(check(w), "\n"), "rebalance: a vreplica of ns/x on"); got != tc.want {
				t.Errorf("something better is found: %t, want %t", got, tc.want)
			}
		})
	}
}

// A limit keeps an adapter only where it leaves too little room.
func TestCheckKnowsWhatALimitKeeps(t *testing.T) {
	for name, tc := range map[string]struct {
		limit, capacity int32
		want            bool
	}{
		"room on the one that it uses": {1, 3, false},
		"none there":                   {1, 2, true},
		"any adapter":                  {9, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := autoWorld()
			w.limit(tc.limit)
			w.setCapacity(tc.capacity)
			if why := w.blocked(w.pools["p"], w.adapters(w.pools["p"]), 1); (why != "") != tc.want {
				t.Errorf("blocked because of %q, want so: %t", why, tc.want)
			}
		})
	}
}
