package controllers

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

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
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(client.CloseIdleConnections)
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
			response, err := client.Do(request)
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
