#!/bin/sh
# Builds the handwritten-digits sample and runs it on the default device.
set -eu
cd "$(dirname "$0")/.."
./tools/install_deps.sh
bazel build -c opt --config=werror //samples/digits
exec bazel-bin/samples/digits/digits "$@"
