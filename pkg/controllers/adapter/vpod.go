package adapter

import "vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"

// DesiredReplicas is the number of vreplicas that a VPod asks for. A spec without a number leaves it as it was: so a manifest
// without it, put in place of one that a scaler has set, does not reset the scale.
func DesiredReplicas(vpod *v1alpha1.VPod) int {
	switch {
	case vpod.Spec.Replicas != nil:
		return int(*vpod.Spec.Replicas)
	case vpod.Status.DesiredReplicas != nil:
		return int(*vpod.Status.DesiredReplicas)
	}
	return 1
}
