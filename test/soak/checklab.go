package soak

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checkSurroundings says what others than the programs under test have not finished yet.
func (w *world) checkSurroundings(f *findings) {
	for _, s := range w.sets {
		if s.Status.ObservedGeneration != s.Generation || s.Status.Replicas < *s.Spec.Replicas {
			f.add("lab", "StatefulSet %s has %d of %d pods%s", key(s), s.Status.Replicas, *s.Spec.Replicas, w.notOf(s))
		}
	}
	for _, p := range w.pods {
		if isPlaceholder(p) {
			continue
		}
		host := w.nodes[p.Spec.NodeName]
		switch {
		case host == nil && podCondition(p, corev1.PodScheduled) == nil:
			f.add("lab", "pod %s waits for kube-scheduler", key(p))
		case isNodeReady(host) && p.DeletionTimestamp != nil:
			f.add("lab", "pod %s on a host that is ready is not gone", key(p))
		case isNodeReady(host) && p.Status.Phase != corev1.PodRunning:
			f.add("lab", "pod %s on a host that is ready does not run", key(p))
		case host != nil && isVirtual(host):
			f.add("G8", "pod %s, which is no placeholder, is on virtual node %s", key(p), host.Name)
		}
	}
}

// notOf names the pods that are in the way of those of a StatefulSet: they have their names, and another owner.
func (w *world) notOf(s *appsv1.StatefulSet) string {
	var words strings.Builder
	for _, p := range w.pods {
		if name, _, ok := split(p.Name); ok && name == s.Name && p.Namespace == s.Namespace && !metav1.IsControlledBy(p, s) {
			fmt.Fprintf(&words, "; %s belongs to %v, deleted: %t", p.Name, p.OwnerReferences, p.DeletionTimestamp != nil)
		}
	}
	return words.String()
}
