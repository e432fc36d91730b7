package pool

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

func TestTarget(t *testing.T) {
	for name, tc := range map[string]struct {
		s            *scene
		wantTarget   int32
		wantTold     string
		wantReason   string
		wantMessage  string
		wantHand     hand
		wantReplicas int32 // 0: the target
	}{
		"as many as are wanted": {
			s: pooled(3).want(25).look(), wantTarget: 3, wantReason: v1alpha1.ReasonWantedSize,
			wantMessage: "size 3: 25 vreplicas wanted, 10 per adapter",
		},
		"C16: up at once, and in one write": {
			s: pooled(2).want(18).look().want(23).look(), wantTarget: 3, wantTold: "[3]", wantReason: v1alpha1.ReasonScalingUp,
		},
		"C16: X=25 at once, from 1 to 3": {
			s: pooled(1).want(25).look(), wantTarget: 3, wantTold: "[3]", wantReason: v1alpha1.ReasonScalingUp,
		},
		"C16: down not before the delay": {
			s:          pooled(3).want(23).look().want(19).look().pass(testDelay - time.Second),
			wantTarget: 3, wantReason: v1alpha1.ReasonScaleDownDelayed, wantMessage: "3 adapters stay until fewer have been enough for 1m0s",
		},
		"down after the delay": {
			s:          pooled(3).want(23).look().want(19).look().pass(testDelay),
			wantTarget: 2, wantReplicas: 3, wantReason: v1alpha1.ReasonDraining, wantMessage: "1 of 3 adapters are to be removed",
		},
		"what is empty goes once it takes no more": {
			s:          pooled(3).want(23).look().want(19).look().pass(testDelay).look(),
			wantTarget: 2, wantTold: "[2]", wantReason: v1alpha1.ReasonDraining,
		},
		"only from above": {
			s:          pooled(4).want(33).look().hold(5, 5, 0, 1).want(11).look().pass(testDelay).look(),
			wantTarget: 2, wantReplicas: 4, wantReason: v1alpha1.ReasonDraining,
			wantMessage: "2 of 4 adapters are to be removed, and 1 vreplica is still on x-3",
		},
		"step by step": {
			s:          pooled(4).want(33).look().hold(5, 5, 1, 0).want(11).look().pass(testDelay).look().look(),
			wantTarget: 2, wantReplicas: 3, wantTold: "[3]", wantReason: v1alpha1.ReasonDraining,
		},
		"C52: to zero": {
			s:        pooled(1).change(func(s *scene) { s.size.Bounds.Min = 0 }).want(1).look().want(0).look().pass(testDelay).look().look(),
			wantTold: "[0]", wantReason: v1alpha1.ReasonWantedSize,
		},
		"C52: and back": {
			s:          pooled(0).change(func(s *scene) { s.size.Bounds.Min = 0 }).want(0).look().want(1).look(),
			wantTarget: 1, wantTold: "[1]", wantReason: v1alpha1.ReasonScalingUp,
		},
		"C23: a restart sizes nothing anew": {
			s: pooled(8).want(75).look().restart().look().look(), wantTarget: 8, wantReason: v1alpha1.ReasonWantedSize,
		},
		"C23: the delay begins anew after a restart": {
			s:          pooled(8).want(75).look().want(10).look().pass(testDelay - 1).restart().pass(testDelay - 1),
			wantTarget: 8, wantReason: v1alpha1.ReasonScaleDownDelayed,
		},
		"a drain goes on after a restart": {
			s:          pooled(3).want(23).look().hold(9, 9, 5).want(19).look().pass(testDelay).restart().look(),
			wantTarget: 2, wantReplicas: 3, wantReason: v1alpha1.ReasonDraining,
		},
		"load that returns ends the drain": {
			s:          pooled(3).want(23).look().hold(9, 9, 5).want(19).look().pass(testDelay).look().want(21).look(),
			wantTarget: 3, wantReason: v1alpha1.ReasonWantedSize,
		},
		"autoscaling begins with what is there": {
			s: pooled(7).want(15).look(), wantTarget: 7, wantReason: v1alpha1.ReasonScaleDownDelayed,
		},
		"C20: the floor": {
			s:          pooled(1).change(func(s *scene) { s.size.Bounds.Min = 3 }).want(0).look().look(),
			wantTarget: 3, wantTold: "[3]", wantReason: v1alpha1.ReasonWantedSize,
			wantMessage: "size 3: 0 vreplicas wanted, 10 per adapter; needed 0, minReplicas is 3",
		},
		"C20: the ceiling": {
			s:          pooled(3).change(func(s *scene) { s.size.Bounds.Max = 4 }).want(60).look().look(),
			wantTarget: 4, wantTold: "[4]", wantReason: v1alpha1.ReasonMaxReplicas,
			wantMessage: "size 4: 60 vreplicas wanted, 10 per adapter; needed 6, maxReplicas is 4",
		},
		"as many as the ceiling allows are no trouble": {
			s:          pooled(4).change(func(s *scene) { s.size.Bounds.Max = 4 }).want(40).look(),
			wantTarget: 4, wantReason: v1alpha1.ReasonWantedSize,
		},
		"the ceiling is lowered": {
			s: pooled(5).want(45).look().hold(3, 3, 3, 3, 3).
				change(func(s *scene) { s.size.Bounds.Max, s.end, s.why = 2, 4, "x-3 is full" }).want(15).look(),
			wantTarget: 4, wantReplicas: 5, wantReason: v1alpha1.ReasonDraining, wantMessage: "no more than those: x-3 is full",
		},
		"nothing shrinks while vreplicas wait": {
			s:          pooled(3).want(23).look().want(19).change(func(s *scene) { s.waiting = 2 }).look().pass(testDelay),
			wantTarget: 3, wantReason: v1alpha1.ReasonScaleDownDelayed, wantMessage: "3 adapters stay while 2 vreplicas wait for room",
		},
		"nor within the delay after that": {
			s: pooled(3).want(23).look().want(19).change(func(s *scene) { s.waiting = 2 }).look().pass(testDelay).
				change(func(s *scene) { s.waiting = 0 }).pass(testDelay - 1),
			wantTarget: 3, wantReason: v1alpha1.ReasonScaleDownDelayed,
		},
		"but then": {
			s: pooled(3).want(23).look().want(19).change(func(s *scene) { s.waiting = 2 }).look().pass(testDelay).
				change(func(s *scene) { s.waiting = 0 }).look().pass(testDelay),
			wantTarget: 2, wantReplicas: 3, wantReason: v1alpha1.ReasonDraining,
		},
		"no room to drain to": {
			s: pooled(3).want(23).look().want(19).look().
				change(func(s *scene) { s.end, s.why = 3, "x-2 is not removed: no room" }).pass(testDelay),
			wantTarget: 3, wantReason: v1alpha1.ReasonDrainBlocked, wantMessage: "3 adapters stay: x-2 is not removed: no room; size 2",
		},
		"as far as there is room": {
			s: pooled(5).want(43).look().want(19).look().
				change(func(s *scene) { s.end, s.why = 4, "x-3 is not removed: no room" }).pass(testDelay).look().look(),
			wantTarget: 4, wantTold: "[4]", wantReason: v1alpha1.ReasonDrainBlocked, wantMessage: "4 adapters stay: x-3 is not removed: no room",
		},
		"a part of the load returns": {
			s: pooled(6).want(55).look().hold(5, 5, 5, 5, 5, 5).want(19).look().
				change(func(s *scene) { s.end, s.why = 3, "x-2 is not removed: no room" }).pass(testDelay).want(35).look(),
			wantTarget: 4, wantReplicas: 6, wantReason: v1alpha1.ReasonDraining,
			wantMessage: "2 of 6 adapters are to be removed, and 10 vreplicas are still on x-4, x-5; size 4",
		},
		"C20: raised by hand": {
			s: pooled(3).want(25).look().have(5).look(), wantTarget: 5, wantHand: raised, wantReason: v1alpha1.ReasonScaleDownDelayed,
		},
		"C20: raised by hand, and back after the delay": {
			s:          pooled(3).want(25).look().have(5).look().pass(testDelay).look(),
			wantTarget: 3, wantTold: "[3]", wantReason: v1alpha1.ReasonDraining,
		},
		"C20: raised by hand while nobody was there": {
			s: pooled(3).want(25).look().restart().have(5).look(), wantTarget: 5, wantHand: raised, wantReason: v1alpha1.ReasonScaleDownDelayed,
		},
		"raised by hand in the middle of a drain": {
			s:          pooled(3).want(23).look().hold(9, 9, 5).want(19).look().pass(testDelay).have(6).look(),
			wantTarget: 6, wantHand: raised, wantReason: v1alpha1.ReasonScaleDownDelayed,
		},
		"raised by hand above the ceiling": {
			s: pooled(3).change(func(s *scene) { s.size.Bounds.Max = 4 }).want(25).look().have(6).look(), wantTarget: 4, wantReplicas: 6,
			wantHand: raised, wantReason: v1alpha1.ReasonDraining,
		},
		"C20: lowered by hand": {
			s:          pooled(3).want(25).look().have(1).look(),
			wantTarget: 3, wantTold: "[3]", wantHand: lowered, wantReason: v1alpha1.ReasonScalingUp,
		},
		"lowered by hand, and the write fails at first": {
			s: pooled(3).want(25).look().have(1).change(func(s *scene) {
				var d decision
				if d, s.memory = decide(s.view, s.memory, s.at); d.hand != lowered {
					s.why = "it was not seen at first"
				}
			}).look(),
			wantTarget: 3, wantTold: "[3]", wantHand: lowered, wantReason: v1alpha1.ReasonScalingUp,
		},
		"lowered by hand, and told once": {
			s:          pooled(3).want(25).look().have(1).look().look(),
			wantTarget: 3, wantTold: "[3]", wantReason: v1alpha1.ReasonWantedSize,
		},
		"lowered by hand while nobody was there": {
			s:          pooled(3).want(25).look().restart().have(1).look(),
			wantTarget: 3, wantTold: "[3]", wantHand: lowered, wantReason: v1alpha1.ReasonScalingUp,
		},
		"lowered by hand to the ceiling, when it could not be drained": {
			s: pooled(5).want(45).look().hold(3, 3, 3, 3, 3).
				change(func(s *scene) { s.size.Bounds.Max, s.end, s.why = 2, 5, "x-4 is full" }).want(15).look().have(2).look(),
			wantTarget: 2, wantHand: lowered, wantReason: v1alpha1.ReasonWantedSize,
		},
		"lowered by hand to less than what is drained": {
			s:          pooled(3).want(23).look().hold(9, 9, 5).want(19).look().pass(testDelay).have(1).look(),
			wantTarget: 2, wantTold: "[2]", wantHand: lowered, wantReason: v1alpha1.ReasonScalingUp,
		},
		"a write that failed is no hand": {
			s:          pooled(3).want(25).look().want(45).look().change(func(s *scene) { s.seen = 3 }).have(3).look(),
			wantTarget: 5, wantTold: "[5 5]", wantReason: v1alpha1.ReasonScalingUp,
		},
		"a write that the last leader did not come to": {
			s:          pooled(3).want(25).look().want(45).look().restart().have(3).look(),
			wantTarget: 5, wantTold: "[5 5]", wantReason: v1alpha1.ReasonScalingUp,
		},
		"StatefulSet created again with more": {
			s:          pooled(3).want(25).look().restart().change(func(s *scene) { s.reason = v1alpha1.ReasonStatefulSetNotFound }).have(5).look(),
			wantTarget: 3, wantReplicas: 5, wantHand: replaced, wantReason: v1alpha1.ReasonDraining,
		},
		"StatefulSet created again with less": {
			s:          pooled(3).want(25).look().restart().change(func(s *scene) { s.reason = v1alpha1.ReasonStatefulSetNotFound }).have(1).look(),
			wantTarget: 3, wantTold: "[3]", wantHand: replaced, wantReason: v1alpha1.ReasonScalingUp,
		},
		"C9: adapters without a host do not make it grow": {
			s: pooled(2).want(25).look().change(func(s *scene) { s.adapters[2].absent = "no host"; s.waiting = 5 }).look().
				pass(time.Hour),
			wantTarget: 3, wantTold: "[3]", wantReason: v1alpha1.ReasonScalingUp, wantMessage: "1 of 3 adapters are not there yet: x-2 (no host)",
		},
		"C22: stuck": {
			s: pooled(3).want(25).look().change(func(s *scene) { s.excess, s.holdup = []string{"x-3"}, "x-0 is not ready" }).
				look().pass(stuckAfter),
			wantTarget: 3, wantReason: v1alpha1.ReasonStatefulSetStuck,
			wantMessage: "the StatefulSet was asked for 3 pods, and has not removed x-3: x-0 is not ready; size 3",
		},
		"C22: a drain that is stuck goes on after a restart": {
			s: pooled(3).want(23).look().hold(9, 9, 5).want(19).look().pass(testDelay).
				change(func(s *scene) { s.excess = []string{"x-3"} }).look().pass(stuckAfter).restart().look(),
			wantTarget: 2, wantReplicas: 3, wantReason: v1alpha1.ReasonDraining,
		},
		"C22: not stuck yet": {
			s: pooled(3).want(25).look().change(func(s *scene) { s.missing = []string{"x-2"} }).
				look().pass(stuckAfter - 1),
			wantTarget: 3, wantReason: v1alpha1.ReasonWantedSize,
		},
		"C22: slow, but not stuck": {
			s: pooled(3).want(25).look().change(func(s *scene) { s.missing = []string{"x-1", "x-2"} }).
				look().pass(stuckAfter - 1).change(func(s *scene) { s.missing = []string{"x-2"} }).pass(stuckAfter - 1),
			wantTarget: 3, wantReason: v1alpha1.ReasonWantedSize,
		},
	} {
		t.Run(name, func(t *testing.T) {
			told := ""
			if len(tc.s.told) > 0 {
				told = fmt.Sprint(tc.s.told)
			}
			if tc.wantReplicas == 0 {
				tc.wantReplicas = tc.wantTarget
			}
			message := tc.s.scaled(tc.s.last, tc.s.memory, tc.s.at).Message
			if *tc.s.target != tc.wantTarget || tc.s.replicas != tc.wantReplicas || told != tc.wantTold || tc.s.last.hand != tc.wantHand ||
				tc.s.reason != tc.wantReason || !strings.Contains(message, tc.wantMessage) {
				t.Errorf("it is %s, by hand %d; want %+v", tc.s, tc.s.last.hand, tc)
			}
		})
	}
}
