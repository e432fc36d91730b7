// Package snapshot translates between Kubernetes and package placement, and is the only place that does: placeholder
// pods become vreplicas, nodes become adapters, the scheduler's snapshot becomes pools.
//
// A Cache keeps the pools current from one scheduling cycle to the next at the cost of the nodes that changed. A Cycle
// is what the plugins share while one vreplica is scheduled.
package snapshot
