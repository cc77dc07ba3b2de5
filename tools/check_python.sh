#!/bin/bash
# Builds the Python package against the tree that Bazel has packed (//:sdk), as
# users do, and runs its tests. Writes JUnit XML. Where PyPI cannot be reached
# its one case is skipped, with the reason.
#   check_python.sh FOLDER RESULT.xml    FOLDER: to work in
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1" "$(dirname "$2")"
work=$(cd "$1" && pwd)
result=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
log=$work/log
rm -rf "$work/sdk" "$work/venv"
mkdir -p "$work/sdk"

escape() { sed -e 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' | tr -d '\000-\010\013-\037'; }

# report CASE KIND: ends with one case, `skipped` or `failure`, and the log.
report() {
  local text
  text=$(tail -n 30 "$log" | escape)
  printf '<testsuites><testsuite name="Python"><testcase classname="Python" name="%s" time="%d"><%s>%s</%s></testcase></testsuite></testsuites>\n' \
    "$1" "$SECONDS" "$2" "$text" "$2" >"$result"
  cat "$log"
  [ "$2" = skipped ]
  exit
}

echo "python: the package"
# Bazel's run has packed it; a missing one is made.
archive=$(echo bazel-bin/tools/sdk/tim-cl-*.tar.gz)
if [ ! -e "$archive" ]; then
  bazel build -c opt --config=werror //:sdk >"$log" 2>&1 || report Packs failure
  archive=$(echo bazel-bin/tools/sdk/tim-cl-*.tar.gz)
fi
tar -xzf "$archive" -C "$work/sdk" --strip-components=1 || exit 1

python3 -m venv "$work/venv" >"$log" 2>&1 || report MakesAnEnvironment failure
# What the build takes from PyPI by itself later; here its absence is seen.
if ! timeout 120 "$work/venv/bin/pip" install -q --retries 1 --timeout 20 \
  scikit-build-core nanobind numpy pytest >"$log" 2>&1; then
  echo "PyPI cannot be reached: the package is not built, its tests do not run" \
    >>"$log"
  report Builds skipped
fi
CMAKE_PREFIX_PATH=$work/sdk "$work/venv/bin/pip" install -q . >"$log" 2>&1 ||
  report Installs failure

mkdir -p -m 700 "$work/timcl_cache" "$work/pocl_cache"
export TIMCL_CACHE_DIR=$work/timcl_cache POCL_CACHE_DIR=$work/pocl_cache
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider \
  --junitxml="$result" python/tests
