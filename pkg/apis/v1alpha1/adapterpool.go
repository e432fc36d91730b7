package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AdapterPool makes the pods of a StatefulSet adapters, each with room for a number of vreplicas.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ap
// +kubebuilder:printcolumn:name="StatefulSet",type=string,JSONPath=`.spec.statefulSetRef.name`
// +kubebuilder:printcolumn:name="Wanted",type=integer,JSONPath=`.status.wantedAdapters`
// +kubebuilder:printcolumn:name="Adapters",type=integer,JSONPath=`.status.adapters`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyAdapters`
// +kubebuilder:printcolumn:name="Capacity",type=integer,JSONPath=`.status.capacity`
// +kubebuilder:printcolumn:name="Used",type=integer,JSONPath=`.status.used`
// +kubebuilder:printcolumn:name="Waiting",type=integer,JSONPath=`.status.waiting`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Scaled",type=string,JSONPath=`.status.conditions[?(@.type=="Scaled")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Set-Namespace",type=string,priority=1,JSONPath=`.spec.statefulSetRef.namespace`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Scaled-Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Scaled")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name: at most 63 characters, because it becomes the label vpod.dev/pool"
type AdapterPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	// +required
	Spec AdapterPoolSpec `json:"spec"`
	// What is, as the controller saw it last.
	// +optional
	Status AdapterPoolStatus `json:"status,omitempty,omitzero"`
}

// AdapterPoolSpec says what is wanted.
type AdapterPoolSpec struct {
	// The StatefulSet whose pods are the adapters. It should have podManagementPolicy Parallel, or one pod that does not
	// become ready holds up the others. It cannot be changed, and no other pool may have it.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot be changed; create another AdapterPool"
	StatefulSetRef StatefulSetReference `json:"statefulSetRef"`

	// Number of vreplicas that one adapter has room for, 1 to 1000000. When it is lowered, the newest vreplicas that no
	// longer fit are moved.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Capacity int32 `json:"capacity"`

	// Holds the StatefulSet at the number of adapters that the VPods need: it grows at once, and shrinks after a delay and
	// only once the adapters to be removed, those with the highest ordinals, are empty. Without it the number of the
	// StatefulSet's replicas is left alone.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// How to choose the vreplicas to remove when a VPod scales down, and whether to even out those that are placed.
	// +optional
	Descheduling *Descheduling `json:"descheduling,omitempty"`

	// How long an adapter may be gone or not ready before its vreplicas move to others. A restart within that time moves
	// nothing. At least 1s; 5m if not given.
	// +optional
	// +default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="a duration of at least 1s, such as 90s or 5m"
	EvictionTimeout *metav1.Duration `json:"evictionTimeout,omitempty"`
}

