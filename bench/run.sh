#!/bin/bash
# Builds and runs the benchmarks; README.md here says what they print.
set -euo pipefail
caller=$PWD
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: bench/run.sh COMMAND [--runtime intel] [--json FILE] [options]
  peak       multiply-adds, reads and launches: the limits of this machine
  kernels    single operators beside those limits and CLBlast
  networks   compile times, memory and scaling of whole networks
  compare    networks beside ONNX Runtime and OpenVINO
  scaling    what Compile takes for 12 to 10,000 operations
  steps      what every kernel of one network takes: bench/run.sh steps vgg16
  plan       the kernels of one network, and why not others
  fronts     one network through tim::vx and tim::graph in turn
  execute_cost  what an execute of tim::graph costs beyond its run
  prices     what every kernel reaches of the device's peaks, beside what was
             predicted: the rows of ops/launch/prices.h
  eager      calls of tim::values beside their plans, and predicted times
  detection  DetectionPostProcess beside plain C++ on one processor
  calibrate  writes bench/ranges: run it when a network has changed
compare --base FOLDER runs another clone of the repository in the same turns.
COMMAND --help lists its other options. --runtime intel measures on Intel's
CPU runtime, which pip installs into a private virtual environment; kernels,
networks, compare and scaling take --runtime machine,intel and print the figures
of both beside each other.
END
}

build() {
  ./tools/install_deps.sh
  bazel build -c opt --config=werror --noshow_progress "$@"
}

# Runs a program with caches of its own, on the runtime asked for.
start() {
  python3 bench/environment.py "$runtime" "$@"
}

command=${1-}
runtime=machine
base=
quick=()
options=()
[ $# -eq 0 ] || shift
while [ $# -gt 0 ]; do
  case $1 in
    --runtime | --json | --base)
      if [ $# -lt 2 ]; then
        usage >&2
        exit 2
      fi
      ;;&
    --runtime)
      runtime=$2
      shift
      ;;
    --json)
      options+=(--json "$(cd "$caller" && realpath -m -- "$2")")
      shift
      ;;
    --base)
      base=$(cd "$caller" && cd -- "$2" && pwd)
      options+=(--base "$base")
      shift
      ;;
    --quick) quick=(--quick) ;;
    *) options+=("$1") ;;
  esac
  shift
done

case $command in
  peak)
    build //bench:peak
    start bazel-bin/bench/peak "${quick[@]}" "${options[@]}"
    ;;
  kernels)
    build //bench:kernels //bench:clblast/clblast
    python3 bench/kernels.py --runtime "$runtime" "${quick[@]}" "${options[@]}"
    ;;
  networks)
    build //bench:networks/run
    python3 bench/resources.py --runtime "$runtime" "${options[@]}"
    ;;
  compare)
    build //bench:networks/run
    # With the options of that clone, which may not know ours.
    [ -z "$base" ] || (cd "$base" && bazel build -c opt //bench:networks/run)
    python3 bench/compare.py --runtime "$runtime" "${options[@]}"
    ;;
  scaling)
    build //bench:networks/run
    python3 bench/scaling.py --runtime "$runtime" "${options[@]}"
    ;;
  calibrate)
    build //bench:networks/run
    python3 bench/calibrate.py "${options[@]}"
    ;;
  steps | plan | fronts | execute_cost)
    build //bench:networks/run
    start bazel-bin/bench/networks/run "$command" "${options[@]}"
    ;;
  prices)
    build //bench:networks/run
    python3 bench/prices.py --runtime "$runtime" "${options[@]}"
    ;;
  eager)
    build //bench:eager
    start bazel-bin/bench/eager "${quick[@]}" "${options[@]}"
    ;;
  detection)
    build //bench:detection
    start bazel-bin/bench/detection "${quick[@]}" "${options[@]}"
    ;;
  -h | --help)
    usage
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
