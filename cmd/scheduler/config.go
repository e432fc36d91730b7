package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	path, err := serve(config)
	if err != nil {
		return err
	}
	return flags.Set("config", path)
}

// withConnectionFlags carries the flags over that say how to reach the API server: the scheduler ignores them beside
// --config.
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

// serve offers a configuration as a file without writing one: the root file system of the container is read-only. The
// configuration has to fit into a pipe, which holds 64 KiB, and can be read once. The end to read from is no os.File,
// which the garbage collector would close before the scheduler opens it by its path.
func serve(config []byte) (string, error) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return "", err
	}
	writer := os.NewFile(uintptr(ends[1]), "configuration")
	if _, err := writer.Write(config); err != nil {
		return "", err
	}
	if err := writer.Close(); err != nil {
		return "", err
	}
	return fmt.Sprintf("/dev/fd/%d", ends[0]), nil
}
