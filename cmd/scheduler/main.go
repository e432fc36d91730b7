// Command vpod-scheduler is a kube-scheduler with the placement plugins. It runs beside the cluster's own scheduler and
// takes the pods that name one of its profiles.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"vpod.dev/vpod-scheduler/pkg/plugins"
)

func main() {
	var options []app.Option
	for name, factory := range plugins.All() {
		options = append(options, app.WithPlugin(name, factory))
	}
	preferFeatures()
	command := app.NewSchedulerCommand(options...)
	ship(command)
	os.Exit(cli.Run(command))
}
