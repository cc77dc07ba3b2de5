#!/bin/sh
# Runs a test with one folder of compiled kernels for all tests of this working
# tree. PoCL finds them by what they are made of, its own version included, so
# that no test depends on what another one compiled; tools/test.sh empties it.
# TIM-CL's cache is off: it asks for a program's binary, for which PoCL compiles
# every kernel once more. What tests caches brings its own. TIMCL_TEST_LIBRARIES
# names a folder for with_libraries.sh, where a driver needs libraries other than
# the machine's.
set -eu
: "${TEST_TMPDIR:?is set by bazel test}"
caches=${TEST_SRCDIR%%/execroot/*}/kernel_caches
mkdir -p "$caches/pocl" 2>/dev/null || caches=$TEST_TMPDIR
export POCL_CACHE_DIR="$caches/pocl"
export MESA_SHADER_CACHE_DIR="$caches/mesa"
export TIMCL_CACHE_DIR="${TIMCL_CACHE_DIR:-off}"
mkdir -p "$POCL_CACHE_DIR" "$MESA_SHADER_CACHE_DIR"
# Read by sanitizers only, see .bazelrc.  What asks for more memory than there
# is gets none, as without them.
export ASAN_OPTIONS="allocator_may_return_null=1"
export LSAN_OPTIONS="suppressions=$PWD/tools/bazel/leaks.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1"
if [ -n "${TIMCL_TEST_LIBRARIES-}" ]; then
  set -- "$PWD/tools/bazel/with_libraries.sh" "$TIMCL_TEST_LIBRARIES" "$@"
fi

# Cases that are known to end their process (tests/known_failures) are left out,
# since no other would run behind them, and tried one by one at the end.
ending=
if [ -n "${TIMCL_TEST_KNOWN-}" ] && [ -z "${GTEST_FILTER-}" ]; then
  ending=$(sed -n "s|^$TEST_TARGET \([^ ]*\) ends the process.*|\1|p" \
    "$TIMCL_TEST_KNOWN")
fi
[ -n "$ending" ] || exec "$@"
status=0
# shellcheck disable=SC2086  # a list of words
GTEST_FILTER="-$(echo $ending | tr ' ' ':')" "$@" || status=$?
[ "${TEST_SHARD_INDEX:-0}" -eq 0 ] || exit "$status"
unset XML_OUTPUT_FILE GTEST_OUTPUT TEST_TOTAL_SHARDS TEST_SHARD_INDEX \
  TEST_SHARD_STATUS_FILE
for case in $ending; do
  if GTEST_FILTER=$case "$@"; then
    echo "$case passes: remove its line from $TIMCL_TEST_KNOWN" >&2
    status=1
  fi
done
exit "$status"
