package metrics

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// patience is how long a scrape waits for the cache.
const patience = 5 * time.Second

// Add has a manager, whose cache must have the indexes of package informers, report all metrics. A process has one
// registry, and so one such manager.
func Add(mgr ctrl.Manager) error {
	if err := metrics.Registry.Register(New(mgr.GetClient(), mgr.Elected())); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	return nil
}

// New returns all metrics of the controllers. Of pools it tells what objects has, from the moment that elected is closed.
func New(objects client.Reader, elected <-chan struct{}) prometheus.Collector {
	return &collector{objects: objects, elected: elected}
}

// collector looks at the pools when it is asked. So it tells what is, it has nothing to forget, and a pool that is gone
// has no series.
type collector struct {
	// objects reads from the cache.
	objects client.Reader
	// elected is closed once this process leads. Those that stand by tell nothing of pools, so that sums over the replicas
	// are right.
	elected <-chan struct{}
}

// Describe names all metrics.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, g := range gauges {
		descs <- g.desc
	}
	descs <- waitingDesc
	descs <- conditionDesc
	for _, counter := range counters() {
		counter.Describe(descs)
	}
}

// Collect reports all metrics.
func (c *collector) Collect(values chan<- prometheus.Metric) {
	select {
	case <-c.elected:
		c.collectPools(values)
	default:
	}
	for _, counter := range counters() {
		counter.Collect(values)
	}
}

func (c *collector) collectPools(values chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o, err := observe(ctx, c.objects)
	if err != nil {
		// The counters are worth having all the same.
		klog.Background().Error(err, "Cannot tell of pools")
		return
	}
	names := map[string]bool{}
	for i := range o.pools {
		names[o.pools[i].Name] = true
	}
	keep(names)
	o.tell(values)
}
