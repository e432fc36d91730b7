package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// lag is the external metric: so many messages wait to be consumed.
type lag struct{ atomic.Int64 }

const externalMetrics = "/apis/external.metrics.k8s.io/v1beta1"

// ServeHTTP answers as a metrics API does, with the same value for every metric.
func (l *lag) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "external.metrics.k8s.io/v1beta1",
		"resources": []map[string]any{{"name": "lag", "namespaced": true, "kind": "ExternalMetricValueList", "verbs": []string{"get"}}}}
	if strings.HasPrefix(r.URL.Path, externalMetrics+"/") {
		answer = map[string]any{"kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1", "metadata": map[string]any{},
			"items": []map[string]any{{"metricName": "lag", "metricLabels": nil, "timestamp": time.Now().UTC().Format(time.RFC3339), "value": strconv.FormatInt(l.Load(), 10)}}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// serveMetrics registers a metrics API on a loopback port with the aggregator of the lab.
func serveMetrics(p *pool) *lag {
	p.t.Helper()
	metric := &lag{}
	server := httptest.NewTLSServer(metric)
	p.t.Cleanup(server.Close)
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	p.must(err)
	port, err := strconv.Atoi(text)
	p.must(err)

	p.create(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "metrics"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "127.0.0.1",
			Ports: []corev1.ServicePort{{Port: int32(port)}}},
	})
	api := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1beta1.external.metrics.k8s.io"},
		"spec": map[string]any{
			"group": "external.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"namespace": p.name, "name": "metrics", "port": int64(port)},
		},
	}}
	p.create(api)
	// Left behind it would hold up the deletion of namespaces: the server is gone after this test.
	p.t.Cleanup(func() { _ = p.Objects().Delete(context.Background(), api) })
	return metric
}

// A VPod whose manifest has no replicas is scaled by lag, 10 messages a vreplica: 1 -> 7 -> 2.
func TestC51_HorizontalPodAutoscalerScalesAVPodByAnExternalMetric(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1", "z2")
	lag := serveMetrics(p)
	lag.Store(10)
	p.create(p.vpod("x", 1, func(v *v1alpha1.VPod) { v.Spec.Replicas = nil }))
	p.settled("x", "1/0")
	average := resource.MustParse("10")
	p.create(&autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "x"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindVPod, Name: "x"},
			MaxReplicas:    20,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "lag"},
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &average},
			}}},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0))}},
		},
	})
	lag.Store(70)
	p.settled("x", "4/3")
	for _, condition := range []autoscalingv2.HorizontalPodAutoscalerConditionType{autoscalingv2.AbleToScale, autoscalingv2.ScalingActive} {
		p.must(lab.Wait(labtest.TimeLimit(t), fmt.Sprintf("%s is True", condition), func(ctx context.Context) error {
			hpa, err := p.Client().AutoscalingV2().HorizontalPodAutoscalers(p.name).Get(ctx, "x", metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range hpa.Status.Conditions {
				if c.Type == condition && c.Status == corev1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("its conditions are %+v", hpa.Status.Conditions)
		}))
	}

	// The same manifest once more, without replicas: the scale stays (C52).
	manifest := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {namespace: %s, name: x}\nspec: {poolName: %s}\n",
		v1alpha1.GroupVersion, v1alpha1.KindVPod, p.name, p.name)
	_, err := p.KubectlInput(t.Context(), manifest, "apply", "-f", "-")
	p.must(err)
	p.settled("x", "4/3")

	lag.Store(20)
	p.settled("x", "1/1")
}
