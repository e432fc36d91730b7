package vpod

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vpod.dev/vpod-scheduler/pkg/controllers/retry"
)

func TestDecideRemembersARefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*refusal)
		want string
	}{
		"it waits":               {edit: func(*refusal) {}, want: ""},
		"its time has come":      {edit: func(r *refusal) { r.until = noon }, want: "create 2 3"},
		"the spec is another":    {edit: func(r *refusal) { r.generation = 6 }, want: "create 2 3"},
		"there are fewer of its": {edit: func(r *refusal) { r.alive = 3 }, want: "create 2 3"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(xVPod(4), adapterNodes(threeAdapters...), "0 @a-0", "1 @a-1")
			o.refusal = &refusal{generation: 7, alive: 2, until: noon.Add(time.Second)}
			tc.edit(o.refusal)
			if got := decide(o).String(); got != tc.want {
				t.Errorf("plan %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRefusalsGrowApart(t *testing.T) {
	var r *refusal
	var got []time.Duration
	for range 7 {
		r = r.after(errors.New("no"), ofCreation, noon)
		got = append(got, r.until.Sub(noon))
	}
	want := []time.Duration{1, 2, 4, 8, 16, 20, 20}
	for i := range want {
		want[i] *= time.Second
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestWhatIsARefusal(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	terminating := apierrors.NewForbidden(pods, "x", errors.New("unable to create new content"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, tc := range map[string]struct {
		err            error
		refused, quota bool
	}{
		"a quota": {
			err:     apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: q, requested: requests.vpod.dev/vreplicas=1")),
			refused: true, quota: true,
		},
		"a quota that is used up": {
			err: apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: q, requested: pods=1,requests.vpod.dev/vreplicas=1, "+
				"used: pods=7,requests.vpod.dev/vreplicas=1k, limited: pods=7,requests.vpod.dev/vreplicas=1000")),
			refused: true, quota: true,
		},
		"a quota for fewer than there are": {
			err: apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: q, requested: pods=1,requests.vpod.dev/vreplicas=1, "+
				"used: pods=7,requests.vpod.dev/vreplicas=6, limited: pods=7,requests.vpod.dev/vreplicas=5")),
			refused: true,
		},
		"an unknown PriorityClass": {
			err: apierrors.NewForbidden(pods, "x", errors.New("no PriorityClass with name p was found")), refused: true,
		},
		"a policy":                  {err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil), refused: true},
		"a webhook that is down":    {err: apierrors.NewInternalError(errors.New("failed calling webhook")), refused: true},
		"a namespace that vanishes": {err: terminating, refused: true},
		"a namespace that is gone":  {err: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns"), refused: true},
		"a webhook's own code":      {err: apierrors.NewGenericServerResponse(402, "create", pods, "x", "pay first", 0, true), refused: true},
		"a conflict":                {err: apierrors.NewConflict(pods, "x", errors.New("quota was changed"))},
		"too many requests":         {err: apierrors.NewTooManyRequests("later", 1)},
		"no answer":                 {err: apierrors.NewServerTimeout(pods, "create", 1)},
		"no connection":             {err: errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			var none *refusal
			if retry.IsRefusal(tc.err) != tc.refused || none.after(tc.err, ofCreation, noon).quota != tc.quota {
				t.Errorf("refused %t, quota %t", retry.IsRefusal(tc.err), none.after(tc.err, ofCreation, noon).quota)
			}
		})
	}
}
