package node

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/controllers/adapter"
)

func TestReadyMirrorsTheAdapter(t *testing.T) {
	for name, tc := range map[string]struct {
		edits       []func(*state)
		wantReady   bool
		wantReason  string
		wantMessage string
		// wantSince is how long ago the last transition was.
		wantSince time.Duration
	}{
		"ready": {
			wantReady: true, wantReason: v1alpha1.NodeAdapterReady,
			wantMessage: "adapter pod eventing/dispatcher-1 is ready", wantSince: time.Hour,
		},
		"becomes ready": {
			edits: []func(*state){nodeNotReady(time.Minute)}, wantReady: true, wantReason: v1alpha1.NodeAdapterReady,
			wantMessage: "adapter pod eventing/dispatcher-1 is ready",
		},
		"ready, and so are we again (C45)": {
			edits: []func(*state){nodeUnknown(10 * time.Minute)}, wantReady: true, wantReason: v1alpha1.NodeAdapterReady,
			wantMessage: "adapter pod eventing/dispatcher-1 is ready",
		},
		"ceases to be ready": {
			edits: []func(*state){podNotReady(time.Minute)}, wantReason: v1alpha1.NodeAdapterNotReady,
			wantMessage: "adapter pod eventing/dispatcher-1 is not ready: containers crash", wantSince: time.Minute,
		},
		"being deleted while ready": {
			edits: []func(*state){podLeaving}, wantReason: v1alpha1.NodeAdapterTerminating,
			wantMessage: "adapter pod eventing/dispatcher-1 is being deleted",
		},
		"pod missing": {
			edits: []func(*state){noPod}, wantReason: v1alpha1.NodeAdapterMissing,
			wantMessage: "there is no adapter pod eventing/dispatcher-1",
		},
		"next pod waits, node tells since when": {
			edits: []func(*state){podWaits, nodeNotReady(2 * time.Minute)}, wantReason: v1alpha1.NodeAdapterWaiting,
			wantMessage: "adapter pod eventing/dispatcher-1 waits for a host", wantSince: 2 * time.Minute,
		},
		"next pod is not ready either": {
			edits: []func(*state){podNotReady(time.Minute), nodeNotReady(2 * time.Minute)}, wantReason: v1alpha1.NodeAdapterNotReady,
			wantMessage: "adapter pod eventing/dispatcher-1 is not ready: containers crash", wantSince: 2 * time.Minute,
		},
		"not ready while we were away": {
			edits: []func(*state){podNotReady(3 * time.Minute), nodeUnknown(time.Minute)}, wantReason: v1alpha1.NodeAdapterNotReady,
			wantMessage: "adapter pod eventing/dispatcher-1 is not ready: containers crash", wantSince: 3 * time.Minute,
		},
		"never ready, node made anew": {
			edits:      []func(*state){noNode, func(s *state) { s.pod.Status.Conditions = nil }},
			wantReason: v1alpha1.NodeAdapterNotReady, wantMessage: "adapter pod eventing/dispatcher-1 is not ready",
			wantSince: 2 * time.Hour,
		},
		"got a host a minute ago, after waiting": {
			edits: []func(*state){noNode, func(s *state) {
				s.pod.Status.Conditions = []corev1.PodCondition{
					{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(time.Minute)},
				}
			}},
			wantReason: v1alpha1.NodeAdapterNotReady, wantMessage: "adapter pod eventing/dispatcher-1 is not ready",
			wantSince: time.Minute,
		},
		"finished": {
			edits:      []func(*state){func(s *state) { s.pod.Status.Phase = corev1.PodFailed }},
			wantReason: v1alpha1.NodeAdapterNotReady, wantMessage: "adapter pod eventing/dispatcher-1 is not ready",
		},
		"pool gone": {
			edits: []func(*state){noPool}, wantReason: v1alpha1.NodeAdapterMissing, wantMessage: "there is no AdapterPool kafka",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(tc.edits...)
			want := corev1.NodeCondition{
				Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: tc.wantReason, Message: tc.wantMessage,
				LastTransitionTime: ago(tc.wantSince), LastHeartbeatTime: ago(0),
			}
			if tc.wantReady {
				want.Status = corev1.ConditionTrue
			}
			if tc.wantReady && tc.wantSince != 0 {
				want.LastHeartbeatTime = ago(time.Hour) // Nothing to write.
			}
			got := adapter.NodeCondition(decide(s, "v1", now).node, corev1.NodeReady)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}

// G4, G5: an adapter's vreplicas move once it was not ready for the pool's evictionTimeout, and not before; and they stay
// where no other adapter is ready.
func TestLostAdapter(t *testing.T) {
	const minute = time.Minute
	for name, tc := range map[string]struct {
		edits     []func(*state)
		wantMoves bool
		wantAfter time.Duration
	}{
		"ready":                               {},
		"just now":                            {edits: []func(*state){podNotReady(0)}, wantAfter: 5 * minute},
		"a while":                             {edits: []func(*state){podNotReady(4 * minute)}, wantAfter: minute},
		"too long":                            {edits: []func(*state){podNotReady(5 * minute)}, wantMoves: true},
		"too long, and no other is ready":     {edits: []func(*state){podNotReady(5 * minute), noneReady}},
		"pool allows less":                    {edits: []func(*state){podNotReady(2 * minute), evictionTimeout(minute)}, wantMoves: true},
		"pool allows more":                    {edits: []func(*state){podNotReady(7 * minute), evictionTimeout(10 * minute)}, wantAfter: 3 * minute},
		"pod missing just now":                {edits: []func(*state){noPod}, wantAfter: 5 * minute},
		"pod missing a while":                 {edits: []func(*state){noPod, nodeNotReady(2 * minute)}, wantAfter: 3 * minute},
		"pod missing too long":                {edits: []func(*state){noPod, nodeNotReady(5 * minute)}, wantMoves: true},
		"pod waits for a host too long":       {edits: []func(*state){podWaits, nodeNotReady(5 * minute)}, wantMoves: true},
		"pods follow each other, none ready":  {edits: []func(*state){podNotReady(minute), nodeNotReady(5 * minute)}, wantMoves: true},
		"restarted in time":                   {edits: []func(*state){nodeNotReady(4 * minute)}},
		"restarted too late":                  {edits: []func(*state){nodeNotReady(9 * minute)}},
		"stuck in deletion on a dead host":    {edits: []func(*state){podNotReady(6 * minute), podLeaving, hostUnknown}, wantMoves: true},
		"away ourselves, pod missing since":   {edits: []func(*state){noPod, nodeUnknown(time.Hour)}, wantAfter: 5 * minute},
		"away ourselves, pod not ready since": {edits: []func(*state){podNotReady(time.Hour), nodeUnknown(time.Hour)}, wantMoves: true},
		"never ready":                         {edits: []func(*state){noNode, func(s *state) { s.pod.Status.Conditions = nil }}, wantMoves: true},
		"host not ready, adapter still is":    {edits: []func(*state){hostUnknown}},
		"retired":                             {edits: []func(*state){poolLeaving, podNotReady(9 * minute)}},
		"StatefulSet being replaced":          {edits: []func(*state){noSet, podOrphaned, podNotReady(9 * minute)}},
		"empty, without host, until deletion": {edits: []func(*state){noPod, empty, nodeNotReady(2 * minute)}, wantAfter: 3 * minute},
		"finished pods do not move":           {edits: []func(*state){podNotReady(9 * minute), finished}},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(settled(tc.edits...), "v1", now)
			if (len(got.move) > 0) != tc.wantMoves || got.after != tc.wantAfter {
				t.Errorf("moves %d, and looks again after %v, want %v and %v", len(got.move), got.after, tc.wantMoves, tc.wantAfter)
			}
			if tc.wantMoves && got.because != v1alpha1.CordonLost {
				t.Errorf("moves because of %q", got.because)
			}
		})
	}
}
