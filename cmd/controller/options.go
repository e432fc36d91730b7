package main

import (
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	componentbaseconfig "k8s.io/component-base/config"
	componentbaseoptions "k8s.io/component-base/config/options"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// options are the flags.
type options struct {
	kubeconfig        string
	qps               float32
	burst             int
	healthAddress     string
	metricsAddress    string
	profiling         bool
	heartbeatInterval time.Duration
	drainPatience     time.Duration
	leaderElection    componentbaseconfig.LeaderElectionConfiguration
	logs              *logsapi.LoggingConfiguration
	version           bool
}

func newOptions() *options {
	return &options{
		// Each placement costs a handful of requests. The API server's priority and fairness protects it; a low limit here
		// would only make vreplicas wait.
		qps:               500,
		burst:             1000,
		healthAddress:     ":8081",
		metricsAddress:    ":8443",
		heartbeatInterval: 10 * time.Second,
		drainPatience:     2 * time.Minute,
		leaderElection: componentbaseconfig.LeaderElectionConfiguration{
			LeaderElect:       true,
			LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
			RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
			RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
			ResourceLock:      "leases",
			ResourceName:      v1alpha1.ControllerName,
			ResourceNamespace: v1alpha1.Namespace,
		},
		logs: logsapi.NewLoggingConfiguration(),
	}
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Path of a kubeconfig file; without it, the pod's service account.")
	flags.Float32Var(&o.qps, "kube-api-qps", o.qps, "Requests a second to the API server on average, heartbeats left aside.")
	flags.IntVar(&o.burst, "kube-api-burst", o.burst, "Requests to the API server at once.")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", o.healthAddress, "Address that serves /healthz and /readyz.")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", o.metricsAddress,
		"Address that serves /metrics by HTTPS to those whom the API server authorizes. 0 serves none.")
	flags.BoolVar(&o.profiling, "profiling", false, "Serve /debug/pprof beside /metrics, to those who are authorized.")
	flags.DurationVar(&o.heartbeatInterval, "heartbeat-interval", o.heartbeatInterval,
		"How often the lease of each virtual node is renewed; at most a quarter of kube-controller-manager's node-monitor-grace-period.")
	flags.DurationVar(&o.drainPatience, "drain-patience", o.drainPatience,
		"How long no vreplica may have left the adapters that a pool is about to do without, before they are put back in use for a while.")
	flags.BoolVar(&o.version, "version", false, "Print the version and exit.")
	componentbaseoptions.BindLeaderElectionFlags(&o.leaderElection, flags)
	logsapi.AddFlags(o.logs, flags)
}

// apply checks the flags and has logging follow them.
func (o *options) apply() error {
	if err := o.validate().ToAggregate(); err != nil {
		return err
	}
	return logsapi.ValidateAndApply(o.logs, nil)
}

// validate names each wrong flag as the user wrote it.
func (o *options) validate() field.ErrorList {
	var errs field.ErrorList
	invalid := func(flag string, value any, why string) {
		errs = append(errs, field.Invalid(field.NewPath("--"+flag), value, why))
	}
	if o.qps <= 0 {
		invalid("kube-api-qps", o.qps, "must be above 0")
	}
	if o.burst < 1 {
		invalid("kube-api-burst", o.burst, "must be at least 1")
	}
	if o.heartbeatInterval < time.Second {
		invalid("heartbeat-interval", o.heartbeatInterval.String(), "must be at least 1s")
	}
	if o.drainPatience < time.Second {
		invalid("drain-patience", o.drainPatience.String(), "must be at least 1s")
	}
	for _, bind := range []struct{ flag, address string }{
		{"health-probe-bind-address", o.healthAddress}, {"metrics-bind-address", o.metricsAddress},
	} {
		if _, _, err := net.SplitHostPort(bind.address); err != nil && bind.address != "0" {
			invalid(bind.flag, bind.address, "must be host:port, :port, or 0 for none")
		}
	}
	l := o.leaderElection
	if !l.LeaderElect {
		return errs
	}
	if l.ResourceLock != "leases" {
		invalid("leader-elect-resource-lock", l.ResourceLock, "must be leases")
	}
	if l.RetryPeriod.Duration <= 0 {
		invalid("leader-elect-retry-period", l.RetryPeriod.Duration.String(), "must be above 0")
	}
	if l.RenewDeadline.Duration <= l.RetryPeriod.Duration*12/10 {
		invalid("leader-elect-renew-deadline", l.RenewDeadline.Duration.String(), "must be above 1.2 times --leader-elect-retry-period")
	}
	if l.LeaseDuration.Duration <= l.RenewDeadline.Duration {
		invalid("leader-elect-lease-duration", l.LeaseDuration.Duration.String(), "must be above --leader-elect-renew-deadline")
	}
	return errs
}

// restConfig is the access to the API server.
func (o *options) restConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the access to the API server: %w", err)
	}
	config.UserAgent = v1alpha1.ControllerName + "/" + version
	config.QPS, config.Burst = o.qps, o.burst
	return config, nil
}
