package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/lab/demo"
)

var invitation = template.Must(template.New("invitation").Parse(
	`The lab runs: {{.Hosts}} simulated hosts in {{.Zones}} zones, and on {{.Adapters}} of them the pods of a StatefulSet, which are the adapters
of the AdapterPool "{{.Pool}}", with room for {{.Capacity}} vreplicas each.

  export KUBECONFIG={{.Kubeconfig}}

Then try, for example:

  bin/kubectl get nodes -L {{.ZoneLabel}},{{.HostLabel}}
  bin/kubectl apply -f {{.Sample}}        # a VPod of {{.VPod.Spec.Replicas}} vreplicas
  bin/kubectl -n {{.VPod.Namespace}} get vpods
  bin/kubectl -n {{.VPod.Namespace}} get pods -o wide --sort-by=.spec.nodeName
  bin/kubectl cordon host-2                # its adapter follows
  bin/kubectl -n {{.VPod.Namespace}} scale vpod {{.VPod.Name}} --replicas=70
  bin/kubectl -n {{.VPod.Namespace}} describe vpod {{.VPod.Name}}        # why some of them wait
  bin/kubectl -n {{.Pool}} scale statefulset {{.Pool}} --replicas=4

The logs are in {{.Dir}}. Ctrl-C ends the lab and removes it.
`))

// stay says how to use the lab and keeps it until the user ends it.
func stay(ctx context.Context, l *lab.Lab, out io.Writer) error {
	vpod := demo.VPod("orders", 12)
	content, err := yaml.Marshal(vpod)
	if err != nil {
		return fmt.Errorf("encoding the sample: %w", err)
	}
	sample := filepath.Join(l.Dir(), vpod.Name+".yaml")
	if err := os.WriteFile(sample, content, 0o600); err != nil {
		return fmt.Errorf("writing the sample: %w", err)
	}
	err = invitation.Execute(out, map[string]any{
		"Adapters": demo.Adapters, "Hosts": demo.Hosts, "Zones": len(demo.Zones), "Pool": demo.Pool, "Capacity": demo.Capacity,
		"Kubeconfig": l.Kubeconfig(), "Dir": l.Dir(), "Sample": sample, "VPod": vpod,
		"ZoneLabel": corev1.LabelTopologyZone, "HostLabel": v1alpha1.LabelHost,
	})
	if err != nil {
		return fmt.Errorf("saying how to use the lab: %w", err)
	}
	<-ctx.Done()
	return nil
}
