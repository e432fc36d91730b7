package v1alpha1

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

const (
	// GroupName is the API group, and the prefix of every label, annotation, taint and resource below.
	GroupName = "vpod.dev"

	// ResourceVReplicas is the extended resource that an adapter offers, and of which a placeholder pod requests
	// exactly 1. Unit: vreplicas.
	ResourceVReplicas = GroupName + "/vreplicas"

	// LabelPool names the pool of adapters: on a node the one it belongs to, on a placeholder the one it may use.
	LabelPool = GroupName + "/pool"
	// LabelOrdinal is a node's ordinal in its pool's StatefulSet: a decimal number from 0, without sign or leading
	// zeros, and unique in the pool.
	LabelOrdinal = GroupName + "/ordinal"
	// LabelHost is the real node that an adapter runs on, as HostLabel writes it. A node without it is its own host.
	LabelHost = GroupName + "/host"
	// LabelVPod names the vpod, in the placeholder's own namespace, whose vreplica a placeholder is.
	LabelVPod = GroupName + "/vpod"

	// LabelRoleAdapter shows a node as "adapter" in the column ROLES of kubectl get nodes. Its value is empty.
	LabelRoleAdapter = "node-role.kubernetes.io/adapter"
	// RegionOfAdapters is the region that all virtual nodes are in: the node controller counts failures by region and
	// zone, and those of virtual nodes must not count as failures of the real zone.
	RegionOfAdapters = GroupName

	// AnnotationMaxAdapters is, on a placeholder, the most adapters that its vpod may use: a decimal number from 1.
	AnnotationMaxAdapters = GroupName + "/max-adapters"
	// AnnotationSchedulerName and AnnotationPriorityClassName are, on a placeholder, the schedulerName and the
	// priorityClassName that its VPod asked for. What the pod has may be another one: admission sets the PriorityClass that is
	// the default of the cluster, and some plugins a scheduler of their own.
	AnnotationSchedulerName     = GroupName + "/scheduler-name"
	AnnotationPriorityClassName = GroupName + "/priority-class-name"

	// AnnotationUnschedulable on an adapter pod, with the value "true", takes the adapter out of use for new vreplicas.
	AnnotationUnschedulable = GroupName + "/unschedulable"
	// AnnotationCordon marks a virtual node that the controller cordoned, and says why: one of the Cordon reasons. A cordon
	// without it is a person's, and never undone.
	AnnotationCordon = GroupName + "/cordoned-because"

	// AnnotationMove on a placeholder has its VPod put another one in its place, which the scheduler places anew, and evict it
	// once that one serves. The value says why, in a word.
	AnnotationMove = GroupName + "/move"
	// MoveRebalance is the value of AnnotationMove for what the rebalancer moves.
	MoveRebalance = "Rebalance"

	// FinalizerPool keeps a pool that is deleted until its adapters are empty.
	FinalizerPool = GroupName + "/adapters"

	// TaintPool is the key of the taint, with the pool's name as value, that keeps other pods off adapters.
	TaintPool = GroupName + "/pool"

	// SchedulerName selects the profile that spreads for availability.
	SchedulerName = "vpod-scheduler"
	// SchedulerNameMaxFillUp selects the profile that packs.
	SchedulerNameMaxFillUp = "vpod-scheduler-maxfillup"

	// KindVPod and KindAdapterPool are the kinds of this group.
	KindVPod        = "VPod"
	KindAdapterPool = "AdapterPool"

	// Namespace is where the scheduler and the controller run.
	Namespace = "vpod-system"
	// SchedulerLease is the leader-election lease of the scheduler, in Namespace.
	SchedulerLease = "vpod-scheduler"
	// ControllerName is the controller's service account, and its leader-election lease in Namespace.
	ControllerName = "vpod-controller"
)

// providerScheme begins the provider ID of every virtual node, and of no other.
const providerScheme = "vpod://"

// NodeName is the name of an adapter's virtual node. No two adapters share one: what follows the last dash is the
// ordinal, and what precedes it the pool.
func NodeName(pool string, ordinal int) string { return pool + "-" + strconv.Itoa(ordinal) }

// ProviderID is the provider ID of an adapter's virtual node. Cluster autoscalers want every node to have one.
func ProviderID(pool string, ordinal int) string {
	return providerScheme + pool + "/" + strconv.Itoa(ordinal)
}

// HostLabel is the value of LabelHost for a real node: its name, or where that is too long for a label, the beginning of it
// and a hash, so that no two hosts share one.
func HostLabel(node string) string {
	const longest, hashDigits = 63, 16
	if len(node) <= longest {
		return node
	}
	hash := fnv.New64a()
	hash.Write([]byte(node))
	return fmt.Sprintf("%s-%0*x", node[:longest-hashDigits-1], hashDigits, hash.Sum64())
}

// KubeletVersion is what a virtual node shows in the column VERSION of kubectl get nodes: the version of the program that
// stands in for the kubelet.
func KubeletVersion(version string) string { return "vpod-" + version }

// IsVirtual says whether a provider ID is that of a virtual node.
func IsVirtual(providerID string) bool { return strings.HasPrefix(providerID, providerScheme) }
