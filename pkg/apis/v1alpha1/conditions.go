package v1alpha1

// Conditions of a VPod.
const (
	// ConditionScheduled says whether each vreplica has an adapter.
	ConditionScheduled = "Scheduled"
	// ConditionReady says, of a VPod, whether each vreplica is on an adapter that is ready, and of an AdapterPool, whether
	// each pod of the StatefulSet is an adapter that is ready.
	ConditionReady = "Ready"
)

// Reasons of a VPod's conditions.
const (
	ReasonAllScheduled = "AllScheduled"
	// ReasonScheduling: vreplicas were created just now, and the scheduler has not said anything yet.
	ReasonScheduling = "Scheduling"
	// ReasonNoRoom: more adapters, or a higher capacity, would help.
	ReasonNoRoom = "NoRoom"
	// ReasonAdapterLimit: the adapters that spec.maxAdapters allows are full, and more would not help.
	ReasonAdapterLimit = "AdapterLimit"
	// ReasonPoolNotFound: no AdapterPool has the name.
	ReasonPoolNotFound = "PoolNotFound"
	// ReasonPoolNotReady: the AdapterPool has no adapters; its own conditions say why.
	ReasonPoolNotReady = "PoolNotReady"
	// ReasonSchedulerSilent: nobody has tried to place a vreplica for a minute.
	ReasonSchedulerSilent = "SchedulerSilent"
	// ReasonCreationRefused: the API server refuses placeholder pods, such as for a ResourceQuota.
	ReasonCreationRefused = "CreationRefused"

	ReasonAllReady = "AllReady"
	// ReasonNotScheduled: see the condition Scheduled.
	ReasonNotScheduled = "NotScheduled"
	// ReasonAdaptersNotReady: of a VPod or of an AdapterPool.
	ReasonAdaptersNotReady = "AdaptersNotReady"
)

// EventEvictionRefused is the reason of an event about a VPod: vreplicas are to be served elsewhere, and the API server does
// not let their placeholders be evicted, such as for a PodDisruptionBudget.
const EventEvictionRefused = "EvictionRefused"

// ConditionParallelPodManagement says of an AdapterPool whether its StatefulSet replaces and removes pods independently.
const ConditionParallelPodManagement = "ParallelPodManagement"

// Reasons of an AdapterPool's conditions.
const (
	ReasonAdaptersReady = "AdaptersReady"
	// ReasonNoAdapters: the StatefulSet has no replicas.
	ReasonNoAdapters          = "NoAdapters"
	ReasonStatefulSetNotFound = "StatefulSetNotFound"
	// ReasonStatefulSetTaken: an older AdapterPool has the StatefulSet.
	ReasonStatefulSetTaken = "StatefulSetTaken"
	// ReasonNodeNameTaken: a node that is not this pool's has the name of an adapter.
	ReasonNodeNameTaken = "NodeNameTaken"
	// ReasonDeletedInUse: the pool is deleted, and goes once its adapters are empty.
	ReasonDeletedInUse = "DeletedInUse"

	ReasonParallel = "Parallel"
	// ReasonOrderedReady: one adapter that is not ready holds up the others.
	ReasonOrderedReady = "OrderedReady"
)

// ConditionScaled says of an AdapterPool whether it has as many adapters as are wanted, and in numbers why so many.
const ConditionScaled = "Scaled"

// Reasons of the condition Scaled. It is true for ReasonWantedSize alone.
const (
	ReasonWantedSize = "WantedSize"
	// ReasonAutoscalingOff: the wanted size is reported, and nothing is scaled.
	ReasonAutoscalingOff = "AutoscalingOff"
	// ReasonScalingUp: adapters were asked for, and are not there yet.
	ReasonScalingUp = "ScalingUp"
	// ReasonMaxReplicas: more adapters than maxReplicas would be needed.
	ReasonMaxReplicas = "MaxReplicas"
	// ReasonScaleDownDelayed: fewer adapters are wanted, and have not been for long enough.
	ReasonScaleDownDelayed = "ScaleDownDelayed"
	// ReasonDraining: adapters are being emptied, and are removed then.
	ReasonDraining = "Draining"
	// ReasonDrainBlocked: adapters that are not wanted cannot be emptied.
	ReasonDrainBlocked = "DrainBlocked"
	// ReasonStatefulSetStuck: the StatefulSet does not add or remove pods as it is told, or the API server refuses to scale it.
	ReasonStatefulSetStuck = "StatefulSetStuck"
)

// Reasons of events about scaling.
const (
	// EventScaled: the StatefulSet was given another number of replicas.
	EventScaled = "Scaled"
	// EventScaleReverted: somebody else had changed the number of replicas.
	EventScaleReverted = "ScaleReverted"
)

// Reasons of events about evening out; they are about the VPod.
const (
	// EventRebalanced: a vreplica was moved to where its profile would rather have it.
	EventRebalanced = "Rebalanced"
	// EventNotRebalanced: one was to be moved and was not, or the move did not help. It is tried again later.
	EventNotRebalanced = "NotRebalanced"
)

// Why the controller cordons a virtual node: the values of AnnotationCordon.
const (
	// CordonMarked: the adapter pod has AnnotationUnschedulable.
	CordonMarked = "AdapterMarkedUnschedulable"
	// CordonNoHost: the adapter pod is missing, or waits for a host.
	CordonNoHost = "AdapterHasNoHost"
	// CordonHostCordoned and CordonHostNotReady: the real node is cordoned, or does not answer.
	CordonHostCordoned = "HostCordoned"
	CordonHostNotReady = "HostNotReady"
	// CordonLost: the adapter was not ready for longer than the pool's evictionTimeout.
	CordonLost = "AdapterNotReady"
	// CordonDraining: the pool is about to do without the adapter, and moves its vreplicas to others.
	CordonDraining = "ScalingDown"
	// CordonRemoved: the StatefulSet has no such replica any more, or the pool is deleted.
	CordonRemoved = "AdapterRemoved"
)

// Reasons of the condition Ready of a virtual node.
const (
	NodeAdapterReady    = "AdapterReady"
	NodeAdapterNotReady = "AdapterNotReady"
	// NodeAdapterMissing: the StatefulSet has no pod with the ordinal, as between two of its pods.
	NodeAdapterMissing = "AdapterMissing"
	// NodeAdapterWaiting: the adapter pod has no host.
	NodeAdapterWaiting = "AdapterWaitingForHost"
	// NodeAdapterTerminating: the adapter pod is being deleted.
	NodeAdapterTerminating = "AdapterTerminating"
)

// Reasons of events about virtual nodes.
const (
	// EventCordoned and EventUncordoned: the controller took the adapter out of use, or back into it. A person's cordon
	// makes no event.
	EventCordoned   = "AdapterCordoned"
	EventUncordoned = "AdapterUncordoned"
	// EventMoved: vreplicas were taken from an adapter that is lost or removed.
	EventMoved = "VReplicasMoved"
)

// PodAdapterNotReady is the reason of the conditions Ready and ContainersReady of a placeholder whose adapter is not ready.
const PodAdapterNotReady = "AdapterNotReady"

// Reasons of placeholder pods that the controller failed.
const (
	// PodOutOfVReplicas: the adapter has no room for the pod.
	PodOutOfVReplicas = "OutOfVReplicas"
	// PodAdapterDraining: the adapter takes no more vreplicas, because it is about to be removed.
	PodAdapterDraining = "AdapterDraining"
	// PodOtherPool: the pod was put on an adapter of another pool than its own.
	PodOtherPool = "OtherPool"
)
