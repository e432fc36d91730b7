// Package manifests carries the files that users apply to a cluster, so that the binary and the tests read the same ones.
package manifests

import "embed"

// SchedulerConfig is the KubeSchedulerConfiguration that the scheduler runs with when it gets no --config, and that the
// ConfigMap of its Deployment holds.
//
//go:embed scheduler/config.yaml
var SchedulerConfig []byte

// Files holds what `kubectl apply -k` applies, each file under its folder.
//
//go:embed crds/*.yaml scheduler/*.yaml controller/*.yaml default/*.yaml monitoring/*
var Files embed.FS