// StatefulSetReference names a StatefulSet.
type StatefulSetReference struct {
	// Namespace of the StatefulSet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// Name of the StatefulSet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Autoscaling says how the number of adapters follows what the VPods need.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",fieldPath=".minReplicas",message="must not be above maxReplicas"
type Autoscaling struct {
	// Auto, which is the default, scales the StatefulSet. "Off" leaves it alone, takes back what was begun, and only reports
	// the wanted size. It needs the quotes: YAML takes a bare Off for false.
	// +optional
	// +default="Auto"
	Mode AutoscalingMode `json:"mode,omitempty"`

	// The fewest adapters, 1 if not given; 0 is allowed, and then a pool without VPods has none.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// The most adapters, 1 to 10000. Vreplicas that need more wait. Adapters beyond it are removed as far as the others have
	// room.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxReplicas int32 `json:"maxReplicas"`

	// How long fewer adapters must have been enough before any is removed: the highest number that was wanted within that
	// time is kept. 5m if not given.
	// +optional
	// +default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="a duration that is not negative, such as 90s or 5m"
	ScaleDownDelay *metav1.Duration `json:"scaleDownDelay,omitempty"`

	// None, which is the default, keeps the number that is needed; Zones and Nodes round it up to a multiple of the zones,
	// or of the real nodes, that the adapters may run on.
	// +optional
	// +default="None"
	ScaleUpUnit ScaleUpUnit `json:"scaleUpUnit,omitempty"`
}

// AutoscalingMode says whether a pool is scaled.
//
// +kubebuilder:validation:Enum=Auto;Off
type AutoscalingMode string

// The modes of autoscaling.
const (
	AutoscalingAuto AutoscalingMode = "Auto"
	AutoscalingOff  AutoscalingMode = "Off"
)

// ScaleUpUnit is what the number of adapters is a multiple of.
//
// +kubebuilder:validation:Enum=None;Zones;Nodes
type ScaleUpUnit string

// The units of scaling up.
const (
	ScaleUpUnitNone  ScaleUpUnit = "None"
	ScaleUpUnitZones ScaleUpUnit = "Zones"
	ScaleUpUnitNodes ScaleUpUnit = "Nodes"
)

// Descheduling says which vreplicas of a VPod go first, and which are moved.
type Descheduling struct {
	// What makes an adapter the one to take a vreplica from, and with what weight; the counts are taken anew after each
	// one. Vreplicas that wait, and those on adapters that are gone or not ready, always go before. Without priorities it
	// is zone, then host, then adapter, then the highest ordinal, each deciding alone before the next is looked at.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Priorities []DeschedulingPriority `json:"priorities,omitempty"`

	// Whether vreplicas that are placed are moved to where their profile would rather place them now.
	// +optional
	Rebalance *Rebalance `json:"rebalance,omitempty"`
}

// Rebalance evens out what is placed. A vreplica is moved only if that makes the placement of its VPod strictly better in
// the order of its profile, and only so far as PodDisruptionBudgets allow.
type Rebalance struct {
	// "Off", which is the default, moves nothing that is placed; "On" does, one vreplica at a time. They need the quotes:
	// YAML takes a bare On for true.
	// +optional
	// +default="Off"
	Mode RebalanceMode `json:"mode,omitempty"`

	// The most vreplicas of the pool that are moved in a minute, one after the other: 1 to 60, and 6 if not given. The VPods
	// take turns.
	// +optional
	// +default=6
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	EvictionsPerMinute *int32 `json:"evictionsPerMinute,omitempty"`
}

// RebalanceMode says whether placed vreplicas are evened out.
//
// +kubebuilder:validation:Enum=Off;On
type RebalanceMode string

// The modes of rebalancing.
const (
	RebalanceOff RebalanceMode = "Off"
	RebalanceOn  RebalanceMode = "On"
)

// DeschedulingPriority is one reason to take a vreplica from an adapter.
type DeschedulingPriority struct {
	// RemoveWithAvailabilityZonePriority: the zone has the most vreplicas of the VPod.
	// RemoveWithAvailabilityNodePriority: the host has the most.
	// RemoveWithEvenPodSpreadPriority: the adapter has the most.
	// RemoveWithHighestOrdinalPriority: the adapter's ordinal is the highest.
	// +required
	Name RemovalPriority `json:"name"`
	// How much it counts. Scores are from 0 to 100, so a weight 101 times that of another decides before it.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	Weight int64 `json:"weight"`
}

// RemovalPriority names a reason to take a vreplica from an adapter.
//
// +kubebuilder:validation:Enum=RemoveWithAvailabilityZonePriority;RemoveWithAvailabilityNodePriority;RemoveWithEvenPodSpreadPriority;RemoveWithHighestOrdinalPriority
type RemovalPriority string

// The reasons to take a vreplica from an adapter.
const (
	RemoveWithAvailabilityZonePriority RemovalPriority = "RemoveWithAvailabilityZonePriority"
	RemoveWithAvailabilityNodePriority RemovalPriority = "RemoveWithAvailabilityNodePriority"
	RemoveWithEvenPodSpreadPriority    RemovalPriority = "RemoveWithEvenPodSpreadPriority"
	RemoveWithHighestOrdinalPriority   RemovalPriority = "RemoveWithHighestOrdinalPriority"
)

// AdapterPoolStatus says what is.
type AdapterPoolStatus struct {
	// The generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Number of virtual nodes of the pool.
	// +optional
	// +default=0
	Adapters int32 `json:"adapters"`
	// Number of those that are ready.
	// +optional
	// +default=0
	ReadyAdapters int32 `json:"readyAdapters"`
	// Number of vreplicas that those adapters have room for that are not cordoned, free or not.
	// +optional
	// +default=0
	Capacity int64 `json:"capacity"`
	// Number of vreplicas that are placed on adapters of the pool.
	// +optional
	// +default=0
	Used int64 `json:"used"`
	// Number of vreplicas that wait for an adapter of the pool. A placeholder that is to take the place of one on an adapter,
	// so as to move it, does not count.
	// +optional
	// +default=0
	Waiting int64 `json:"waiting"`

	// Number of adapters that the VPods need, within the bounds of spec.autoscaling; it is reported in every mode of it.
	// +optional
	WantedAdapters *int32 `json:"wantedAdapters,omitempty"`
	// Number of adapters that the StatefulSet is held at. It follows wantedAdapters up at once, and down after the delay.
	// Adapters beyond it take no more vreplicas and lose those that they have to the others; once they are empty, they are
	// removed.
	// +optional
	TargetAdapters *int32 `json:"targetAdapters,omitempty"`

	// Ready says whether every adapter of the StatefulSet is in use, and what is in the way; ParallelPodManagement whether
	// one adapter in trouble can hold up the others; Scaled whether there are as many adapters as are wanted, and why so
	// many.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// AdapterPoolList is a list of AdapterPools.
//
// +kubebuilder:object:root=true
type AdapterPoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AdapterPool `json:"items"`
}
