//go:build tools

// Package tools pins the programs that the lab and the checks run. It is a module of its own so that users of
// vpod-scheduler do not carry their dependencies.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "honnef.co/go/tools/cmd/staticcheck"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
