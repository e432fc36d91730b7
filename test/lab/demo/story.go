package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
)

// stepTimeout is far more than a step takes; it ends the demo when the scheduler is silent.
const stepTimeout = time.Minute

// step is one thing that happens, and the sentence that tells it.
type step struct {
	title string
	does  func(context.Context, *lab.Lab) error
}

// The numbers are chosen so that the placement does not depend on the order in which the vpods' placeholders come: in
// the first two steps there is room everywhere, and in the last only one vpod asks.
var story = []step{{
	title: "Three vpods: 12 vreplicas of orders, 8 of payments, and 8 of refunds, whose topic has 2 partitions: it may use 2\n   adapters at most.",
	does: func(ctx context.Context, l *lab.Lab) error {
		return createVPods(ctx, l,
			lab.VPod{Name: "orders", Replicas: 12},
			lab.VPod{Name: "payments", Replicas: 8},
			lab.VPod{Name: "refunds", Replicas: 8, MaxAdapters: 2})
	},
}, {
	title: "host-2 and its adapter kafka-1 are cordoned, and orders grows from 12 to 20. What is placed stays where it is.",
	does: func(ctx context.Context, l *lab.Lab) error {
		if err := cordonHost(ctx, l, "host-2"); err != nil {
			return err
		}
		return scale(ctx, l, "orders", 20)
	},
}, {
	title: "surveys asks for 30 vreplicas; there is room for 22.",
	does: func(ctx context.Context, l *lab.Lab) error {
		return createVPods(ctx, l, lab.VPod{Name: "surveys", Replicas: 30})
	},
}}

// Run tells the story in a furnished lab with a running scheduler. It fails if what it shows breaks a rule.
func Run(ctx context.Context, l *lab.Lab, out io.Writer) error {
	fmt.Fprintf(out, "A pool of %d adapters with room for %d vreplicas each, on %d hosts in %d zones.\n",
		Adapters, Capacity, Adapters, len(Zones))
	for i, step := range story {
		fmt.Fprintf(out, "\n%d. %s\n\n", i+1, step.title)
		if err := play(ctx, l, out, step); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	_, err := fmt.Fprint(out, "\nEvery step was checked against the rules: capacity, adapter limit, even spread, "+
		"cordons, nothing moved, nobody waits in vain.\n")
	return err
}

func play(ctx context.Context, l *lab.Lab, out io.Writer, step step) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	before, err := read(ctx, l)
	if err != nil {
		return err
	}
	if err := step.does(ctx, l); err != nil {
		return err
	}
	var after state
	err = lab.Wait(ctx, "every vreplica is placed or refused", func(ctx context.Context) error {
		var err error
		if after, err = read(ctx, l); err != nil {
			return err
		}
		return after.settled()
	})
	if err != nil {
		return err
	}
	if err := render(out, after); err != nil {
		return err
	}
	if err := check(before, after); err != nil {
		return fmt.Errorf("this is not what the rules say: %w", err)
	}
	return nil
}

func createVPods(ctx context.Context, l *lab.Lab, vpods ...lab.VPod) error {
	for _, v := range vpods {
		v.Namespace, v.Pool = Namespace, Pool
		_, err := l.Client().AppsV1().ReplicaSets(Namespace).Create(ctx, v.ReplicaSet(), metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("creating vpod %s: %w", v.Name, err)
		}
	}
	return nil
}

// cordonHost cordons a host and the adapters on it. For the adapters the controllers do that in a cluster.
func cordonHost(ctx context.Context, l *lab.Lab, host string) error {
	onHost := metav1.ListOptions{LabelSelector: v1alpha1.LabelHost + "=" + host}
	adapters, err := l.Client().CoreV1().Nodes().List(ctx, onHost)
	if err != nil {
		return fmt.Errorf("listing the adapters on %s: %w", host, err)
	}
	if err := l.Cordon(ctx, host, true); err != nil {
		return err
	}
	for _, adapter := range adapters.Items {
		if err := l.Cordon(ctx, adapter.Name, true); err != nil {
			return err
		}
	}
	return nil
}

func scale(ctx context.Context, l *lab.Lab, vpod string, replicas int) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": replicas}})
	if err != nil {
		return fmt.Errorf("encoding the scale of %s: %w", vpod, err)
	}
	_, err = l.Client().AppsV1().ReplicaSets(Namespace).Patch(
		ctx, vpod, types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
	if err != nil {
		return fmt.Errorf("scaling vpod %s: %w", vpod, err)
	}
	return nil
}
