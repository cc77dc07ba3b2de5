#!/bin/sh
# Runs a test with kernel caches of its own: nothing is left behind on the
# machine, and no test depends on what another one compiled.
set -eu
: "${TEST_TMPDIR:?is set by bazel test}"
export POCL_CACHE_DIR="$TEST_TMPDIR/pocl_cache"
export TIMCL_CACHE_DIR="$TEST_TMPDIR/timcl_cache"
mkdir -p "$POCL_CACHE_DIR" "$TIMCL_CACHE_DIR"
# Read by sanitizers only, see .bazelrc.  What asks for more memory than there
# is gets none, as without them.
export ASAN_OPTIONS="allocator_may_return_null=1"
export LSAN_OPTIONS="suppressions=$PWD/tools/bazel/leaks.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1"
exec "$@"
