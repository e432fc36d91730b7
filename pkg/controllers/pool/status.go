package pool

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/wording"
)

const (
	// maxNamed is how many adapters or vpods a message names, and maxWords how many bytes it has of what others say of one.
	maxNamed = 5
	maxWords = 120
	// maxAnswer is how many bytes it has of an answer to a question of ours.
	maxAnswer = 400
)

// status is what there is to say about a pool, its number of adapters left aside. It depends on nothing but its arguments.
func status(s state, c census, now time.Time) v1alpha1.AdapterPoolStatus {
	load := s.load()
	status := v1alpha1.AdapterPoolStatus{
		ObservedGeneration: s.pool.Generation,
		Adapters:           int32(len(s.nodes)),
		Used:               load.used,
		Waiting:            c.waiting(),
		Conditions:         slices.Clone(s.pool.Status.Conditions),
	}
	for _, node := range s.nodes {
		if adapter.IsNodeReady(node) {
			status.ReadyAdapters++
		}
		if !node.Spec.Unschedulable {
			status.Capacity += capacityOf(node)
		}
	}
	s.setCondition(&status, s.ready(load), now)
	if management := s.management(); management != nil {
		s.setCondition(&status, *management, now)
	} else {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionParallelPodManagement)
	}
	return status
}

func (s state) setCondition(status *v1alpha1.AdapterPoolStatus, c metav1.Condition, now time.Time) {
	c.ObservedGeneration, c.LastTransitionTime = s.pool.Generation, metav1.NewTime(now)
	meta.SetStatusCondition(&status.Conditions, c)
}

// ready says whether each adapter of the StatefulSet is in use. Of several obstacles it names the one that has to go
// before the others matter.
func (s state) ready(load load) metav1.Condition {
	reason, message := s.obstacle(load)
	if reason == "" {
		return metav1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonAdaptersReady, Message: s.good(),
		}
	}
	return metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// obstacle is why a pool is not ready; "" if it is.
func (s state) obstacle(load load) (reason, message string) {
	name := s.pool.Spec.StatefulSetRef.Namespace + "/" + s.pool.Spec.StatefulSetRef.Name
	switch taken := s.taken(); {
	case s.pool.DeletionTimestamp != nil:
		return v1alpha1.ReasonDeletedInUse, s.inUse(load)
	case s.holder != nil && s.holder.UID != s.pool.UID:
		return v1alpha1.ReasonStatefulSetTaken,
			fmt.Sprintf("AdapterPool %s has StatefulSet %s; delete one of the two", s.holder.Name, name)
	case s.set == nil:
		return v1alpha1.ReasonStatefulSetNotFound, fmt.Sprintf("there is no StatefulSet %s", name)
	case s.set.DeletionTimestamp != nil:
		return v1alpha1.ReasonStatefulSetNotFound, fmt.Sprintf("StatefulSet %s is being deleted", name)
	case len(s.members) == 0 && s.target == nil:
		return v1alpha1.ReasonNoAdapters, fmt.Sprintf("StatefulSet %s has no replicas; scale it up", name)
	case len(s.members) == 0 && *s.target > 0:
		return v1alpha1.ReasonNoAdapters, fmt.Sprintf("StatefulSet %s has no replicas yet", name)
	case len(taken) > 0:
		return v1alpha1.ReasonNodeNameTaken, fmt.Sprintf("%s a node that is not this pool's, so the adapter is out of use; "+
			"remove the node, or create an AdapterPool with another name instead: %s",
			wording.Count(len(taken), "adapter has the name of", "adapters have the name of"), wording.List(taken, maxNamed))
	}
	if troubles := s.troubles(); len(troubles) > 0 {
		return v1alpha1.ReasonAdaptersNotReady,
			fmt.Sprintf("%d of %d adapters are not ready: %s", len(troubles), len(s.members), wording.List(troubles, maxNamed))
	}
	return "", ""
}

// inUse says what keeps a pool that is deleted.
func (s state) inUse(load load) string {
	if load.used == 0 {
		return fmt.Sprintf("%s to be removed", wording.Count(len(s.nodes), "virtual node is", "virtual nodes are"))
	}
	return fmt.Sprintf("%s of %s still placed; scale them down or delete them: %s",
		wording.Count(load.used, "vreplica", "vreplicas"),
		wording.Count(len(load.tenants), "vpod", "vpods")+isOrAre(load.used), wording.List(load.tenants, maxNamed))
}

// good says that all is well, and what is out of use all the same.
func (s state) good() string {
	if len(s.members) == 0 {
		return "no adapters are wanted, and there are none"
	}
	text := "all adapters are ready"
	cordoned := 0
	for _, m := range s.members {
		if m.node.Spec.Unschedulable {
			cordoned++
		}
	}
	if cordoned > 0 {
		text += fmt.Sprintf("; %d of %d take no more vreplicas, because they are cordoned", cordoned, len(s.members))
	}
	return text
}

// taken are the nodes of others that have the name of an adapter.
func (s state) taken() []string {
	var names []string
	for _, m := range s.members {
		if m.isTaken() {
			names = append(names, m.node.Name)
		}
	}
	return names
}

// troubles are the adapters that are not ready, each with the reason.
func (s state) troubles() []string {
	var all []string
	for _, m := range s.members {
		if !m.isReady() {
			all = append(all, fmt.Sprintf("%s (%s)", m.id.PodName(s.pool), m.trouble()))
		}
	}
	return all
}

// trouble is why an adapter is not ready.
func (m member) trouble() string {
	switch {
	case m.node == nil && m.pod == nil:
		return "there is no such pod"
	case m.node == nil && m.pod.Spec.NodeName == "":
		return "no host" + unscheduled(m.pod)
	case m.node == nil:
		return "its virtual node is about to be made"
	}
	words := "its state is unknown"
	if c := adapter.NodeCondition(m.node, corev1.NodeReady); c != nil {
		words = wording.Cut(c.Message, maxWords)
		if words == "" {
			words = c.Reason
		}
		words += ", not ready since " + c.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	if m.node.Annotations[v1alpha1.AnnotationCordon] == v1alpha1.CordonHostNotReady {
		words = "its host " + m.node.Labels[v1alpha1.LabelHost] + " is not ready; " + words
	}
	return words
}

// unscheduled is what the scheduler says of an adapter that waits for a host.
func unscheduled(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			return ": " + wording.Cut(c.Message, maxWords)
		}
	}
	return ""
}

// management says whether one adapter in trouble can hold up the others; nil: not known.
func (s state) management() *metav1.Condition {
	if s.set == nil {
		return nil
	}
	if s.set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		return &metav1.Condition{
			Type: v1alpha1.ConditionParallelPodManagement, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonParallel,
			Message: "adapters are created and removed independently of each other",
		}
	}
	return &metav1.Condition{
		Type: v1alpha1.ConditionParallelPodManagement, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonOrderedReady,
		Message: "the StatefulSet has podManagementPolicy OrderedReady: one adapter that does not become ready holds up the " +
			"creation and the removal of others. It cannot be changed; delete the StatefulSet with --cascade=orphan, and create " +
			"it again with Parallel",
	}
}

func isOrAre(n int64) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
