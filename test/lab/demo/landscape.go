// Package demo is the story that the lab tells: a StatefulSet whose pods are adapters, VPods that spread over them, a host
// that goes out of use, a VPod that does not fit, scaling down, an adapter that comes back on another host, a tenant with a
// quota, and a second pool that grows, loses a zone, and shrinks. It shows each step as a map and checks it against what
// vpod-scheduler promises.
package demo

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// What both the demo and the lab for people start from: hosts in 3 zones, and on each of the first 6 an adapter.
const (
	// Namespace is where the VPods are.
	Namespace = "shop"
	// Pool is the AdapterPool, and its StatefulSet, which is in a namespace of the same name.
	Pool = "kafka"
	// Adapters is the number of adapters; Hosts is one more, a spare.
	Adapters = 6
	Hosts    = Adapters + 1
	// Capacity is the room of each adapter, in vreplicas.
	Capacity = 10
	// NodeGrace is how long a host may be silent; kube-controller-manager's own default is 50 s. heartbeats are the flag of
	// the controller that fits.
	NodeGrace  = 8 * time.Second
	heartbeats = "--heartbeat-interval=2s"
)

// Zones are the zones of the hosts, by turns; the spare host is in the second.
var Zones = []string{"zone-a", "zone-b", "zone-c"}

var set = lab.AdapterSet{Namespace: Pool, Name: Pool}

// Start runs everything in a lab that runs all of kube-controller-manager, and kwok: kube-scheduler for the adapters, our
// scheduler and controller, the hosts, the StatefulSet and its pool.
func Start(ctx context.Context, l *lab.Lab, options lab.SchedulerOptions) error {
	if _, err := l.StartKubeScheduler(ctx, lab.SchedulerOptions{}); err != nil {
		return err
	}
	if err := l.Install(ctx); err != nil {
		return err
	}
	if _, err := l.StartScheduler(ctx, options); err != nil {
		return err
	}
	if _, err := l.StartController(ctx, lab.ControllerOptions{Verbosity: options.Verbosity, Args: []string{heartbeats}}); err != nil {
		return err
	}
	for _, namespace := range []string{Pool, Namespace} {
		if err := l.CreateNamespace(ctx, namespace); err != nil {
			return err
		}
	}
	if err := furnish(ctx, l); err != nil {
		return err
	}
	return lab.Wait(ctx, "the pool is ready", func(ctx context.Context) error { return poolReady(ctx, l) })
}

func furnish(ctx context.Context, l *lab.Lab) error {
	var hosts []*corev1.Node
	for i := range Adapters {
		hosts = append(hosts, set.Host(fmt.Sprintf("host-%d", i+1), Zones[i%len(Zones)]))
	}
	if err := l.CreateAdapters(ctx, set, hosts...); err != nil {
		return err
	}
	if err := l.CreateNode(ctx, set.Host(fmt.Sprintf("host-%d", Hosts), Zones[1])); err != nil {
		return err
	}
	if err := l.Objects().Create(ctx, set.Pool(Capacity)); err != nil {
		return fmt.Errorf("creating the pool: %w", err)
	}
	return nil
}

func poolReady(ctx context.Context, l *lab.Lab) error {
	nodes, err := l.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + Pool})
	if err != nil {
		return fmt.Errorf("listing adapters: %w", err)
	}
	if len(nodes.Items) != Adapters {
		return fmt.Errorf("it has %d adapters", len(nodes.Items))
	}
	for _, n := range nodes.Items {
		if !isReady(&n) || n.Spec.Unschedulable {
			return fmt.Errorf("%s is not ready", n.Name)
		}
	}
	return nil
}
