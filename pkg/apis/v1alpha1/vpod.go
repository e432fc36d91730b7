package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VPod is a tenant's work in units, its vreplicas, each of which an adapter of a pool serves.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=vp,categories=all
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.poolName`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Scheduled",type=integer,JSONPath=`.status.scheduledReplicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Adapters",type=integer,JSONPath=`.status.adapters`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Scheduled")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Scheduled")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name: at most 63 characters, because it becomes the label vpod.dev/vpod of the placeholders"
type VPod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	// +required
	Spec VPodSpec `json:"spec"`
	// What is, as the controller saw it last.
	// +optional
	Status VPodStatus `json:"status,omitempty,omitzero"`
}

// VPodSpec says what is wanted.
//
// +kubebuilder:validation:XValidation:rule="!has(self.schedulerName) || self.schedulerName != 'default-scheduler'",fieldPath=".schedulerName",message="default-scheduler does not keep the rules of placement; leave it out, or name a profile of vpod-scheduler"
type VPodSpec struct {
	// Number of vreplicas, each a placeholder pod that an adapter of the pool serves, at most 100000. 0 frees everything. A
	// manifest may leave it out, so that a scaler owns it: a new VPod then starts with 1, and later the last applied number
	// stays.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Replicas *int32 `json:"replicas,omitempty"`

	// Name of the AdapterPool whose adapters serve this VPod. It cannot be changed: placements name the pods of one
	// StatefulSet. Create another VPod instead.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot be changed; create another VPod"
	PoolName string `json:"poolName"`

	// The most adapters that may serve this VPod, such as the number of partitions of its topic. It does not bound the
	// number of vreplicas. Without it there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxAdapters *int32 `json:"maxAdapters,omitempty"`

	// The profile that places new vreplicas: vpod-scheduler, which is the default, spreads them for availability, and
	// vpod-scheduler-maxfillup packs them. Vreplicas that are placed stay where they are when it changes.
	// +optional
	// +default="vpod-scheduler"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SchedulerName string `json:"schedulerName,omitempty"`

	// The PriorityClass of the vreplicas: for one of higher priority that has no room, lower ones are moved out. When it
	// changes, the placeholders are replaced one at a time.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// VPodStatus says what is.
type VPodStatus struct {
	// The generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// The last number of vreplicas that was asked for. It stays in force when a later manifest leaves spec.replicas out.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// Number of placeholder pods that exist, placed or waiting.
	// +optional
	// +default=0
	Replicas int32 `json:"replicas"`
	// Number of vreplicas that are placed on an adapter.
	// +optional
	// +default=0
	ScheduledReplicas int32 `json:"scheduledReplicas"`
	// Number of vreplicas that are placed on an adapter that is ready.
	// +optional
	// +default=0
	ReadyReplicas int32 `json:"readyReplicas"`
	// Number of adapters that serve this VPod: the length of placements.
	// +optional
	// +default=0
	Adapters int32 `json:"adapters"`

	// The placeholder pods of this VPod as a label selector, for scalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Which adapter serves how many vreplicas, by ordinal. It names no adapter that does not exist, and its sum is never
	// above the number of vreplicas asked for.
	// +optional
	// +listType=map
	// +listMapKey=podName
	Placements []Placement `json:"placements,omitempty"`

	// Scheduled says whether each vreplica has an adapter, and why some wait; Ready whether each is on an adapter that is
	// ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Placement is a number of vreplicas on one adapter.
type Placement struct {
	// Name of the adapter: a pod of the pool's StatefulSet, in the StatefulSet's namespace.
	// +required
	PodName string `json:"podName"`
	// Number of vreplicas of the VPod that this pod serves.
	// +required
	VReplicas int32 `json:"vreplicas"`
}

// VPodList is a list of VPods.
//
// +kubebuilder:object:root=true
type VPodList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VPod `json:"items"`
}
