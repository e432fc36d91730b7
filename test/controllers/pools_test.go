package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// poolNamed reads an AdapterPool.
func (p *pool) poolNamed(ctx context.Context, name string) (*v1alpha1.AdapterPool, error) {
	pool := &v1alpha1.AdapterPool{}
	return pool, p.Objects().Get(ctx, client.ObjectKey{Name: name}, pool)
}

// saysReady waits until a pool's condition Ready has the reason and words, and returns the pool.
func (p *pool) saysReady(name, reason, words string) *v1alpha1.AdapterPool {
	p.t.Helper()
	var pool *v1alpha1.AdapterPool
	p.eventually(fmt.Sprintf("pool %s says %s", name, reason), func(ctx context.Context) (err error) {
		if pool, err = p.poolNamed(ctx, name); err != nil {
			return err
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionReady)
		if c == nil || c.Reason != reason || !strings.Contains(c.Message, words) || c.ObservedGeneration != pool.Generation ||
			(c.Status == metav1.ConditionTrue) != (reason == v1alpha1.ReasonAdaptersReady) {
			err = fmt.Errorf("its condition is %+v, want %s: %q", c, reason, words)
		}
		return err
	})
	return pool
}

// counts waits until the status of the pool has these numbers.
func (p *pool) counts(adapters, ready int32, capacity, used, waiting int64) {
	p.t.Helper()
	p.eventually("the numbers are as wanted", func(ctx context.Context) error {
		pool, err := p.poolNamed(ctx, p.name)
		if err != nil {
			return err
		}
		got := pool.Status
		got.Conditions = nil
		want := v1alpha1.AdapterPoolStatus{
			ObservedGeneration: pool.Generation, Adapters: adapters, ReadyAdapters: ready, Capacity: capacity, Used: used, Waiting: waiting,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("they are %+v, want %+v", got, want)
		}
		return nil
	})
}

// deletePool deletes a pool, and does not wait until it is gone.
func (p *pool) deletePool(name string) {
	p.t.Helper()
	p.must(p.Objects().Delete(p.t.Context(), &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// poolGone waits until a pool is gone, with all of its nodes.
func (p *pool) poolGone(name string) {
	p.t.Helper()
	p.eventually("pool "+name+" is gone", func(ctx context.Context) error {
		pool, err := p.poolNamed(ctx, name)
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("it has finalizers %v and conditions %+v (%w)", pool.Finalizers, pool.Status.Conditions, err)
		}
		return nil
	})
	list, err := p.Client().CoreV1().Nodes().List(p.t.Context(), metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + name})
	p.must(err)
	if len(list.Items) > 0 {
		p.t.Errorf("pool %s left %d virtual nodes behind", name, len(list.Items))
	}
}

// otherPool is another pool of the same StatefulSet.
func (p *pool) otherPool(name string) *v1alpha1.AdapterPool {
	other := p.set.Pool(10)
	other.Name = name
	return other
}

func TestPoolCountsItsAdaptersAndVReplicas(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 5, "z1", "z2")
	p.counts(2, 2, 10, 0, 0)
	p.run("x", 12, "5/5+2")
	p.counts(2, 2, 10, 10, 2)
	p.must(p.Cordon(t.Context(), p.node(1), true))
	p.counts(2, 2, 5, 10, 2)
	p.saysReady(p.name, v1alpha1.ReasonAdaptersReady, "1 of 2 take no more vreplicas, because they are cordoned")
	p.must(p.Cordon(t.Context(), p.node(1), false))
	p.adapterReady(0, false)
	p.counts(2, 1, 10, 10, 2)
	p.saysReady(p.name, v1alpha1.ReasonAdaptersNotReady, "1 of 2 adapters are not ready: "+p.set.PodName(0)+" (")
	p.adapterReady(0, true)
	p.saysReady(p.name, v1alpha1.ReasonAdaptersReady, "all adapters are ready")
	p.scale("x", 0)
	p.counts(2, 2, 10, 0, 0)
	out, err := p.Kubectl(t.Context(), "get", "adapterpool", p.name)
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), p.name+" 2 2 10 0 0 AdaptersReady") {
		t.Errorf("kubectl shows %v:\n%s", err, out)
	}
}

