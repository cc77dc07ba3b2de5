#!/bin/sh
# Runs a test with kernel caches of its own: nothing is left behind on the
# machine, and no test depends on what another one compiled.
set -eu
: "${TEST_TMPDIR:?is set by bazel test}"
export POCL_CACHE_DIR="$TEST_TMPDIR/pocl_cache"
export TIMCL_CACHE_DIR="$TEST_TMPDIR/timcl_cache"
mkdir -p "$POCL_CACHE_DIR" "$TIMCL_CACHE_DIR"
exec "$@"
