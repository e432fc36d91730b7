package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// stepTimeout is far more than a step takes; it ends the demo when somebody is silent.
const stepTimeout = time.Minute

// trial is the namespace of a tenant with a quota of trialQuota vreplicas.
const (
	trial      = "trial"
	trialQuota = 5
)

// step is one thing that happens, and the sentence that tells it.
type step struct {
	title string
	does  func(context.Context, *lab.Lab) error
	// shows says whether a state is what the step comes to, beside that it is settled; nil: any is.
	shows func(state) error
}

// act is the story of one pool.
type act struct {
	pool  string
	steps []step
	// check returns all that a state has against what vpod-scheduler promises, with the state before and what changed.
	check func(before, after state) error
}

// The numbers are chosen so that the placement does not depend on the order in which the vpods' placeholders come: there
// is room everywhere, or only one vpod asks.
var placing = []step{{
	title: "Three VPods: 12 vreplicas of orders, 8 of payments, and 8 of refunds, whose topic has 2 partitions: maxAdapters is 2.",
	does: func(ctx context.Context, l *lab.Lab) error {
		refunds := VPod("refunds", 8)
		refunds.Spec.MaxAdapters = new(int32(2))
		return create(ctx, l, VPod("orders", 12), VPod("payments", 8), refunds)
	},
}, {
	title: "host-2 is cordoned, and with it its adapter. orders grows from 12 to 20. What is placed stays where it is.",
	does: func(ctx context.Context, l *lab.Lab) error {
		if err := l.Cordon(ctx, "host-2", true); err != nil {
			return err
		}
		if err := waitForCordon(ctx, l, "kafka-1", true); err != nil {
			return err
		}
		return scale(ctx, l, "orders", 20)
	},
}, {
	title: "surveys asks for 30 vreplicas; there is room for 22.",
	does: func(ctx context.Context, l *lab.Lab) error {
		return create(ctx, l, VPod("surveys", 30))
	},
}, {
	title: "surveys shrinks to 4, and orders to 10. What waits is removed first, then from where the zone, host and adapter have most.",
	does: func(ctx context.Context, l *lab.Lab) error {
		if err := scale(ctx, l, "surveys", 4); err != nil {
			return err
		}
		return scale(ctx, l, "orders", 10)
	},
}, {
	title: "The adapter kafka-1 is restarted. host-2 is still cordoned, so it comes back on host-7, and serves on what it served.",
	does: func(ctx context.Context, l *lab.Lab) error {
		if err := l.Client().CoreV1().Pods(Pool).Delete(ctx, "kafka-1", metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("restarting an adapter: %w", err)
		}
		return waitForCordon(ctx, l, "kafka-1", false)
	},
}, {
	title: fmt.Sprintf("The namespace %s has a ResourceQuota: requests.%s is %d. Its VPod clicks asks for 8.", trial, v1alpha1.ResourceVReplicas, trialQuota),
	does: func(ctx context.Context, l *lab.Lab) error {
		if err := l.CreateNamespace(ctx, trial); err != nil {
			return err
		}
		if err := createQuota(ctx, l); err != nil {
			return err
		}
		clicks := VPod("clicks", 8)
		clicks.Namespace = trial
		return create(ctx, l, clicks)
	},
}}

// Run tells the story in a lab that was started with Start. It fails if what it shows breaks a promise.
func Run(ctx context.Context, l *lab.Lab, out io.Writer) error {
	fmt.Fprintf(out, "The AdapterPool %s: a StatefulSet of %d adapters with room for %d vreplicas each, on hosts in %d zones.\n",
		Pool, Adapters, Capacity, len(Zones))
	number := 0
	for _, act := range []act{{Pool, placing, check}, {elastic, scaling, checkMoving}} {
		for _, step := range act.steps {
			number++
			fmt.Fprintf(out, "\n%d. %s\n\n", number, step.title)
			if err := play(ctx, l, out, act, step); err != nil {
				return fmt.Errorf("step %d: %w", number, err)
			}
		}
	}
	_, err := fmt.Fprint(out, "\nEvery step was checked against the rules: capacity, adapter limit, even spread, cordons, nothing moved but "+
		"from adapters that go, nobody waits in vain, the status says where everything is.\n")
	return err
}

func play(ctx context.Context, l *lab.Lab, out io.Writer, act act, step step) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	before, err := read(ctx, l, act.pool)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err := step.does(ctx, l); err != nil {
		return err
	}
	var after state
	err = lab.Wait(ctx, "every vreplica is placed or refused", func(ctx context.Context) error {
		var err error
		if after, err = read(ctx, l, act.pool); err != nil {
			return err
		}
		if err = after.settled(); err == nil && step.shows != nil {
			err = step.shows(after)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := render(out, after); err != nil {
		return err
	}
	if err := act.check(before, after); err != nil {
		return fmt.Errorf("this is not what the rules say: %w", err)
	}
	return nil
}

// VPod describes a VPod of the pool.
func VPod(name string, replicas int32) *v1alpha1.VPod {
	return &v1alpha1.VPod{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindVPod},
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Spec:       v1alpha1.VPodSpec{Replicas: &replicas, PoolName: Pool},
	}
}

func create(ctx context.Context, l *lab.Lab, vpods ...*v1alpha1.VPod) error {
	for _, v := range vpods {
		if err := l.Objects().Create(ctx, v); err != nil {
			return fmt.Errorf("creating vpod %s: %w", v.Name, err)
		}
	}
	return nil
}

func createQuota(ctx context.Context, l *lab.Lab) error {
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: trial, Name: "vreplicas"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.DefaultResourceRequestsPrefix + v1alpha1.ResourceVReplicas: *resource.NewQuantity(trialQuota, resource.DecimalSI),
		}},
	}
	if err := l.Objects().Create(ctx, quota); err != nil {
		return fmt.Errorf("creating the quota: %w", err)
	}
	// Before it is counted for the first time, a quota refuses everything with another message.
	return lab.Wait(ctx, "the quota is in force", func(ctx context.Context) error {
		if err := l.Objects().Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if len(quota.Status.Hard) == 0 {
			return fmt.Errorf("nobody has counted yet")
		}
		return nil
	})
}

// waitForCordon waits until an adapter, which is ready, is cordoned or open.
func waitForCordon(ctx context.Context, l *lab.Lab, name string, want bool) error {
	return lab.Wait(ctx, fmt.Sprintf("cordoned %t of adapter %s", want, name), func(ctx context.Context) error {
		s, err := read(ctx, l, Pool)
		if err != nil {
			return err
		}
		for _, a := range s.adapters {
			if a.name == name && a.cordoned == want && a.ready && (want || a.host == fmt.Sprintf("host-%d", Hosts)) {
				return nil
			}
		}
		return fmt.Errorf("the adapters are %+v", s.adapters)
	})
}

func scale(ctx context.Context, l *lab.Lab, vpod string, replicas int) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": replicas}})
	if err != nil {
		return fmt.Errorf("encoding the scale of %s: %w", vpod, err)
	}
	v := VPod(vpod, 0)
	if err := l.Objects().SubResource("scale").Patch(ctx, v, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("scaling vpod %s: %w", vpod, err)
	}
	return nil
}
