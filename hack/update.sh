#!/usr/bin/env bash
# Brings up to date everything that is derived from something else. hack/verify.sh runs it on a copy and compares.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The lab and the benchmarks run the Kubernetes that the scheduler extends: the pins of their modules follow go.mod.
edits=$(awk '
  $1 == "k8s.io/kubernetes" { print "-require=k8s.io/kubernetes@" $2 }
  $2 == "=>" { print "-replace=" $1 "=" $3 "@" $4 }
' go.mod)
# shellcheck disable=SC2086 # one argument a line
for module in hack/tools test/perf; do (cd "$module" && go mod edit $edits); done

# The deep copies and the CRDs follow the types.
go tool -modfile=hack/codegen/go.mod controller-gen object crd paths=./pkg/apis/... \
  output:object:dir=pkg/apis/v1alpha1 output:crd:dir=manifests/crds

# The image is built with the Go that go.mod asks for.
minor=$(awk '$1 == "go" { split($2, v, "."); print v[1] "." v[2] }' go.mod)
sed "s|golang:[0-9.]*|golang:$minor|" hack/image/Dockerfile >hack/image/Dockerfile.new
mv hack/image/Dockerfile.new hack/image/Dockerfile

gofmt -w cmd hack manifests pkg test

# README.md shows what the demo prints.
awk -v output=test/lab/demo/testdata/demo.txt '
  /^<!-- demo end -->$/ { shown = 0 }
  !shown { print }
  /^<!-- demo -->$/ {
    shown = 1
    print "```text"
    while ((getline line < output) > 0) print line
    print "```"
  }
' README.md >README.md.new
mv README.md.new README.md
