package controllers

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// fetch reads a page that the controller serves to an administrator beside its metrics.
func (s *stage) fetch(t testing.TB, path string) string {
	t.Helper()
	return s.fetchFrom(t, s.controller, path)
}

func (s *stage) fetchFrom(t testing.TB, process *lab.Process, path string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(process.Metrics(), "/metrics")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Config().BearerToken)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s %v", path, response.Status, err)
	}
	return string(body)
}

// metric is the sum of all series of one of the controller's metrics.
func (s *stage) metric(t testing.TB, name string) float64 {
	t.Helper()
	sum, found := 0.0, false
	for line := range strings.Lines(s.fetch(t, "/metrics")) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if labels, ok := strings.CutPrefix(series, name); ok && (labels == "" || labels[0] == '{') {
			v, err := strconv.ParseFloat(value[strings.LastIndex(value, " ")+1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum, found = sum+v, true
		}
	}
	if !found {
		t.Fatalf("the controller has no metric %s", name)
	}
	return sum
}

// heap is what the controller holds, in bytes, once garbage is collected.
func (s *stage) heap(t testing.TB) float64 {
	t.Helper()
	s.fetch(t, "/debug/pprof/heap?gc=1")
	return s.metric(t, "go_memstats_heap_alloc_bytes")
}

// 10,000 pods that have nothing to do with us, half of them with labels and containers like those of any application,
// must not cost the controller memory.
func TestC44_UnrelatedPodsCostNoMemory(t *testing.T) {
	const unrelated, allowed = 10_000, 8 << 20
	s := ownStage(t, "--profiling")
	p := s.newPool(t, 10, "z1", "z2")
	p.run("x", 4, "2/2")
	before := s.heap(t)

	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(32)
	for i := range unrelated {
		group.Go(func() error {
			_, err := s.Client().CoreV1().Pods(p.name).Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("app-%d", i), Labels: map[string]string{"app": "web", "version": "v1"}},
				Spec: corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "web", Image: "web:v1",
					Env: []corev1.EnvVar{{Name: "PADDING", Value: strings.Repeat("x", 500)}}}}},
			}, metav1.CreateOptions{})
			return err
		})
	}
	p.must(group.Wait())
	p.scale("x", 6) // All that happened before has reached the controller, if it is told of it at all.
	p.settled("x", "3/3")
	after := s.heap(t)
	t.Logf("heap of the controller: %.1f MiB, with %d unrelated pods %.1f MiB", before/(1<<20), unrelated, after/(1<<20))
	if after-before > allowed {
		t.Errorf("the heap grew by %.1f MiB, want at most %d", (after-before)/(1<<20), allowed>>20)
	}
}

// 1,000 adapters: their leases are renewed in time, and everything together costs under 150 requests a second.
func TestThousandVirtualNodesCostUnder150RequestsASecond(t *testing.T) {
	const adapters, hosts, limit = 1000, 20, 150.0
	s := ownStageWith(t, lab.Options{Controllers: lab.AllControllers, Kwok: true, NodeGrace: 40 * time.Second}, "--heartbeat-interval=10s")
	p := &pool{stage: s, t: t, name: "many", set: lab.AdapterSet{Namespace: "many", Name: "many", Replicas: adapters}}
	p.must(s.CreateNamespace(t.Context(), p.name))
	for range hosts {
		host := p.nextHost("")
		host.Status.Allocatable[corev1.ResourcePods], host.Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(200, resource.DecimalSI), *resource.NewQuantity(1000, resource.DecimalSI)
		host.Status.Allocatable[corev1.ResourceMemory] = *resource.NewQuantity(1<<50, resource.BinarySI)
		p.must(s.CreateNode(t.Context(), host))
	}
	set := p.set.StatefulSet()
	set.Spec.Template.Spec.Affinity = nil
	p.create(set)
	p.create(p.set.Pool(10))
	ctx, cancel := context.WithTimeout(t.Context(), 5*labtest.Patience)
	defer cancel()
	p.must(lab.Wait(ctx, "all adapters are ready", func(ctx context.Context) error {
		nodes, err := p.virtualNodes(ctx)
		ready := 0
		for _, n := range nodes {
			if nodeReady(&n) && !n.Spec.Unschedulable {
				ready++
			}
		}
		if err == nil && ready < adapters {
			err = fmt.Errorf("%d of %d are", ready, adapters)
		}
		return err
	}))
	first := p.renewals(ctx, nil)
	requests, since := s.metric(t, "rest_client_requests_total"), time.Now()
	p.renewals(ctx, p.renewals(ctx, first)) // two rounds
	rate := (s.metric(t, "rest_client_requests_total") - requests) / time.Since(since).Seconds()
	t.Logf("%d virtual nodes cost %.0f requests a second", adapters, rate)
	if rate > limit {
		t.Errorf("%.0f requests a second, want at most %.0f", rate, limit)
	}
}

// renewals waits until the lease of each virtual node was renewed after the times given, and returns the new times.
func (p *pool) renewals(ctx context.Context, after map[types.UID]time.Time) map[types.UID]time.Time {
	p.t.Helper()
	times := map[types.UID]time.Time{}
	p.must(lab.Wait(ctx, "every lease is renewed", func(ctx context.Context) error {
		leases, err := p.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + p.name})
		if err != nil {
			return err
		}
		for _, l := range leases.Items {
			if renewed := renewTime(&l); renewed.After(after[l.UID]) {
				times[l.UID] = renewed
			}
		}
		if len(times) < int(p.set.Replicas) {
			return fmt.Errorf("%d of %d are", len(times), p.set.Replicas)
		}
		return nil
	}))
	return times
}

func renewTime(l *coordinationv1.Lease) time.Time {
	if l.Spec.RenewTime == nil {
		return time.Time{}
	}
	return l.Spec.RenewTime.Time
}
