package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
	"vpod.dev/vpod-scheduler/pkg/controllers/metrics"
	"vpod.dev/vpod-scheduler/pkg/controllers/node"
	"vpod.dev/vpod-scheduler/pkg/controllers/placeholder"
	"vpod.dev/vpod-scheduler/pkg/controllers/pool"
	"vpod.dev/vpod-scheduler/pkg/controllers/rebalance"
	"vpod.dev/vpod-scheduler/pkg/controllers/vpod"
)

// newManager puts everything together; nothing runs yet.
func newManager(ctx context.Context, o *options, config *rest.Config) (ctrl.Manager, error) {
	scheme, err := informers.Scheme()
	if err != nil {
		return nil, err
	}
	l := o.leaderElection
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                     scheme,
		Cache:                      informers.Options(),
		LeaderElection:             l.LeaderElect,
		LeaderElectionResourceLock: l.ResourceLock,
		LeaderElectionNamespace:    l.ResourceNamespace,
		LeaderElectionID:           l.ResourceName,
		LeaseDuration:              &l.LeaseDuration.Duration,
		RenewDeadline:              &l.RenewDeadline.Duration,
		RetryPeriod:                &l.RetryPeriod.Duration,
		// Safe, because the program ends right after the manager.
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       o.metrics(),
		HealthProbeBindAddress:        o.healthAddress,
	})
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	adapterPods, err := informers.AdapterPods(config, scheme)
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(adapterPods); err != nil {
		return nil, fmt.Errorf("adding the informers of adapter pods: %w", err)
	}
	if err := informers.Index(ctx, mgr.GetCache(), adapterPods.GetCache()); err != nil {
		return nil, err
	}
	if err := addControllers(mgr, adapterPods, o, config); err != nil {
		return nil, err
	}
	err = errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("informers", synced(mgr.GetCache(), adapterPods.GetCache())),
	)
	return mgr, err
}

func addControllers(mgr ctrl.Manager, adapterPods cluster.Cluster, o *options, config *rest.Config) error {
	heartbeats, err := heartbeatClient(config)
	if err != nil {
		return err
	}
	return errors.Join(
		metrics.Add(mgr),
		pool.Add(mgr, pool.Config{AdapterPods: adapterPods, Clock: clock.RealClock{}, DrainPatience: o.drainPatience}),
		node.Add(mgr, node.Config{
			AdapterPods: adapterPods, Clock: clock.RealClock{}, Version: version,
			Heartbeat: heartbeats, HeartbeatInterval: o.heartbeatInterval,
		}),
		placeholder.Add(mgr, placeholder.Config{Clock: clock.RealClock{}}),
		vpod.Add(mgr, vpod.Config{AdapterPods: adapterPods, Clock: clock.RealClock{}}),
		rebalance.Add(mgr, rebalance.Config{Clock: clock.RealClock{}}),
	)
}

// heartbeatClient has a rate limit of its own, so that no burst of other requests holds up a heartbeat. The limit is far
// above what 1,000 virtual nodes need, and evens out the first round.
func heartbeatClient(config *rest.Config) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 500, 100
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client for heartbeats: %w", err)
	}
	return client, nil
}

// metrics are served to those alone whom the API server knows and lets have them.
func (o *options) metrics() metricsserver.Options {
	m := metricsserver.Options{
		BindAddress:    o.metricsAddress,
		SecureServing:  true,
		FilterProvider: filters.WithAuthenticationAndAuthorization,
	}
	if o.profiling {
		m.ExtraHandlers = map[string]http.Handler{
			"/debug/pprof/":        http.HandlerFunc(pprof.Index),
			"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
			"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
			"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
		}
	}
	return m
}

// synced is true once everything that the caches watch has arrived, on a standby as well.
func synced(caches ...cache.Cache) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		for _, c := range caches {
			if !c.WaitForCacheSync(ctx) {
				return errors.New("the informers have not caught up with the API server")
			}
		}
		return nil
	}
}
