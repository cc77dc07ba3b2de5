#!/bin/bash
# Builds and runs the whole test suite. The last line counts GoogleTest cases:
# "N passed, N failed" and, where cases were skipped, ", N skipped".
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: tools/test.sh [--runtime NAME] [--long]
  --runtime intel   test on Intel's CPU runtime, which pip installs into a
                    private virtual environment, instead of the machine's
                    own devices
  --runtime mesa    test on Mesa's Rusticl of Debian 13 on the CPU (llvmpipe),
                    unpacked into a private folder; what is known to fail there
                    stands in tests/known_failures
  --runtime mesa22  the same of Debian 12
  --runtime pocl-remote
                    the tests of devices, divided graphs, states and values on
                    two servers of PoCL-Remote on this machine, which are built
                    in a private folder; no other tests
  --long            also the tests that take minutes each
END
}

runtime=machine
bazel_options=(-c opt --config=werror --keep_going --test_output=errors
  --noshow_progress)
while [ $# -gt 0 ]; do
  case $1 in
    --runtime)
      runtime=${2-}
      [ $# -eq 1 ] || shift
      ;;
    --long) export TIMCL_TEST_LONG=1 ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
  shift
done

case $runtime in
  machine | intel | mesa | mesa22 | pocl-remote) ;;
  *)
    usage >&2
    exit 2
    ;;
esac

./tools/install_deps.sh

# What tests compile, see tools/bazel/run_test.sh.
caches=$(bazel info output_base 2>/dev/null || echo "$PWD/build")/kernel_caches
rm -rf "$caches"

if [ "$runtime" = intel ]; then
  folder=$(./tools/intel_runtime.sh)
  bazel_options+=(
    --test_env=OCL_ICD_VENDORS="$folder/vendors"
    --test_env=LD_LIBRARY_PATH="$folder/venv/lib"
    # This runtime keeps no kernels itself.
    --test_env=TIMCL_CACHE_DIR="$caches/timcl"
  )
fi
report_options=()
if [[ $runtime = mesa* ]]; then
  release=trixie
  [ "$runtime" = mesa ] || release=bookworm
  folder=$(./tools/mesa_runtime.sh "$release")
  bazel_options+=(
    --test_env=OCL_ICD_VENDORS="$folder/vendors"
    --test_env=RUSTICL_ENABLE=llvmpipe
    --test_env=TIMCL_TEST_LIBRARIES="$folder/lib"
    --test_env=TIMCL_TEST_KNOWN="$PWD/tests/known_failures/$runtime.txt"
    # Kernels take minutes to compile here.
    --test_timeout=600,1800,3600,7200
  )
  report_options+=(--known "tests/known_failures/$runtime.txt")
fi
targets=(//...)
if [ "$runtime" = pocl-remote ]; then
  ./tools/pocl_remote.sh start
  trap './tools/pocl_remote.sh stop' EXIT
  remote=$(./tools/pocl_remote.sh env)
  eval "$remote"
  for name in OCL_ICD_VENDORS POCL_DEVICES POCL_REMOTE{0,1}_PARAMETERS; do
    bazel_options+=(--test_env="$name=${!name}")
  done
  # One at a time: they share the servers.
  bazel_options+=(--local_test_jobs=1)
  targets=(
    //tests:device/{opencl_device,opencl_stream,queues,remote_device}_test
    //tests:devices/{device_lists,divided_graphs,shared_work}_test
    //tests:{runtime/pooled_memory,values/eager,vx/kept_state,vx/variable}_test
  )
  report_options+=(--known "tests/known_failures/$runtime.txt")
fi
# Models and their inputs are no part of the repository, see style.md 20.
if [ -z "${TIMCL_TEST_DATA-}" ] && [ -d ../shared/data ]; then
  TIMCL_TEST_DATA=$(cd ../shared/data && pwd)
  export TIMCL_TEST_DATA
fi

results=build/test_results
rm -rf "$results"
mkdir -p "$results"
status=0

# Links of another output folder would be taken for part of the tree.
find . -maxdepth 1 -type l -name 'bazel-*' -exec rm {} +
bazel test "${bazel_options[@]}" \
  --build_event_json_file="$results/events.json" "${targets[@]}" || status=$?
reports=()
if [ "$runtime" != pocl-remote ]; then
  reports=("$results"/{commands,cmake,python}.xml)
  # Beside the others, most of which keep one core busy.
  ./tools/check_python.sh build/python "$results/python.xml" &
  python=$!
  ./tools/check_commands.py build/commands "$results/commands.xml" || true
  ./tools/check_cmake.sh build/commands "$results/cmake.xml" || true
  wait "$python" || true
  if [ -n "${TIMCL_TEST_LONG-}" ]; then
    reports+=("$results/commands_clang.xml")
    ./tools/check_commands.py --compiler clang++ build/commands_clang \
      "$results/commands_clang.xml" || true
  fi
fi
python3 tools/test_report.py --bazel-status "$status" \
  --kernel-caches "$caches" --events "$results/events.json" \
  "${report_options[@]}" "${reports[@]}"
