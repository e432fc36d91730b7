package lab

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StopHost lets a host fall silent, as if its machine were dead: nobody simulates its kubelet any more, so heartbeats
// cease, and after the lab's NodeGrace kube-controller-manager calls it unreachable.
func (l *Lab) StopHost(ctx context.Context, name string) error {
	return l.patchNode(ctx, name, map[string]any{"metadata": map[string]any{"labels": map[string]any{kubeletLabel: nil}}})
}

// StartHost brings a host that was stopped back.
func (l *Lab) StartHost(ctx context.Context, name string) error {
	return l.patchNode(ctx, name, map[string]any{"metadata": map[string]any{"labels": map[string]any{kubeletLabel: simulated}}})
}

// WaitForHost waits until a node is ready, or is called unreachable.
func (l *Lab) WaitForHost(ctx context.Context, name string, ready bool) error {
	return Wait(ctx, fmt.Sprintf("ready %t of node %s", ready, name), func(ctx context.Context) error {
		node, err := l.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && (c.Status == corev1.ConditionTrue) == ready {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %+v", node.Status.Conditions)
	})
}
