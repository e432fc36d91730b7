package lab

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CreateNamespace creates a namespace in which pods can be created.
func (l *Lab) CreateNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := l.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	if !l.hasServiceAccounts() {
		return nil
	}
	return Wait(ctx, "namespace "+name+" has its service account", func(ctx context.Context) error {
		_, err := l.client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// CreateNode creates the node with the status and the taints that it carries, and no others.
func (l *Lab) CreateNode(ctx context.Context, node *corev1.Node) error {
	nodes := l.client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating node %s: %w", node.Name, err)
	}
	// Admission taints every new node as not ready. The controller that would take the taint off again does not run
	// in every lab. A patch, because kwok and the controllers write to the same node.
	return l.patchNode(ctx, node.Name, map[string]any{"spec": map[string]any{"taints": node.Spec.Taints}})
}

// Cordon takes a node out of use for new pods, or back into use.
func (l *Lab) Cordon(ctx context.Context, name string, cordoned bool) error {
	return l.patchNode(ctx, name, map[string]any{"spec": map[string]any{"unschedulable": cordoned}})
}

func (l *Lab) patchNode(ctx context.Context, name string, patch map[string]any, subresources ...string) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding a patch of node %s: %w", name, err)
	}
	_, err = l.client.CoreV1().Nodes().Patch(
		ctx, name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return fmt.Errorf("patching node %s: %w", name, err)
	}
	return nil
}
