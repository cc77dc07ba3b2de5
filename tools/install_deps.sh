#!/bin/sh
# Installs the Debian packages that building and testing need. Does nothing,
# and says nothing, where all of them are installed.
set -eu

packages="
  g++ clang clang-format lld cmake ninja-build pkgconf dpkg-dev locales
  python3 python3-dev python3-venv
  bazel-bootstrap bazel-platforms bazel-rules-cc bazel-rules-java
  bazel-rules-proto bazel-skylib
  ocl-icd-opencl-dev opencl-headers opencl-clhpp-headers pocl-opencl-icd
  libxxhash-dev libflatbuffers-dev flatbuffers-compiler
  libcli11-dev nlohmann-json3-dev libstb-dev
  libbenchmark-dev libclblast-dev
  libgtest-dev libgmock-dev oclgrind
  libonnx-dev libprotobuf-dev libonnx-testdata
  libdnnl-dev
"

missing=
for package in $packages; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  case $state in
    ii*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing"
sudo=
if [ "$(id -u)" -ne 0 ]; then sudo="sudo -E"; fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # lists of words
if ! { $sudo apt-get update -q && $sudo apt-get install -q -y \
       --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
  cat "$log" >&2
  echo "install_deps.sh: the packages could not be installed" >&2
  exit 1
fi
