// Package metrics is what the controllers count, and what they tell of each pool. All of it is named here.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	labelPool      = "pool"
	labelReason    = "reason"
	labelDirection = "direction"

	directionUp   = "up"
	directionDown = "down"
)

// Of what is not counted by pool.
var (
	created = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vpod_controller_placeholders_created_total",
		Help: "Number of placeholder pods that the controller created.",
	})
	removed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vpod_controller_placeholders_removed_total",
		Help: "Number of placeholder pods that the controller removed to scale down, or to replace them.",
	})
	published = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vpod_controller_vpod_status_writes_total",
		Help: "Number of times that the controller wrote the status of a VPod.",
	})
)

// Of what is counted by pool.
var (
	moved = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vpod_controller_moved_vreplicas_total",
		Help: "Vreplicas that the controller took off their adapters, for others to serve.",
	}, []string{labelPool, labelReason})
	rejected = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vpod_controller_rejected_vreplicas_total",
		Help: "Vreplicas whose placeholders were failed on the adapter that they were bound to.",
	}, []string{labelPool, labelReason})
	scaleWrites = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vpod_controller_pool_scale_writes_total",
		Help: "Number of times that the controller gave the StatefulSet of a pool more or fewer replicas.",
	}, []string{labelPool, labelDirection})
	drainsStarted = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vpod_controller_pool_drains_started_total",
		Help: "Number of times that adapters of a pool began to be emptied.",
	}, []string{labelPool})
	drainsFinished = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vpod_controller_pool_drains_finished_total",
		Help: "Number of times that the adapters of a pool that were to be emptied were empty, and removed.",
	}, []string{labelPool})
	drainsBlocked = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vpod_controller_pool_drains_blocked_total",
		Help: "Number of times that emptying adapters of a pool was given up for a while, because they could not be emptied.",
	}, []string{labelPool})
	placementDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "vpod_controller_placement_duration_seconds",
		Help: "Time from the creation of a placeholder to its admission on an adapter. Creation is known to the second.",
		// Those who scrape native histograms get these instead of the buckets.
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  100,
		NativeHistogramMinResetDuration: time.Hour,
		Buckets:                         []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600},
	}, []string{labelPool})
)
