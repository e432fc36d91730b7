#!/usr/bin/env bash
# Builds the programs that the lab and the checks run into bin/, each only when it is missing or when the module in this
# folder, which pins their versions, has changed since.
#
#   hack/tools/build.sh [NAME...]    without names: all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
bin=../../bin
mkdir -p "$bin"

all=(etcd kube-apiserver kube-controller-manager kubectl kwok kube-scheduler staticcheck)

package() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    kwok) echo sigs.k8s.io/kwok/cmd/kwok ;;
    staticcheck) echo honnef.co/go/tools/cmd/staticcheck ;;
    kube*) echo "k8s.io/kubernetes/cmd/$1" ;;
  esac
}

# Kubernetes' programs learn their version at link time, and some refuse to work together without one.
version_flags() {
  local version minor
  version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
  minor=${version#v*.}
  printf -- '-X k8s.io/component-base/version.%s ' \
    "gitVersion=$version" "gitMajor=${version:1:1}" "gitMinor=${minor%%.*}"
}

pins=$(cat go.mod go.sum | git hash-object --stdin)
names=("$@")
[[ $# -gt 0 ]] || names=("${all[@]}")

todo=()
for name in "${names[@]}"; do
  if [[ " ${all[*]} " != *" $name "* ]]; then
    echo "build.sh: no program is called $name; there are: ${all[*]}" >&2
    exit 2
  fi
  [[ -x $bin/$name && $(cat "$bin/.$name.pins" 2>/dev/null) == "$pins" ]] || todo+=("$name")
done

done=0
# ${todo[@]+...}: to bash 3.2, which macOS has, an empty array is an unset variable.
for name in ${todo[@]+"${todo[@]}"}; do
  done=$((done + 1))
  printf 'building %s (%d of %d, takes minutes the first time) ... ' "$name" "$done" "${#todo[@]}"
  started=$SECONDS
  flags=
  [[ $name != kube* ]] || flags=$(version_flags)
  go build -ldflags "$flags" -o "$bin/$name" "$(package "$name")"
  echo "$pins" >"$bin/.$name.pins"
  echo "$((SECONDS - started))s"
done