// C9, C22: what is in the way is told, and that it has gone.
func TestG9_PoolSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	p := s.newSet(t, "z1")
	absent := p.otherPool(p.name)
	absent.Spec.StatefulSetRef.Name = "absent"
	p.create(absent)
	pool := p.saysReady(p.name, v1alpha1.ReasonStatefulSetNotFound, "there is no StatefulSet "+p.name+"/absent")
	if meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionParallelPodManagement) != nil {
		t.Errorf("it tells of pods that there are not: %+v", pool.Status.Conditions)
	}
	late := p.set
	late.Name = "absent"
	set := late.StatefulSet()
	set.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	p.create(set)
	pool = p.saysReady(p.name, v1alpha1.ReasonNoAdapters, "has no replicas; scale it up")
	c := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionParallelPodManagement)
	if c == nil || c.Reason != v1alpha1.ReasonOrderedReady || !strings.Contains(c.Message, "create it again with Parallel") {
		t.Errorf("it says %+v of OrderedReady", c)
	}
	p.patch("statefulset", "absent", `{"spec":{"replicas":1}}`)
	p.saysReady(p.name, v1alpha1.ReasonAdaptersNotReady, "1 of 1 adapters are not ready: absent-0 (no host: 0/")
	p.must(p.CreateNode(t.Context(), late.Host(p.name+"-late", "z1")))
	p.saysReady(p.name, v1alpha1.ReasonAdaptersReady, "all adapters are ready")
	p.tells(p.name, v1alpha1.ReasonStatefulSetNotFound, v1alpha1.ReasonNoAdapters, v1alpha1.ReasonAdaptersNotReady, v1alpha1.ReasonAdaptersReady)
	p.must(p.Objects().Delete(t.Context(), set))
	p.saysReady(p.name, v1alpha1.ReasonStatefulSetNotFound, "there is no StatefulSet")
}

// tells waits until there are events about a pool with these reasons, each once.
func (p *pool) tells(name string, reasons ...string) {
	p.t.Helper()
	p.eventually("there are events of "+strings.Join(reasons, ", "), func(ctx context.Context) error {
		list, err := p.Client().EventsV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
			FieldSelector: "regarding.kind=AdapterPool,regarding.name=" + name,
		})
		if err != nil {
			return err
		}
		count := map[string]int{}
		for _, e := range list.Items {
			count[e.Reason]++
		}
		for _, reason := range reasons {
			if count[reason] != 1 {
				return fmt.Errorf("there are %v, want one %s", count, reason)
			}
		}
		return nil
	})
}

// Of two pools of one StatefulSet the older has it. Once it is gone, the other one does.
func TestPoolsThatReferToOneStatefulSet(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 10, "z1")
	second, third := p.name+"-x", p.name+"-y"
	for _, name := range []string{second, third} {
		// Age counts in whole seconds, and of the same age the first by name would have it.
		p.create(p.otherPool(name))
		p.saysReady(name, v1alpha1.ReasonStatefulSetTaken,
			fmt.Sprintf("AdapterPool %s has StatefulSet %s/%s; delete one of the two", p.name, p.name, p.name))
	}
	p.run("x", 2, "2")
	p.deletePool(third) // It never had any adapter: it ends at once.
	p.poolGone(third)
	p.saysReady(p.name, v1alpha1.ReasonAdaptersReady, "all adapters are ready")

	p.deletePool(p.name)
	p.saysReady(p.name, v1alpha1.ReasonDeletedInUse, "2 vreplicas of 1 vpod are still placed; scale them down or delete them: "+p.name+"/x")
	p.tells(p.name, v1alpha1.ReasonDeletedInUse)
	p.saysReady(second, v1alpha1.ReasonStatefulSetTaken, "AdapterPool "+p.name+" has StatefulSet ")
	p.scale("x", 0)
	p.poolGone(p.name)
	p.saysReady(second, v1alpha1.ReasonAdaptersReady, "all adapters are ready")
	p.condition("x", v1alpha1.ConditionScheduled, v1alpha1.ReasonAllScheduled)
}

