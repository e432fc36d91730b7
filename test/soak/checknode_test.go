package soak

import "testing"

// What is to take the place of a placeholder that moves does not wait for an adapter.
func TestSparePlaceholdersDoNotWait(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas int32
		want     int64
	}{
		"one waits":          {replicas: 3, want: 1},
		"more are to come":   {replicas: 5, want: 1},
		"one is spare":       {replicas: 2},
		"one is too many":    {replicas: 1},
		"none are asked for": {replicas: 0},
	} {
		w := testWorld()
		w.waits(0)
		w.vpods["x"].Spec.Replicas = &tc.replicas
		if got := w.waiting(w.pools["p"]); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
		guest := testPlaceholder(0, "")
		guest.OwnerReferences = nil
		w.pods = append(w.pods, guest)
		if got := w.waiting(w.pools["p"]); got != tc.want+1 {
			t.Errorf("%s: %d with one that has no VPod, want %d", name, got, tc.want+1)
		}
	}
}
