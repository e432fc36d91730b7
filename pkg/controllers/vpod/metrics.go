package vpod

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	creations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vpod_controller_placeholders_created_total",
		Help: "Number of placeholder pods that the controller created.",
	})
	removals = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vpod_controller_placeholders_removed_total",
		Help: "Number of placeholder pods that the controller removed to scale down, or to replace them.",
	})
	publications = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vpod_controller_vpod_status_writes_total",
		Help: "Number of times that the controller wrote the status of a VPod.",
	})
)

func registerMetrics() error {
	for _, c := range []prometheus.Collector{creations, removals, publications} {
		// The registry is one for the process, in which there may be several managers.
		err := metrics.Registry.Register(c)
		if _, isThere := errors.AsType[prometheus.AlreadyRegisteredError](err); err != nil && !isThere {
			return err
		}
	}
	return nil
}
