package controllers

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Metrics are for those whom the API server knows and authorizes, and profiles are not served unless asked for.
func TestG8_MetricsAreForTheAuthorizedAlone(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	scheduler, err := s.ServiceAccountConfig(t.Context(), v1alpha1.Namespace, v1alpha1.SchedulerName)
	if err != nil {
		t.Fatal(err)
	}
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(caller.CloseIdleConnections)
	metrics := s.controller.Metrics()
	profiles := strings.TrimSuffix(metrics, "/metrics") + "/debug/pprof/"
	for name, tc := range map[string]struct {
		url, token string
		want       int
	}{
		"nobody":                       {url: metrics, want: http.StatusUnauthorized},
		"a stranger":                   {url: metrics, token: "stranger", want: http.StatusInternalServerError}, // what controller-runtime makes of an unknown token
		"an account without the right": {url: metrics, token: scheduler.BearerToken, want: http.StatusForbidden},
		"an administrator":             {url: metrics, token: s.Config().BearerToken, want: http.StatusOK},
		"Prometheus at the controller": {url: metrics, token: prometheus(t, s), want: http.StatusOK},
		"Prometheus at the scheduler":  {url: s.scheduler.Metrics(), token: prometheus(t, s), want: http.StatusOK},
		"profiles":                     {url: profiles, token: s.Config().BearerToken, want: http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tc.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if tc.token != "" {
				request.Header.Set("Authorization", "Bearer "+tc.token)
			}
			response, err := caller.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != tc.want {
				t.Errorf("GET %s: %s, want %d", tc.url, response.Status, tc.want)
			}
		})
	}
}

// prometheus returns a token of the account that manifests/monitoring lets read metrics.
func prometheus(t *testing.T, s *stage) string {
	t.Helper()
	if _, err := s.Kubectl(t.Context(), "apply", "-f", "manifests/monitoring/rbac.yaml"); err != nil {
		t.Fatal(err)
	}
	binding, err := s.Client().RbacV1().ClusterRoleBindings().Get(t.Context(), "vpod-metrics-reader", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account := binding.Subjects[0]
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: account.Namespace}}
	serviceAccount := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name}}
	for _, object := range []client.Object{namespace, serviceAccount} {
		if err := s.Objects().Create(t.Context(), object); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	config, err := s.ServiceAccountConfig(t.Context(), account.Namespace, account.Name)
	if err != nil {
		t.Fatal(err)
	}
	return config.BearerToken
}
