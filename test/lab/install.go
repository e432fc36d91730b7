package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// What a user applies.
const (
	schedulerManifests = "manifests/scheduler"
	allManifests       = "manifests/default"
)

// InstallScheduler applies the scheduler's manifests, once.
func (l *Lab) InstallScheduler(ctx context.Context) error {
	return l.install(ctx, schedulerManifests, v1alpha1.SchedulerName)
}

// Install applies all manifests, once.
func (l *Lab) Install(ctx context.Context) error {
	return l.install(ctx, allManifests, v1alpha1.SchedulerName, v1alpha1.ControllerName)
}

// install applies manifests as a user does, but with no replicas of the Deployments: the processes that the lab starts
// stand for their pods, which could not run here and would wait forever.
func (l *Lab) install(ctx context.Context, manifests string, deployments ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.installed, manifests) || slices.Contains(l.installed, allManifests) {
		return nil
	}
	overlay := l.path("install-" + filepath.Base(manifests))
	if err := os.MkdirAll(overlay, 0o700); err != nil {
		return fmt.Errorf("making the overlay: %w", err)
	}
	// The base of a kustomization must be a relative path, counted from the folder itself and not from a link to it.
	from, err := filepath.EvalSymlinks(overlay)
	if err != nil {
		return fmt.Errorf("resolving the overlay: %w", err)
	}
	base, err := filepath.Rel(from, filepath.Join(l.root, manifests))
	if err != nil {
		return fmt.Errorf("finding the manifests: %w", err)
	}
	content := fmt.Sprintf("resources: [%q]\nreplicas:\n", base)
	for _, name := range deployments {
		content += fmt.Sprintf("  - {name: %s, count: 0}\n", name)
	}
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(content), 0o600); err != nil {
		return fmt.Errorf("writing the overlay: %w", err)
	}
	if err := l.Apply(ctx, overlay); err != nil {
		return fmt.Errorf("installing %s: %w", manifests, err)
	}
	l.installed = append(l.installed, manifests)
	return nil
}
