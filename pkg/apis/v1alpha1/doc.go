// Package v1alpha1 holds the objects of the API group vpod.dev, and names everything that vpod-scheduler reads from and
// writes to a cluster. No other place spells these identifiers.
//
// +kubebuilder:object:generate=true
// +groupName=vpod.dev
package v1alpha1
