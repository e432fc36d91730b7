// Package alerts tests manifests/monitoring with the libraries of Prometheus and of its operator: that the rules are valid,
// when the alerts fire, and what they say then. It is a module of its own, because of what those libraries depend on. The
// program promtool, which does the same, depends on the clients of all clouds, and takes several times as long to build.
package alerts
