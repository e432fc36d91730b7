#!/usr/bin/env bash
# Runs every check of the code, whichever of them fail, and lists the failed ones at the end.
#
#   hack/verify.sh [CHECK...]    without names: all of them
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The files of this checkout, with those that are not committed yet.
files() {
  git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r file; do
    [[ ! -e $file ]] || printf '%s\n' "$file"
  done
}

check_format() { # gofmt has nothing to change
  local unformatted
  unformatted=$(files '*.go' | xargs gofmt -l) || return
  [[ -z $unformatted ]] || { echo "run 'make generate' for"; echo "$unformatted"; return 1; }
}

check_vet() { # go vet
  local status=0
  go vet ./... || status=1
  (cd test/perf && go vet ./...) || status=1
  (cd hack/alerts && go vet ./...) || status=1
  return $status
}

check_staticcheck() { # staticcheck
  hack/tools/build.sh staticcheck && bin/staticcheck ./...
}

check_tidy() { # go.mod and go.sum of all modules list what is needed, and no more
  local status=0 module
  for module in . hack/tools hack/codegen hack/alerts test/perf; do
    (cd "$module" && go mod tidy -diff) || status=1
  done
  return $status
}

check_generated() { # 'make generate' changes nothing
  local status=0 copy
  copy=$(mktemp -d) || return
  mkdir "$copy/was" "$copy/is" &&
    files | tar cf - -T - | tar xf - -C "$copy/was" &&
    cp -R "$copy/was/." "$copy/is" &&
    make -s -C "$copy/is" generate &&
    diff -ru "$copy/was" "$copy/is" || status=1
  rm -rf "$copy"
  return $status
}

check_rules() { # imports point one way, and identifiers live in one place
  go test ./hack
}

check_alerts() { # the rules of manifests/monitoring are valid, and fire when they should
  (cd hack/alerts && go test ./...)
}

check_scripts() { # shell scripts parse
  local status=0 script
  while IFS= read -r script; do
    bash -n "$script" || status=1
  done < <(files | xargs awk 'FNR == 1 && /^#!.*bash/ { print FILENAME } { nextfile }')
  return $status
}

checks=(format scripts generated rules alerts tidy vet staticcheck)
[[ $# -eq 0 ]] || checks=("$@")
failed=()
for check in "${checks[@]}"; do
  if ! declare -F "check_$check" >/dev/null; then
    echo "verify.sh: no check is called $check" >&2
    exit 2
  fi
  echo "--- $check"
  started=$SECONDS
  if "check_$check"; then
    echo "ok, $((SECONDS - started))s"
  else
    echo "FAILED, $((SECONDS - started))s"
    failed+=("$check")
  fi
done

if [[ ${#failed[@]} -gt 0 ]]; then
  echo "${#failed[@]} of ${#checks[@]} checks failed: ${failed[*]}"
  exit 1
fi
echo "all ${#checks[@]} checks passed"
