package snapshot

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

// pool is the adapters of one pool, and what decides whether they are open to a vreplica.
type pool struct {
	*placement.Pool
	resource v1.ResourceName
	// names are the pool's nodes, those with broken labels included, so that these are judged and told about.
	names sets.Set[string]
	// nodes and doors are by slot: the adapter's node, and which of taints bar the way to it.
	nodes []*v1.Node
	doors []int
	// taints are the distinct sets of taints that nodes have, and byKey finds them: thousands of adapters share a few,
	// so that a vreplica's tolerations are matched a few times, not thousands.
	taints [][]v1.Taint
	byKey  map[string]int
}

func newPool(name v1.ResourceName) *pool {
	return &pool{Pool: placement.NewPool(), resource: name, names: sets.New[string](), byKey: map[string]int{}}
}

// put adds a node, or replaces it.
func (p *pool) put(info fwk.NodeInfo) {
	node := info.Node()
	p.names.Insert(node.Name)
	adapter, counts, ok := adapterOf(info, p.resource)
	if !ok {
		p.Remove(node.Name)
		return
	}
	p.Put(adapter, counts)
	slot, _ := p.Slot(node.Name)
	for len(p.nodes) <= slot {
		p.nodes, p.doors = append(p.nodes, nil), append(p.doors, 0)
	}
	p.nodes[slot], p.doors[slot] = node, p.door(node)
	p.forgetTaints()
}

// drop takes a node out.
func (p *pool) drop(name string) {
	p.names.Delete(name)
	p.Remove(name)
}

// door numbers the set of taints that keep vreplicas off a node. A cordon is one of them: the in-tree plugin
// NodeUnschedulable lets in who tolerates it.
func (p *pool) door(node *v1.Node) int {
	taints := make([]v1.Taint, 0, len(node.Spec.Taints)+1)
	for _, t := range node.Spec.Taints {
		if barring(&t) {
			taints = append(taints, t)
		}
	}
	if node.Spec.Unschedulable {
		taints = append(taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	return p.number(taints)
}

// number finds the number of a set of taints, or gives it one.
func (p *pool) number(taints []v1.Taint) int {
	var key strings.Builder
	for _, t := range taints {
		key.WriteString(t.ToString())
		key.WriteByte('\n')
	}
	i, known := p.byKey[key.String()]
	if !known {
		i = len(p.taints)
		p.taints = append(p.taints, taints)
		p.byKey[key.String()] = i
	}
	return i
}

// forgetTaints forgets the sets that no node has any more, once there are more than the pool has nodes: the value of a
// taint may be a time, and so another each time.
func (p *pool) forgetTaints() {
	if len(p.taints) <= len(p.names) {
		return
	}
	taints := p.taints
	p.taints, p.byKey = nil, map[string]int{}
	for name := range p.names {
		if slot, found := p.Slot(name); found {
			p.doors[slot] = p.number(taints[p.doors[slot]])
		}
	}
}

// barring tells the taints that keep pods out from those that only put them off.
func barring(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
}
