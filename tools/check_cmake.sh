#!/bin/bash
# Builds and installs the library with CMake and uses it as clients do; writes
# the outcome of each step as JUnit XML.
#   check_cmake.sh BUILD_FOLDER RESULT.xml
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1" "$(dirname "$2")"
build=$(cd "$1" && pwd)
result=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
source=$PWD
prefix=$build/prefix
consumer=$source/tests/structure/consumer
work=$build/consumers
rm -rf "$prefix" "$work"
mkdir -p "$work"

cases=
failed=0

escape() { sed -e 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' | tr -d '\000-\010\013-\037'; }

# step NAME COMMAND...: runs the command as one test case.
step() {
  local name=$1 log=$work/log
  shift
  echo "cmake: $name"
  if "$@" >"$log" 2>&1 </dev/null; then
    cases+="<testcase classname=\"CMake\" name=\"$name\"/>"
    return 0
  fi
  failed=1
  tail -n 60 "$log"
  cases+="<testcase classname=\"CMake\" name=\"$name\"><failure>"
  cases+="$(tail -n 60 "$log" | escape)</failure></testcase>"
  return 1
}

finish() {
  printf '<testsuites><testsuite name="CMake">%s</testsuite></testsuites>\n' \
    "$cases" >"$result"
  exit "$failed"
}

configure() {
  # -O0 keeps this second build of everything short.
  cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DTIM_VX_ENABLE_TEST=ON -DTIM_VX_BUILD_EXAMPLES=ON \
    -DTIM_VX_ENABLE_PLATFORM=ON -DTIM_VX_ENABLE_40BIT=ON -DCONFIG=YOCTO
}

no_warning() {
  local output
  output=$(configure 2>&1) || return 1
  ! grep -iE 'CMake (deprecation )?warning' <<<"$output"
}

compile() {
  local targets
  targets=$(cmake --build "$build" --target help | sed -n \
    's/^\(tim-cl-sample-[^:]*\|tim-cl-custom-ops\): phony$/\1/p')
  # shellcheck disable=SC2086  # a list of words
  cmake --build "$build" --target tim-vx tim-vx-static $targets
}

# The tests themselves run under Bazel.
one_test() {
  cmake --build "$build" --target structure_include_direction_test &&
    ctest --test-dir "$build" --output-on-failure --no-tests=error \
      -R '^structure/include_direction_test$'
}

installed_names() {
  local file
  for file in lib/libtim-vx.so lib/libtim-vx.a include/tim/vx/ops.h \
    include/tim/vx/context.h lib/cmake/tim-vx/tim-vx-config.cmake; do
    [ -e "$prefix/$file" ] || { echo "$file is not installed"; return 1; }
  done
}

# The exported symbols beside those of the public namespaces.
foreign_symbols() {
  nm -DC --defined-only "$1" | cut -d' ' -f3- |
    grep -vE '^((vtable|VTT|typeinfo( name)?|guard variable) for |(non-)?virtual thunk to |covariant return thunk to )?tim::(vx|transform|lite)::'
}

exports_public_api_only() {
  # Not grep -q, which would end nm by a signal.
  nm -DC "$prefix/lib/libtim-vx.so" |
    grep ' T tim::vx::Context::Create()' > /dev/null ||
    { echo "tim::vx::Context::Create is not exported"; return 1; }
  ! foreign_symbols "$prefix/lib/libtim-vx.so"
}

export_check_sees_a_foreign_symbol() {
  echo 'namespace tim::ir { int Leak() { return 1; } }' >"$work/leak.cc"
  c++ -std=c++17 -shared -fPIC "$work/leak.cc" -o "$work/libleak.so" &&
    foreign_symbols "$work/libleak.so"
}

# use_package NAME TARGET: another project finds the package and runs.
use_package() {
  cmake -S "$consumer" -B "$work/$1" -G Ninja -DTIM_VX_TARGET="$2" \
    -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$work/$1" && "$work/$1/consumer"
}

use_shared_by_name() {
  c++ -std=c++14 "$consumer/consumer.cc" -o "$work/by_name" \
    -I"$prefix/include" -L"$prefix/lib" -ltim-vx &&
    LD_LIBRARY_PATH=$prefix/lib "$work/by_name"
}

use_archive_by_name() {
  c++ -std=c++14 "$consumer/consumer.cc" -o "$work/archive_by_name" \
    -I"$prefix/include" "$prefix/lib/libtim-vx.a" -lOpenCL -lpthread -ldl &&
    "$work/archive_by_name"
}

use_as_subdirectory() {
  cmake -S "$consumer" -B "$work/subdirectory" -G Ninja \
    -DTIM_VX_SOURCE="$source" &&
    cmake --build "$work/subdirectory" --target help | grep '^tim-vx:' > /dev/null
}

export POCL_CACHE_DIR=$work/pocl_cache TIMCL_CACHE_DIR=$work/timcl_cache
mkdir -p "$POCL_CACHE_DIR" "$TIMCL_CACHE_DIR"

step Configures configure || finish
step ConfiguresWithoutWarning no_warning
step Builds compile || finish
step RunsATestThroughCTest one_test
step Installs cmake --install "$build" || finish
step InstallsUnderTimVxNames installed_names
step ExportsPublicApiOnly exports_public_api_only
step ExportCheckSeesAForeignSymbol export_check_sees_a_foreign_symbol
step FindPackageShared use_package shared tim-vx::tim-vx
step FindPackageStatic use_package static tim-vx::tim-vx-static
step LinksByNameShared use_shared_by_name
step LinksByNameArchive use_archive_by_name
step ConfiguresAsSubdirectory use_as_subdirectory
finish
