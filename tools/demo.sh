#!/bin/sh
# Builds the samples of handwritten digits and of detection and runs them on
# the default device. What detection writes is in build/demo/.
set -eu
cd "$(dirname "$0")/.."
./tools/install_deps.sh
bazel build -c opt --config=werror //samples/digits //samples/detection
bazel-bin/samples/digits/digits "$@"
detection=bazel-bin/samples/detection/detection
folder=build/demo
mkdir -p "$folder"
"$detection" --draw "$folder" --seed 424242 --count 3
"$detection" "$folder/00002.png" --png "$folder/detections.png" \
  --json "$folder/detections.json"
exec "$detection" --evaluate
