package surebinder

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

var (
	pods     = schema.GroupResource{Resource: "pods/binding"}
	errLost  = errors.New("read tcp: connection reset by peer")
	failed   = apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	conflict = apierrors.NewConflict(pods, "x", errors.New("pod x is already assigned to a node"))
	notFound = apierrors.NewNotFound(pods, "x")
	refused  = apierrors.NewForbidden(pods, "x", nil)
	tooMany  = apierrors.NewTooManyRequests("later", 1)
)

func TestBind(t *testing.T) {
	failures := make([]error, maxFailures+2)
	for i := range failures {
		failures[i] = failed
	}
	for name, tc := range map[string]struct {
		// answers are those to the bindings, in order; nil is success.
		answers []error
		// looks are the answers to the question where the pod is, before the true one.
		looks []error
		// on is the node that the pod is on when the API server is asked, and uid whose it is.
		on        string
		uid       types.UID
		wantErr   error
		wantBinds int
	}{
		"at once":                                  {answers: []error{nil}, wantBinds: 1},
		"lost, not carried out":                    {answers: []error{errLost, nil}, wantBinds: 2},
		"lost, carried out":                        {answers: []error{errLost, conflict}, on: "a-0", wantBinds: 2},
		"lost often, carried out":                  {answers: []error{errLost, errLost, errLost, conflict}, on: "a-0", wantBinds: 4},
		"failed, carried out":                      {answers: []error{failed, conflict}, on: "a-0", wantBinds: 2},
		"lost, carried out, no right any more":     {answers: []error{errLost, refused}, on: "a-0", wantBinds: 2},
		"lost, no right until roles are read":      {answers: []error{errLost, refused, refused, conflict}, looks: []error{refused, refused}, on: "a-0", wantBinds: 4},
		"lost, no right, not carried out":          {answers: []error{errLost, refused, nil}, looks: []error{refused}, wantBinds: 3},
		"lost, somebody else placed it":            {answers: []error{errLost, conflict}, on: "a-1", wantErr: conflict, wantBinds: 2},
		"lost, another pod has its name":           {answers: []error{errLost, conflict}, on: "a-0", uid: "later", wantErr: conflict, wantBinds: 2},
		"lost, the pod is gone":                    {answers: []error{errLost, notFound}, wantErr: notFound, wantBinds: 2},
		"refused":                                  {answers: []error{refused}, wantErr: refused, wantBinds: 1},
		"refused for now":                          {answers: []error{tooMany}, wantErr: tooMany, wantBinds: 1},
		"somebody else placed it":                  {answers: []error{conflict}, on: "a-1", wantErr: conflict, wantBinds: 1},
		"somebody else placed it on the same node": {answers: []error{conflict}, on: "a-0", wantBinds: 1},
		"fails for good":                           {answers: failures, wantErr: failed, wantBinds: maxFailures + 1},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x", UID: "first"}}
			stored := pod.DeepCopy()
			stored.Spec.NodeName = tc.on
			if tc.uid != "" {
				stored.UID = tc.uid
			}
			client := fake.NewClientset(stored)
			binds := 0
			client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				binding := action.(clienttesting.CreateAction).GetObject().(*v1.Binding)
				if binding.Target.Name != "a-0" || binding.UID != pod.UID {
					t.Errorf("binds %s to %s", binding.UID, binding.Target.Name)
				}
				binds++
				return true, nil, tc.answers[binds-1]
			})
			client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				if len(tc.looks) == 0 {
					return false, nil, nil
				}
				answer := tc.looks[0]
				tc.looks = tc.looks[1:]
				return true, nil, answer
			})
			b := &SureBinder{client: client, pauses: wait.Backoff{}, pulse: newPulse(time.Now)}
			status := b.Bind(t.Context(), nil, pod, "a-0")
			if !errors.Is(status.AsError(), tc.wantErr) {
				t.Errorf("got %v, want %v", status.AsError(), tc.wantErr)
			}
			if binds != tc.wantBinds {
				t.Errorf("bound %d times, want %d", binds, tc.wantBinds)
			}
		})
	}
}

func TestBindEndsWithTheScheduler(t *testing.T) {
	client := fake.NewClientset()
	ctx, cancel := context.WithCancel(t.Context())
	client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel()
		return true, nil, errLost
	})
	b := &SureBinder{client: client, pauses: wait.Backoff{Duration: time.Hour}, pulse: newPulse(time.Now)}
	status := b.Bind(ctx, nil, &v1.Pod{}, "a-0")
	if !errors.Is(status.AsError(), context.Canceled) {
		t.Errorf("got %v, want %v", status.AsError(), context.Canceled)
	}
}

func TestAFailureThatIsAnsweredIsNoRefusal(t *testing.T) {
	for code, want := range map[int32]bool{
		http.StatusConflict: false, http.StatusTooManyRequests: false, http.StatusInternalServerError: true,
		http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true,
	} {
		err := &apierrors.StatusError{ErrStatus: metav1.Status{Code: code}}
		if got := unknown(err); got != want {
			t.Errorf("code %d: outcome unknown %t, want %t", code, got, want)
		}
	}
}