// It always ends: nothing that is gone can keep a pool.
func TestDeletedPoolEnds(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*pool){
		"in use nowhere":          func(*pool) {},
		"without its StatefulSet": func(p *pool) { p.dropSet() },
		"without its nodes": func(p *pool) {
			p.must(p.Client().CoreV1().Nodes().DeleteCollection(p.t.Context(), metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: v1alpha1.LabelPool + "=" + p.name}))
		},
		"with vreplicas that wait": func(p *pool) {
			p.create(p.vpod("x", 1, func(v *v1alpha1.VPod) { v.Spec.SchedulerName = "nobody" }))
		},
		"with its StatefulSet gone while it was in use": func(p *pool) {
			p.run("x", 2, "2")
			p.deletePool(p.name)
			p.saysReady(p.name, v1alpha1.ReasonDeletedInUse, "2 vreplicas of 1 vpod are still placed")
			p.dropSet()
		},
		"and created again while it goes": func(p *pool) {
			p.run("x", 2, "2")
			p.deletePool(p.name)
			err := p.Objects().Create(p.t.Context(), p.set.Pool(10))
			if !apierrors.IsAlreadyExists(err) {
				p.t.Errorf("creating it again ends with %v", err)
			}
			p.scale("x", 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedStage(t).newPool(t, 10, "z1")
			before(p)
			if pool, err := p.poolNamed(t.Context(), p.name); err == nil && pool.DeletionTimestamp == nil {
				p.deletePool(p.name)
			}
			p.poolGone(p.name)
		})
	}
	t.Run("that never had anything", func(t *testing.T) {
		t.Parallel()
		p := &pool{stage: sharedStage(t), t: t, name: labtest.Name(t)}
		p.set = lab.AdapterSet{Namespace: "no-such-namespace", Name: p.name}
		p.create(p.set.Pool(10))
		p.saysReady(p.name, v1alpha1.ReasonStatefulSetNotFound, "")
		p.deletePool(p.name)
		p.poolGone(p.name)
	})
}

// dropSet deletes the StatefulSet, and waits until its pods are gone.
func (p *pool) dropSet() {
	p.t.Helper()
	_, err := p.Kubectl(p.t.Context(), "-n", p.name, "delete", "statefulset", p.name)
	p.must(err)
	_, err = p.WaitForPods(labtest.TimeLimit(p.t), p.name, func(pods []corev1.Pod) error {
		for _, pod := range pods {
			if strings.HasPrefix(pod.Name, p.name+"-") {
				return fmt.Errorf("pod %s is there", pod.Name)
			}
		}
		return nil
	})
	p.must(err)
}

// C44: hundreds of placements a second are one write of their pool a second.
func TestC44_ABurstOfPlacementsWritesItsPoolOnceASecond(t *testing.T) {
	t.Parallel()
	p := sharedStage(t).newPool(t, 500, "z1", "z2")
	p.counts(2, 2, 1000, 0, 0)
	ctx := labtest.TimeLimit(t)
	pool, err := p.poolNamed(ctx, p.name)
	p.must(err)
	watcher, err := client.NewWithWatch(p.Config(), client.Options{Scheme: p.Objects().Scheme()})
	p.must(err)
	w, err := watcher.Watch(ctx, &v1alpha1.AdapterPoolList{}, client.MatchingFields{"metadata.name": p.name},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: pool.ResourceVersion}})
	p.must(err)
	defer w.Stop()
	start := time.Now()
	p.run("x", 600, "300/300")
	p.counts(2, 2, 1000, 600, 0)
	took, writes := time.Since(start), 0
	for {
		e := <-w.ResultChan()
		is, ok := e.Object.(*v1alpha1.AdapterPool)
		if !ok {
			t.Fatalf("the watch ended with %+v", e)
		}
		if is.Name == p.name && is.ResourceVersion != pool.ResourceVersion {
			writes++
		}
		if is.Status.Used == 600 {
			break
		}
	}
	if most := int(took/time.Second) + 2; writes > most {
		t.Errorf("%d writes in %s, want at most %d", writes, took, most)
	}
	t.Logf("%d writes in %s", writes, took)
}
