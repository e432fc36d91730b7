# `make` alone lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Every target keeps all cores busy by itself.
.NOTPARALLEL:
.PHONY: help build bin/vpod-scheduler bin/vpod-controller bin/vpod-lab tools lab demo test test-unit test-integration verify soak bench \
	bench-short bench-plugins generate image clean distclean

# The one place where versions come from: ours from the tags of git, that of the scheduler we extend from go.mod.
VERSION ?= $(or $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null),v0.0.0-dev)
KUBERNETES := $(shell awk '$$1 == "k8s.io/kubernetes" { print $$2 }' go.mod)
# gitVersion is what the scheduler writes to its log and metrics and calls itself to the API server. It has to begin with
# the version of Kubernetes: feature gates and metrics compare it with the versions that they changed in.
LDFLAGS := -X main.version=$(VERSION) -X k8s.io/component-base/version.gitVersion=$(KUBERNETES)+vpod-scheduler-$(VERSION)

# What the lab starts, beside our own scheduler.
LAB := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok

IMAGE ?= vpod-scheduler
# A tag may not hold the + that a version may.
IMAGE_TAG ?= $(subst +,-,$(VERSION))
CONTAINER_TOOL ?= docker

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: bin/vpod-scheduler bin/vpod-controller bin/vpod-lab ## Build our programs into bin/.

# Go itself knows whether anything has to be done. -buildvcs=false: the version above says it, and a checkout that
# somebody else owns, as containers have it, builds as well.
bin/vpod-scheduler:
	go build -buildvcs=false -ldflags '$(LDFLAGS)' -o $@ ./cmd/scheduler

bin/vpod-controller:
	go build -buildvcs=false -ldflags '$(LDFLAGS)' -o $@ ./cmd/controller

bin/vpod-lab:
	go build -buildvcs=false -ldflags '$(LDFLAGS)' -o $@ ./cmd/vpod-lab

tools: ## Build the control plane of the lab into bin/: about 15 minutes the first time, on two cores.
	hack/tools/build.sh $(LAB)

lab: tools build ## Run the lab until Ctrl-C: a control plane with simulated hosts, adapters and our scheduler.
	bin/vpod-lab

demo: tools build ## Show the scheduler at work in a lab of its own, and check what it does.
	bin/vpod-lab demo

test: test-unit test-integration ## Run all tests.

test-unit: ## Run the unit tests, with the race detector.
	go test -race ./cmd/... ./pkg/... ./manifests/... ./hack/...

test-integration: tools build ## Run the tests on labs.
	@# Built side by side, but run one after the other: each starts labs that keep all cores busy.
	go test -run '^$$' ./test/... >/dev/null
	go test -p 1 -timeout 45m ./test/...

# SOAK_SEED reproduces a run, which prints its seed; without one it is the test's own.
SOAK_DURATION ?= 30m
SOAK_SEED ?=

soak: tools build ## Let random faults loose on a lab for SOAK_DURATION, and check the promises after each.
	go test -count=1 -timeout 3h -v -run TestSoak ./test/soak -args -soak.duration=$(SOAK_DURATION) $(if $(SOAK_SEED),-soak.seed=$(SOAK_SEED))

verify: ## Run every check of the code, and list those that fail.
	hack/verify.sh

# Nothing else should run meanwhile; what counts are the ratios within one run. BENCH is a regular expression for the
# workloads, and BENCHFLAGS are for the harness: -perf-cpuprofile writes profiles, -perf-scheduling-label-filter=smoke
# only sees whether all works. The API server and its objects are in the same process: the garbage of all of it is collected
# less often than by default, so that what they hold costs the scheduler less.
BENCH ?= .
BENCHFLAGS ?=
bench = hack/tools/build.sh etcd && mkdir -p _artifacts/bench && cd test/perf && \
	PATH="$(CURDIR)/bin:$$PATH" GOGC=400 BENCH_TABLE="$(CURDIR)/_artifacts/bench/table.md" \
	  go test -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 2h $(1) . -args -data-items-dir "$(CURDIR)/_artifacts/bench" $(BENCHFLAGS) >"$(CURDIR)/_artifacts/bench/log" || \
	  { tail -n 40 "$(CURDIR)/_artifacts/bench/log"; exit 1; }; cat "$(CURDIR)/_artifacts/bench/table.md"

bench: ## Measure placements beside kube-scheduler's own rules, at 100 to 5,000 adapters: about 20 minutes.
	@$(call bench)

bench-short: ## The part of it with 1,000 adapters: about 3 minutes.
	@$(call bench,-short)

bench-plugins: ## Measure the plugins alone, without an API server.
	go test -run '^$$' -bench . ./pkg/placement ./pkg/snapshot ./pkg/plugins

generate: ## Bring up to date what is derived from something else, formatting included.
	hack/update.sh

image: ## Build the image: IMAGE, IMAGE_TAG and CONTAINER_TOOL say what and with what.
	$(CONTAINER_TOOL) build -f hack/image/Dockerfile --build-arg VERSION=$(VERSION) -t $(IMAGE):$(IMAGE_TAG) .

clean: ## Remove our programs and what tests left behind.
	rm -rf bin/vpod-scheduler bin/vpod-controller bin/vpod-lab _artifacts

distclean: clean ## Remove the control plane of the lab, too; it takes minutes to build again.
	rm -rf bin
