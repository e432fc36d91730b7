// Package surebinder binds a vreplica to its adapter, and does not let go of the placement before it knows how that
// ended. The scheduler's own binder takes a lost answer, as when the API server is killed, for a failure: the scheduler
// then gives the room to another, although the binding may have been carried out. A kubelet would refuse the surplus;
// an adapter has none.
package surebinder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/plugins/rule"
	"vpod.dev/vpod-scheduler/pkg/snapshot"
)

// Name is the plugin's name in configurations.
const Name = "SureBinder"

// maxFailures is how often an API server that can be reached may fail, over half a minute: no request is under way for
// longer. One that cannot be reached is waited for, as nothing else could be bound either.
const maxFailures = 20

// SureBinder is the plugin.
type SureBinder struct {
	client kubernetes.Interface
	pauses wait.Backoff
	pulse  *pulse
}

// errPaused refuses a binding that was decided before a pause in which another replica may have taken over and given
// the room away.
var errPaused = errors.New("the scheduler stood still a short while ago, and may have decided by a state that has changed")

var _ fwk.BindPlugin = &SureBinder{}

// New makes the plugin for a profile.
func New(ctx context.Context, obj runtime.Object, _ *snapshot.Profile, handle fwk.Handle) (fwk.Plugin, error) {
	if _, err := rule.Decode(Name, obj, rule.NoArgs{}, nil); err != nil {
		return nil, err
	}
	pulse := newPulse(time.Now)
	go pulse.run(ctx)
	return &SureBinder{
		client: handle.ClientSet(),
		pulse:  pulse,
		pauses: wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.1, Cap: 2 * time.Second, Steps: maxFailures},
	}, nil
}

// Name returns the plugin's name.
func (b *SureBinder) Name() string { return Name }

// Bind repeats a binding whose outcome is unknown until it is known. That the earlier one may still be carried out
// does no harm: it is for the same adapter, whose room the scheduler holds meanwhile.
func (b *SureBinder) Bind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, nodeName string) *fwk.Status {
	logger := klog.FromContext(ctx)
	logger.V(3).Info("Attempting to bind pod to node", "pod", klog.KObj(pod), "node", klog.KRef("", nodeName))
	pauses, failures, doubt := b.pauses, 0, false
	for {
		err := b.bind(ctx, pod, nodeName)
		switch {
		case err == nil:
			return nil
		case !doubt && errors.Is(err, errPaused):
			return fwk.AsStatus(err)
		case unknown(err):
		case !doubt && !apierrors.IsConflict(err):
			return fwk.AsStatus(err)
		default:
			carriedOut, lookErr := b.carriedOut(ctx, pod, nodeName)
			switch {
			case carriedOut:
				return nil
			case lookErr == nil:
				return fwk.AsStatus(err)
			}
			err = lookErr
		}
		if answered(err) {
			failures++
		}
		if failures > maxFailures {
			return fwk.AsStatus(err)
		}
		doubt = true
		logger.Info("Outcome of a binding is unknown, repeating it", "pod", klog.KObj(pod), "node", klog.KRef("", nodeName), "err", err)
		select {
		case <-ctx.Done():
			return fwk.AsStatus(fmt.Errorf("waiting for the outcome of a binding: %w", ctx.Err()))
		case <-time.After(pauses.Step()):
		}
	}
}

// bind tries once. After a pause it does not, and the outcome stays as unknown as it was: should another replica lead by
// now, this process is about to end.
func (b *SureBinder) bind(ctx context.Context, pod *v1.Pod, nodeName string) error {
	if b.pulse.recovering() {
		return errPaused
	}
	return b.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: nodeName},
	}, metav1.CreateOptions{})
}

// carriedOut says whether a pod is on a node by the latest state. It lists, which the scheduler may; a refusal tells
// nothing, since an API server that has just started refuses everything until it has read its roles.
func (b *SureBinder) carriedOut(ctx context.Context, pod *v1.Pod, nodeName string) (bool, error) {
	pods, err := b.client.CoreV1().Pods(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, pod.Name).String(),
	})
	if err != nil {
		return false, fmt.Errorf("looking where the pod is: %w", err)
	}
	return slices.ContainsFunc(pods.Items, func(p v1.Pod) bool {
		return p.UID == pod.UID && p.Spec.NodeName == nodeName
	}), nil
}

// unknown says whether a request that failed may have been carried out.
func unknown(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}

// answered says whether the API server can be reached.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}
