package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// as returns a client with the rights of a service account.
func (s *stage) as(t *testing.T, namespace, account string) client.Client {
	t.Helper()
	config, err := s.ServiceAccountConfig(t.Context(), namespace, account)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: s.Objects().Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// request is one that the API server is asked, and never carries out.
type request func(context.Context, client.Client) error

// copyOf keeps what an answer overwrites.
func copyOf(o client.Object) client.Object { return o.DeepCopyObject().(client.Object) }

func toCreate(o client.Object) request {
	return func(ctx context.Context, c client.Client) error { return c.Create(ctx, copyOf(o), client.DryRunAll) }
}

func toUpdate(o client.Object) request {
	return func(ctx context.Context, c client.Client) error { return c.Update(ctx, copyOf(o), client.DryRunAll) }
}

func toDelete(o client.Object) request {
	return func(ctx context.Context, c client.Client) error { return c.Delete(ctx, copyOf(o), client.DryRunAll) }
}

func toDeleteAll(of client.Object, options ...client.DeleteAllOfOption) request {
	return func(ctx context.Context, c client.Client) error {
		return c.DeleteAllOf(ctx, of, append(options, client.DryRunAll)...)
	}
}

func toGet(o client.Object) request {
	return func(ctx context.Context, c client.Client) error {
		return c.Get(ctx, client.ObjectKeyFromObject(o), copyOf(o))
	}
}

func toList(into client.ObjectList, options ...client.ListOption) request {
	return func(ctx context.Context, c client.Client) error { return c.List(ctx, into, options...) }
}

func toPatch(o client.Object, patch string) request {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, copyOf(o), merging(patch), client.DryRunAll)
	}
}

func toPatchStatus(o client.Object, patch string) request {
	return func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, copyOf(o), merging(patch), client.DryRunAll)
	}
}

func toScale(o client.Object, replicas int32) request {
	return func(ctx context.Context, c client.Client) error {
		patch := merging(fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
		return c.SubResource("scale").Patch(ctx, copyOf(o), patch, client.DryRunAll, client.WithSubResourceBody(&autoscalingv1.Scale{}))
	}
}

func merging(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }

// refusedWith waits until a request is refused as wanted: a new policy is in force a little after it was applied.
func refusedWith(t *testing.T, account client.Client, request request, want string) {
	t.Helper()
	err := lab.Wait(labtest.TimeLimit(t), "the request is refused", func(ctx context.Context) error {
		err := request(ctx, account)
		if err == nil {
			return errors.New("it is not")
		}
		if !strings.Contains(err.Error(), want) {
			return fmt.Errorf("it is refused with %w, want %q", err, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// checkAllowed waits, because kube-controller-manager adds our rules to the roles a little after they were applied.
func checkAllowed(t *testing.T, account client.Client, request request, want bool) {
	t.Helper()
	err := lab.Wait(labtest.TimeLimit(t), fmt.Sprintf("allowed is %t", want), func(ctx context.Context) error {
		err := request(ctx, account)
		if !want && err == nil {
			return errors.New("it is allowed")
		}
		if !want && apierrors.IsForbidden(err) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
