package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/lab/demo"
)

const invitation = `The lab runs: %[1]d simulated hosts in 3 zones, and on each an adapter of the pool "%[2]s" with room for %[3]d vreplicas.

  export KUBECONFIG=%[4]s

Then try, for example:

  bin/kubectl get nodes -L topology.kubernetes.io/zone,vpod.dev/host
  bin/kubectl apply -f %[5]s        # a vpod of 12 vreplicas
  bin/kubectl -n %[6]s get pods -o wide --sort-by=.spec.nodeName
  bin/kubectl cordon %[2]s-1
  bin/kubectl -n %[6]s scale replicaset orders --replicas=70
  bin/kubectl -n %[6]s events --types=Warning        # why some of them wait

The logs are in %[7]s. Ctrl-C ends the lab and removes it.
`

// stay says how to use the lab and keeps it until the user ends it.
func stay(ctx context.Context, l *lab.Lab, out io.Writer) error {
	vpod := lab.VPod{Namespace: demo.Namespace, Name: "orders", Pool: demo.Pool, Replicas: 12}
	content, err := yaml.Marshal(vpod.ReplicaSet())
	if err != nil {
		return fmt.Errorf("encoding the sample: %w", err)
	}
	sample := filepath.Join(l.Dir(), vpod.Name+".yaml")
	if err := os.WriteFile(sample, content, 0o600); err != nil {
		return fmt.Errorf("writing the sample: %w", err)
	}
	_, err = fmt.Fprintf(out, invitation,
		demo.Adapters, demo.Pool, demo.Capacity, l.Kubeconfig(), sample, demo.Namespace, l.Dir())
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
