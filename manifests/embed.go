// Package manifests carries the files that users apply to a cluster, so that the binary and the tests read the same ones.
package manifests

import (
	"embed"
)

// SchedulerConfig is the KubeSchedulerConfiguration that the scheduler runs with when it gets no --config, and that the
// ConfigMap of its Deployment holds.
//
//go:embed scheduler/config.yaml
var SchedulerConfig []byte

// Scheduler holds the files of `kubectl apply -k manifests/scheduler`, under scheduler/.
//
//go:embed scheduler/*.yaml
var Scheduler embed.FS
