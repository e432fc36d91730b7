// Command vpod-controller makes adapters virtual nodes and vpods placeholder pods, which vpod-scheduler places, and
// publishes where they went.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// version is set by the linker.
var version = "v0.0.0-dev"

func main() {
	os.Exit(cli.Run(command(ctrl.SetupSignalHandler())))
}

func command(ctx context.Context) *cobra.Command {
	o := newOptions()
	cmd := &cobra.Command{
		Use: "vpod-controller",
		Long: `vpod-controller makes the pods of a StatefulSet adapters: for each it keeps a virtual node, and for each vreplica of a
VPod a placeholder pod, which vpod-scheduler places. It publishes the placements in the status of the VPods.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.version {
				fmt.Fprintln(cmd.OutOrStdout(), "vpod-controller", version)
				return nil
			}
			return run(ctx, o)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func run(ctx context.Context, o *options) error {
	if err := o.apply(); err != nil {
		return err
	}
	logger := klog.Background()
	ctrl.SetLogger(logger)
	logger.Info("Starting", "version", version)
	config, err := o.restConfig()
	if err != nil {
		return err
	}
	mgr, err := newManager(ctx, o, config)
	if err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	if ctx.Err() == nil {
		return errors.New("the manager stopped by itself")
	}
	return nil
}
