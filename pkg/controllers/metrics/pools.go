package metrics

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
	"vpod.dev/vpod-scheduler/pkg/controllers/informers"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// reasonNoVPod is why a placeholder waits that no VPod controls: nobody says more.
const reasonNoVPod = "NoVPod"

// reasons are why vreplicas wait.
var reasons = []string{
	v1alpha1.ReasonScheduling, v1alpha1.ReasonNoRoom, v1alpha1.ReasonAdapterLimit, v1alpha1.ReasonPoolNotReady,
	v1alpha1.ReasonSchedulerSilent, v1alpha1.ReasonCreationRefused, reasonNoVPod,
}

// observation is what there is to tell of. Nothing in it is changed; it is shared with the cache.
type observation struct {
	pools []v1alpha1.AdapterPool
	sets  []appsv1.StatefulSet
	vpods []v1alpha1.VPod
	// unbound are the placeholders without a node.
	unbound []corev1.Pod
}

func observe(ctx context.Context, objects client.Reader) (observation, error) {
	var (
		pools   v1alpha1.AdapterPoolList
		sets    appsv1.StatefulSetList
		vpods   v1alpha1.VPodList
		unbound corev1.PodList
	)
	for _, list := range []struct {
		into client.ObjectList
		only []client.ListOption
	}{
		{into: &pools}, {into: &sets}, {into: &vpods},
		{into: &unbound, only: []client.ListOption{client.MatchingFields{informers.ByNode: ""}}},
	} {
		if err := objects.List(ctx, list.into, append(list.only, client.UnsafeDisableDeepCopy)...); err != nil {
			return observation{}, fmt.Errorf("listing %T: %w", list.into, err)
		}
	}
	return observation{pools: pools.Items, sets: sets.Items, vpods: vpods.Items, unbound: unbound.Items}, nil
}

// waiting is the number of vreplicas that wait, by pool and reason. Those whose pool does not exist are under no name: it
// could be any.
func (o observation) waiting() map[string]map[string]int64 {
	all := map[string]map[string]int64{"": {v1alpha1.ReasonPoolNotFound: 0}}
	for i := range o.pools {
		of := make(map[string]int64, len(reasons))
		for _, reason := range reasons {
			of[reason] = 0
		}
		all[o.pools[i].Name] = of
	}
	add := func(pool, reason string, n int64) {
		if of, exists := all[pool]; exists && pool != "" {
			of[reason] += n
			return
		}
		all[""][v1alpha1.ReasonPoolNotFound] += n
	}
	for i := range o.vpods {
		vpod := &o.vpods[i]
		if n := adapter.DesiredReplicas(vpod) - int(vpod.Status.ScheduledReplicas); n > 0 && vpod.DeletionTimestamp == nil {
			add(vpod.Spec.PoolName, whyWaiting(vpod), int64(n))
		}
	}
	for i := range o.unbound {
		if pod := &o.unbound[i]; isOnItsOwn(pod) {
			add(pod.Labels[v1alpha1.LabelPool], reasonNoVPod, snapshot.Requested(pod, v1alpha1.ResourceVReplicas))
		}
	}
	return all
}

// whyWaiting is what a VPod itself says, unless it has not noticed yet.
func whyWaiting(vpod *v1alpha1.VPod) string {
	c := meta.FindStatusCondition(vpod.Status.Conditions, v1alpha1.ConditionScheduled)
	if c == nil || c.Status == metav1.ConditionTrue {
		return v1alpha1.ReasonScheduling
	}
	return c.Reason
}

// isOnItsOwn tells a placeholder that waits for an adapter and is not counted by a VPod.
func isOnItsOwn(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return adapter.IsPlaceholder(pod) && pod.DeletionTimestamp == nil && !adapter.IsFinished(pod) &&
		(owner == nil || owner.Kind != v1alpha1.KindVPod)
}

// holdings are the StatefulSets of the pools that have one, by the UID of the pool. Of several pools that refer to one
// StatefulSet a single one has it.
func (o observation) holdings() map[types.UID]*appsv1.StatefulSet {
	suitors := map[types.NamespacedName][]v1alpha1.AdapterPool{}
	for i := range o.pools {
		ref := types.NamespacedName(o.pools[i].Spec.StatefulSetRef)
		suitors[ref] = append(suitors[ref], o.pools[i])
	}
	holdings := map[types.UID]*appsv1.StatefulSet{}
	for i := range o.sets {
		if holder := adapter.Holder(suitors[client.ObjectKeyFromObject(&o.sets[i])]); holder != nil {
			holdings[holder.UID] = &o.sets[i]
		}
	}
	return holdings
}
