package snapshot

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Cache keeps pools current with the scheduler's snapshot. It is for the scheduling loop alone, which runs one cycle
// at a time.
type Cache struct {
	resource v1.ResourceName
	// records are parallel to the snapshot's list of nodes, so that a cycle in which nothing changed costs a
	// comparison of generations a node.
	records []record
	pools   map[string]*pool
}

// record is what the cache knows of a node. The scheduler gives every change of a NodeInfo a generation of its own.
type record struct {
	info       fwk.NodeInfo
	generation int64
	name, pool string
}

// NewCache returns an empty cache that counts a resource as vreplicas.
func NewCache(name v1.ResourceName) *Cache {
	return &Cache{resource: name, pools: map[string]*pool{}}
}

// Update recounts the nodes that changed since the last call.
func (c *Cache) Update(nodes []fwk.NodeInfo) {
	if !c.sameNodes(nodes) {
		c.rearrange(nodes)
	}
	for i, info := range nodes {
		if r := &c.records[i]; r.generation != info.GetGeneration() {
			c.recount(r, info)
		}
	}
}

// sameNodes says whether the list still holds the same nodes in the same places.
func (c *Cache) sameNodes(nodes []fwk.NodeInfo) bool {
	if len(nodes) != len(c.records) {
		return false
	}
	for i, info := range nodes {
		if c.records[i].info != info {
			return false
		}
	}
	return true
}

// rearrange brings the records into the order of a new list, and forgets nodes that are not in it.
func (c *Cache) rearrange(nodes []fwk.NodeInfo) {
	old := make(map[string]record, len(c.records))
	for _, r := range c.records {
		old[r.name] = r
	}
	c.records = make([]record, len(nodes))
	for i, info := range nodes {
		name := info.Node().Name
		r, known := old[name]
		if !known {
			r = record{name: name, generation: -1}
		}
		r.info = info
		c.records[i] = r
		delete(old, name)
	}
	for _, r := range old {
		c.leave(r)
	}
}

// recount reads a node anew.
func (c *Cache) recount(r *record, info fwk.NodeInfo) {
	name := info.Node().Labels[v1alpha1.LabelPool]
	if r.pool != name {
		c.leave(*r)
	}
	r.generation, r.pool = info.GetGeneration(), name
	if name == "" {
		return
	}
	if c.pools[name] == nil {
		c.pools[name] = newPool(c.resource)
	}
	c.pools[name].put(info)
}

// leave takes a node out of its pool, and the pool out of the cache with its last node.
func (c *Cache) leave(r record) {
	if r.pool == "" {
		return
	}
	p := c.pools[r.pool]
	p.drop(r.name)
	if len(p.names) == 0 {
		delete(c.pools, r.pool)
	}
}
