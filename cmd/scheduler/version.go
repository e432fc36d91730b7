package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// version is our own, set by the linker.
var version = "v0.0.0-dev"

// scheduler is the module whose scheduler we extend.
const scheduler = "k8s.io/kubernetes"

// printVersion answers --version, which the scheduler below would answer with the version of Kubernetes alone.
func printVersion(out io.Writer, flags *pflag.FlagSet) (printed bool) {
	flag := flags.Lookup("version")
	if flag == nil || !flag.Changed || flag.Value.String() == "false" {
		return false
	}
	fmt.Fprintf(out, "vpod-scheduler %s (Kubernetes %s)\n", version, kubernetesVersion())
	return true
}

func kubernetesVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	for _, module := range info.Deps {
		if module.Path == scheduler {
			return module.Version
		}
	}
	return "of unknown version"
}
