// Package demo is the story that the lab tells: a pool of adapters, vpods that spread over it, a host that goes out of
// use, and a vpod that does not fit. It shows each step as a map and checks it against the rules of the scheduler.
package demo

import (
	"context"
	"fmt"

	"vpod.dev/vpod-scheduler/test/lab"
)

// What both the demo and the lab for people start from: 6 hosts in 3 zones, with one adapter on each.
const (
	// Namespace is where the vpods are.
	Namespace = "shop"
	// Pool is the pool of adapters.
	Pool = "kafka"
	// Adapters is the number of adapters, and of hosts.
	Adapters = 6
	// Capacity is the room of each adapter, in vreplicas.
	Capacity = 10
)

// Zones are the zones of the hosts, by turns.
var Zones = []string{"zone-a", "zone-b", "zone-c"}

// Furnish creates the hosts, the adapters and the namespace.
func Furnish(ctx context.Context, l *lab.Lab) error {
	for ordinal := range Adapters {
		// The zones take turns, as they do for a StatefulSet whose pods are spread over them.
		host, zone := fmt.Sprintf("host-%d", ordinal+1), Zones[ordinal%len(Zones)]
		if err := l.CreateNode(ctx, lab.Host(host, zone)); err != nil {
			return err
		}
		adapter := lab.Adapter{Pool: Pool, Ordinal: ordinal, Host: host, Zone: zone, Capacity: Capacity}
		if err := l.CreateNode(ctx, adapter.Node()); err != nil {
			return err
		}
	}
	return l.CreateNamespace(ctx, Namespace)
}
