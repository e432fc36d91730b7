package main

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
)

// preferFeatures changes defaults of the scheduler's feature gates; --feature-gates overrides them.
//
// Asynchronous preemption gates a preemptor while its victims are deleted in the background, and only the deletion of a
// pod wakes it. Where two preemptors share victims that are gone by then it sleeps beside free room, for minutes.
// Deleting a few placeholders within the cycle costs milliseconds.
func preferFeatures() {
	utilruntime.Must(utilfeature.DefaultMutableFeatureGate.OverrideDefault(features.SchedulerAsyncPreemption, false))
}
