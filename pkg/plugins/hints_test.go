package plugins_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

const (
	room   = "PodFitsResources"
	limit  = "NoMaxResourceCount"
	spread = "EvenPodSpread"
	pool   = "Contenders"
)

// C36: which events wake a vreplica that a plugin refused. A plugin that is not named stays asleep.
func TestC36_EventsWakeWhomTheyCanHelp(t *testing.T) {
	c := &cluster{t: t}
	waiting := c.vreplica("x").Obj()
	placed := func(vpod string) *st.PodWrapper { return c.vreplica(vpod).Node("p-0") }
	elsewhere := placed("x").Label(v1alpha1.LabelPool, "q")
	sibling, stranger := placed("x"), placed("y")
	ending := func(p *st.PodWrapper) *v1.Pod { return (&st.PodWrapper{Pod: *p.Obj().DeepCopy()}).Terminating().Obj() }
	target := func(edit func(*st.PodWrapper)) *v1.Pod {
		p := &st.PodWrapper{Pod: *waiting.DeepCopy()}
		edit(p)
		return p.Obj()
	}
	node := adapter("p-0", 0, "z", "h", 2)
	other := adapter("q-0", 0, "z", "h", 2).Label(v1alpha1.LabelPool, "q")
	edited := func(n *st.NodeWrapper, edit func(*st.NodeWrapper)) *v1.Node {
		e := &st.NodeWrapper{Node: *n.Obj().DeepCopy()}
		edit(e)
		return e.Obj()
	}

	for name, tc := range map[string]struct {
		event        fwk.ClusterEvent
		old, changed any
		want         []string
	}{
		"a stranger left the pool":        {event: podEvent(fwk.AssignedPod, fwk.Delete), old: stranger.Obj(), want: []string{room, spread}},
		"a sibling left":                  {event: podEvent(fwk.AssignedPod, fwk.Delete), old: sibling.Obj(), want: []string{room, spread, limit}},
		"a pod left another pool":         {event: podEvent(fwk.AssignedPod, fwk.Delete), old: elsewhere.Obj(), want: []string{limit}}, // a vpod may use several pools
		"a foreign pod left":              {event: podEvent(fwk.AssignedPod, fwk.Delete), old: st.MakePod().UID("f").Node("p-0").Obj()},
		"a sibling was placed":            {event: podEvent(fwk.AssignedPod, fwk.Add), changed: sibling.Obj(), want: []string{spread, limit}},
		"a stranger was placed":           {event: podEvent(fwk.AssignedPod, fwk.Add), changed: stranger.Obj(), want: []string{spread}},
		"a pod was placed elsewhere":      {event: podEvent(fwk.AssignedPod, fwk.Add), changed: elsewhere.Obj(), want: []string{limit}},
		"a sibling terminates":            {event: podEvent(fwk.AssignedPod, fwk.Update), old: sibling.Obj(), changed: ending(sibling), want: []string{spread, limit}},
		"a stranger terminates":           {event: podEvent(fwk.AssignedPod, fwk.Update), old: stranger.Obj(), changed: ending(stranger), want: []string{spread}},
		"a placed pod got an address":     {event: podEvent(fwk.AssignedPod, fwk.Update), old: sibling.Obj(), changed: sibling.Obj()},
		"the limit was raised":            {event: podEvent(fwk.TargetPod, fwk.Update), old: waiting, changed: target(func(p *st.PodWrapper) { p.Annotation(v1alpha1.AnnotationMaxAdapters, "3") }), want: []string{room, spread, limit, pool}},
		"the pool label was corrected":    {event: podEvent(fwk.TargetPod, fwk.UpdatePodLabel), old: target(func(p *st.PodWrapper) { p.Label(v1alpha1.LabelPool, "") }), changed: waiting, want: []string{room, spread, limit, pool}},
		"the pod got an annotation":       {event: podEvent(fwk.TargetPod, fwk.Update), old: waiting, changed: target(func(p *st.PodWrapper) { p.Annotation("note", "x") })},
		"an adapter was added":            {event: nodeEvent(fwk.Add), changed: node.Obj(), want: []string{room, spread, limit, pool}},
		"an adapter of another pool":      {event: nodeEvent(fwk.Add), changed: other.Obj()},
		"a real node was added":           {event: nodeEvent(fwk.Add), changed: st.MakeNode().Name("real").Obj()},
		"capacity was raised":             {event: nodeEvent(fwk.UpdateNodeAllocatable), old: node.Obj(), changed: edited(node, func(n *st.NodeWrapper) { n.Capacity(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "3"}) }), want: []string{room, spread}},
		"capacity was lowered":            {event: nodeEvent(fwk.UpdateNodeAllocatable), old: node.Obj(), changed: edited(node, func(n *st.NodeWrapper) { n.Capacity(map[v1.ResourceName]string{v1alpha1.ResourceVReplicas: "1"}) }), want: []string{spread}},
		"an adapter was cordoned":         {event: nodeEvent(fwk.UpdateNodeTaint), old: node.Obj(), changed: edited(node, func(n *st.NodeWrapper) { n.Unschedulable(true) }), want: []string{spread}},
		"an adapter changed its zone":     {event: nodeEvent(fwk.UpdateNodeLabel), old: node.Obj(), changed: edited(node, func(n *st.NodeWrapper) { n.Label(v1.LabelTopologyZone, "z2") }), want: []string{spread}},
		"an ordinal was corrected":        {event: nodeEvent(fwk.UpdateNodeLabel), old: edited(node, func(n *st.NodeWrapper) { n.Label(v1alpha1.LabelOrdinal, "x") }), changed: node.Obj(), want: []string{room, spread, limit}},
		"a node joined the pool":          {event: nodeEvent(fwk.UpdateNodeLabel), old: edited(node, func(n *st.NodeWrapper) { n.Label(v1alpha1.LabelPool, "") }), changed: node.Obj(), want: []string{room, spread, limit, pool}},
		"an adapter went":                 {event: nodeEvent(fwk.Delete), old: node.Obj(), want: []string{room, spread, limit}},
		"an adapter of another pool went": {event: nodeEvent(fwk.Delete), old: other.Obj()},
	} {
		for plugin, wakes := range hintsOf(t, tc.event, waiting, tc.old, tc.changed) {
			wanted := false
			for _, w := range tc.want {
				wanted = wanted || w == plugin
			}
			if wakes != wanted {
				t.Errorf("%s: a vreplica that %s refused wakes: %v, want %v", name, plugin, wakes, wanted)
			}
		}
	}
}

func podEvent(r fwk.EventResource, a fwk.ActionType) fwk.ClusterEvent {
	return fwk.ClusterEvent{Resource: r, ActionType: a}
}
func nodeEvent(a fwk.ActionType) fwk.ClusterEvent { return podEvent(fwk.Node, a) }

// hintsOf asks each plugin as the scheduling queue does: an event reaches the hints that are registered for it.
func hintsOf(t *testing.T, event fwk.ClusterEvent, waiting *v1.Pod, old, changed any) map[string]bool {
	t.Helper()
	answers := map[string]bool{}
	for _, name := range []string{room, limit, spread, pool} {
		plugin, err := build(t, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		registered, err := plugin.(fwk.EnqueueExtensions).EventsToRegister(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		answers[name] = false
		for _, r := range registered {
			if r.Event.Resource != event.Resource || r.Event.ActionType&event.ActionType != event.ActionType {
				continue
			}
			hint, err := r.QueueingHintFn(klog.Background(), waiting, old, changed)
			if err != nil {
				t.Fatal(err)
			}
			answers[name] = answers[name] || hint == fwk.Queue
		}
	}
	return answers
}
