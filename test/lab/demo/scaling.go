package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

const (
	// elastic is the second AdapterPool, whose StatefulSet follows what its VPods need.
	elastic = "mqtt"
	// Users have minutes for both; a story has seconds.
	elasticDelay = 5 * time.Second
	elasticLoss  = 3 * time.Second
)

// elasticHosts are the hosts of the second pool, and how large each is, in CPUs and in GiB: kube-scheduler prefers the larger,
// so that the third adapter goes to the third, the next two to the zone that is lost, and those that take their places to the
// last two.
var elasticHosts = []struct {
	zone string
	size int
}{
	{Zones[0], 8}, {Zones[1], 8}, {Zones[0], 64}, {Zones[2], 32}, {Zones[2], 32}, {Zones[1], 16}, {Zones[1], 16},
}

var elasticSet = lab.AdapterSet{Namespace: elastic, Name: elastic, BySize: true}

// scaling fills the adapters, or leaves them alike, so that the placement does not depend on which of them is ready first.
var scaling = []step{{
	title: "A second AdapterPool, mqtt, is autoscaled: 2 adapters at least, 8 at most. telemetry asks for 14 vreplicas, alerts for 4.",
	does: func(ctx context.Context, l *lab.Lab) error {
		if err := furnishElastic(ctx, l); err != nil {
			return err
		}
		return create(ctx, l, elasticVPod("telemetry", 14), elasticVPod("alerts", 4))
	},
	shows: adapters(2),
}, {
	title: "telemetry grows to 46. The StatefulSet gets as many more adapters as are missing, at once.",
	does: func(ctx context.Context, l *lab.Lab) error {
		return scale(ctx, l, "telemetry", 46)
	},
	shows: adapters(5),
}, {
	title: "zone-c is lost, and two adapters with it. Two others are added in their place, and serve what those served.",
	does:  func(ctx context.Context, l *lab.Lab) error { return eachHostOf(ctx, l, Zones[2], l.StopHost) },
	shows: func(s state) error {
		lost := 0
		for _, a := range s.adapters {
			if !a.ready && s.used(a) == 0 {
				lost++
			}
		}
		if lost != 2 {
			return fmt.Errorf("%d adapters are lost and empty", lost)
		}
		return adapters(7)(s)
	},
}, {
	title: "zone-c is back. Five adapters are enough again: the last two are emptied, and then removed.",
	does: func(ctx context.Context, l *lab.Lab) error {
		if err := eachHostOf(ctx, l, Zones[2], l.StartHost); err != nil {
			return err
		}
		return reportReady(ctx, l)
	},
	shows: adapters(5),
}, {
	title: "telemetry shrinks to 10. What is left moves together, and the pool shrinks to two adapters.",
	does: func(ctx context.Context, l *lab.Lab) error {
		return scale(ctx, l, "telemetry", 10)
	},
	shows: adapters(2),
}}

// adapters says whether a pool has so many, and wants no others for what is asked for now.
func adapters(want int) func(state) error {
	return func(s state) error {
		asked := 0
		for _, v := range s.vpods {
			asked += v.replicas
		}
		if len(s.adapters) != want || s.scaled == nil || s.scaled.Reason != v1alpha1.ReasonWantedSize ||
			!strings.Contains(s.scaled.Message, fmt.Sprintf(" %d vreplicas wanted", asked)) {
			return fmt.Errorf("there are %d adapters, and the pool says %+v", len(s.adapters), s.scaled)
		}
		for _, a := range s.adapters {
			if a.ready && a.cordoned {
				return fmt.Errorf("%s is out of use", a.name)
			}
		}
		return nil
	}
}

func elasticVPod(name string, replicas int32) *v1alpha1.VPod {
	v := VPod(name, replicas)
	v.Spec.PoolName = elastic
	return v
}

func elasticHost(i int) string { return fmt.Sprintf("%s-host-%d", elastic, i+1) }

// furnishElastic makes two adapters, with hosts for five more.
func furnishElastic(ctx context.Context, l *lab.Lab) error {
	if err := l.CreateNamespace(ctx, elastic); err != nil {
		return err
	}
	var hosts []*corev1.Node
	for i, h := range elasticHosts {
		host := elasticSet.Host(elasticHost(i), h.zone)
		host.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(fmt.Sprint(h.size))
		host.Status.Allocatable[corev1.ResourceMemory] = resource.MustParse(fmt.Sprint(h.size, "Gi"))
		hosts = append(hosts, host)
	}
	if err := l.CreateAdapters(ctx, elasticSet, hosts[:2]...); err != nil {
		return err
	}
	for _, host := range hosts[2:] {
		if err := l.CreateNode(ctx, host); err != nil {
			return err
		}
	}
	pool := elasticSet.Pool(Capacity)
	pool.Spec.EvictionTimeout = &metav1.Duration{Duration: elasticLoss}
	pool.Spec.Autoscaling = &v1alpha1.Autoscaling{
		MinReplicas: new(int32(2)), MaxReplicas: 8, ScaleDownDelay: &metav1.Duration{Duration: elasticDelay},
	}
	if err := l.Objects().Create(ctx, pool); err != nil {
		return fmt.Errorf("creating the pool: %w", err)
	}
	return nil
}

func eachHostOf(ctx context.Context, l *lab.Lab, zone string, does func(context.Context, string) error) error {
	for i, h := range elasticHosts {
		if h.zone != zone {
			continue
		}
		if err := does(ctx, elasticHost(i)); err != nil {
			return err
		}
	}
	return nil
}

// reportReady does what kubelets do that come back: they report that their pods run. kube-controller-manager called these
// not ready, and the simulated kubelets report a pod but once.
func reportReady(ctx context.Context, l *lab.Lab) error {
	return lab.Wait(ctx, "all adapters are reported as ready", func(ctx context.Context) error {
		pods, err := l.Client().CoreV1().Pods(elastic).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing adapters: %w", err)
		}
		notReady := 0
		for _, pod := range pods.Items {
			for _, c := range pod.Status.Conditions {
				if c.Type != corev1.PodReady || c.Status == corev1.ConditionTrue {
					continue
				}
				notReady++
				if err := setReady(ctx, l, pod.Name); err != nil {
					return err
				}
			}
		}
		hosts, err := l.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: corev1.LabelTopologyZone + "=" + Zones[2]})
		if err != nil {
			return fmt.Errorf("listing the hosts of the zone: %w", err)
		}
		for _, host := range hosts.Items {
			if !isReady(&host) && !v1alpha1.IsVirtual(host.Spec.ProviderID) {
				return fmt.Errorf("host %s is not ready", host.Name)
			}
		}
		if notReady > 0 {
			return fmt.Errorf("%d were not ready", notReady)
		}
		return nil
	})
}

func setReady(ctx context.Context, l *lab.Lab, pod string) error {
	patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339))
	_, err := l.Client().CoreV1().Pods(elastic).Patch(ctx, pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("reporting adapter %s as ready: %w", pod, err)
	}
	return nil
}
