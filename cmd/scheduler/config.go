package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/manifests"
)

// ship makes the scheduler's command our own: its name and version, and a run without --config uses the configuration
// inside the binary. The scheduler's own default would act as default-scheduler, and bind every pod of the cluster.
func ship(command *cobra.Command) {
	command.Use = "vpod-scheduler"
	command.Long = `vpod-scheduler assigns vreplicas to adapters. It is a kube-scheduler with placement plugins, and runs beside the
cluster's own scheduler: it takes the pods whose schedulerName is one of its profiles.

Without --config it uses the configuration that ships inside it.`

	before, run := command.PersistentPreRunE, command.RunE
	command.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := configure(cmd.Flags()); err != nil {
			return err
		}
		return before(cmd, args)
	}
	command.RunE = func(cmd *cobra.Command, args []string) error {
		if printVersion(cmd.OutOrStdout(), cmd.Flags()) {
			return nil
		}
		return run(cmd, args)
	}
}

func configure(flags *pflag.FlagSet) error {
	if path, err := flags.GetString("config"); err != nil || path != "" {
		return errors.Join(err, useOwn(flags, path))
	}
	if err := useShipped(flags); err != nil {
		return fmt.Errorf("using the configuration inside the binary: %w", err)
	}
	return nil
}

func useShipped(flags *pflag.FlagSet) error {
	config, err := withConnectionFlags(manifests.SchedulerConfig, flags)
	if err != nil {
		return err
	}
	return serveAs(flags, config)
}

// connectionFlags say how to reach the API server. The scheduler ignores them beside --config.
var connectionFlags = []string{"kubeconfig", "kube-api-content-type", "kube-api-qps", "kube-api-burst"}

// withConnectionFlags carries those flags over into a configuration.
func withConnectionFlags(config []byte, flags *pflag.FlagSet) ([]byte, error) {
	var c configv1.KubeSchedulerConfiguration
	if err := yaml.UnmarshalStrict(config, &c); err != nil {
		return nil, err
	}
	var err error
	set := func(name string, use func() error) {
		if err == nil && flags.Changed(name) {
			err = use()
		}
	}
	connection := &c.ClientConnection
	set("kubeconfig", func() error {
		connection.Kubeconfig, err = flags.GetString("kubeconfig")
		return err
	})
	set("kube-api-content-type", func() error {
		connection.ContentType, err = flags.GetString("kube-api-content-type")
		return err
	})
	set("kube-api-qps", func() error {
		connection.QPS, err = flags.GetFloat32("kube-api-qps")
		return err
	})
	set("kube-api-burst", func() error {
		connection.Burst, err = flags.GetInt32("kube-api-burst")
		return err
	})
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(&c)
}

// serveAs makes a configuration the one of --config, without writing a file: the root file system of the container is
// read-only. It can be read once. The end to read from is no os.File, which the garbage collector would close before the
// scheduler opens it by its path.
func serveAs(flags *pflag.FlagSet, config []byte) error {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return fmt.Errorf("making a pipe for the configuration: %w", err)
	}
	writer := os.NewFile(uintptr(ends[1]), "configuration")
	go func() { // A pipe holds 64 KiB, and a configuration may be longer.
		defer writer.Close()
		if _, err := writer.Write(config); err != nil {
			klog.Background().Error(err, "Handing over the configuration failed")
		}
	}()
	return flags.Set("config", fmt.Sprintf("/dev/fd/%d", ends[0]))
}
