#!/bin/bash
# Takes the CMake build that check_commands.py made of README.md's lines through
# what README.md does not do: all options, tests, packages, every way to use the
# installed tree. Writes the outcome of each step as JUnit XML.
#   check_cmake.sh FOLDER RESULT.xml    FOLDER as given to check_commands.py
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1/tree/build" "$(dirname "$2")"
source=$(cd "$1/tree" && pwd)
build=$source/build
result=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
work=$(cd "$1" && pwd)/clients
prefix=$work/prefix
moved=$work/moved
client=tests/sdk/consumer
operators=tests/sdk/packaged_operator
models=tests/sdk/model_client
rm -rf "$work"
mkdir -p "$work"

# The build goes on to take them, where check_commands.py has set it up so.
objects=$(dirname "$source")/objects.txt
if [ -e "$objects" ]; then export TIMCL_BAZEL_OBJECTS=$objects; fi

cases=
failed=0

escape() { sed -e 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' | tr -d '\000-\010\013-\037'; }

# step NAME COMMAND...: runs the command as one test case.
step() {
  local name=$1 log=$work/log start=$SECONDS status=0
  shift
  echo "cmake: $name"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  cases+="<testcase classname=\"CMake\" name=\"$name\""
  cases+=" time=\"$((SECONDS - start))\">"
  if [ "$status" -eq 0 ]; then
    cases+="</testcase>"
    return 0
  fi
  failed=1
  tail -n 60 "$log"
  cases+="<failure>"
  cases+="$(tail -n 60 "$log" | escape)</failure></testcase>"
  return 1
}

finish() {
  printf '<testsuites><testsuite name="CMake">%s</testsuite></testsuites>\n' \
    "$cases" >"$result"
  exit "$failed"
}

configure() {
  cmake -S "$source" -B "$build" -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DTIM_VX_ENABLE_TEST=ON \
    -DTIM_VX_BUILD_EXAMPLES=ON -DTIM_VX_ENABLE_PLATFORM=ON \
    -DTIM_VX_ENABLE_40BIT=ON -DCONFIG=YOCTO \
    -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON  # cpack would build every test
}

no_warning() {
  local output
  output=$(configure 2>&1) || return 1
  ! grep -iE 'CMake (deprecation )?warning' <<<"$output"
}

compile() {
  local targets
  targets=$(cmake --build "$build" --target help | sed -nE \
    's/^\.\.\. (tim-vx|tim-vx-static|tim-cl-(sample|custom-ops|models|tool).*)$/\1/p')
  # shellcheck disable=SC2086  # a list of words
  without_warnings cmake --build "$build" --target $targets
}

# Runs a command whose output may hold no warning.
without_warnings() {
  local output
  output=$("$@" 2>&1) || { echo "$output" && return 1; }
  echo "$output"
  ! grep -E 'warning:' <<<"$output" >/dev/null
}

# The tests themselves run under Bazel.
one_test() {
  cmake --build "$build" --target structure_include_direction_test &&
    ctest --test-dir "$build" --output-on-failure --no-tests=error \
      -R '^structure/include_direction_test$'
}

check() { ./tools/sdk/check_tree.sh "$@"; }

move_tree() { rm -rf "$moved" && mv "$prefix" "$moved"; }

# use TREE PROJECT COMPILER STANDARD LINK METHOD, see use_tree.sh
use() { ./tools/sdk/use_tree.sh "$@" "$work"; }

pack() {
  rm -rf "$work/packages" &&
    cpack --config "$build/CPackConfig.cmake" -G "TGZ;DEB" -B "$work/packages" &&
    mkdir "$work/tar" "$work/deb" &&
    tar -xzf "$work"/packages/tim-cl-*.tar.gz -C "$work/tar" &&
    dpkg-deb -x "$work"/packages/tim-cl_*.deb "$work/deb"
}

deb_depends_on_its_libraries() {
  local depends
  depends=$(dpkg-deb -f "$work"/packages/tim-cl_*.deb Depends)
  echo "Depends: $depends"
  grep -E 'libopencl1|libOpenCL' <<<"$depends" >/dev/null &&
    grep -F 'libstdc++6' <<<"$depends" >/dev/null
}

# The objects are there already.
build_archive_only() {
  cmake -S "$source" -B "$build" -DBUILD_SHARED_LIBS=OFF &&
    compile &&
    cmake --install "$build" --prefix "$work/archive_only" &&
    ! find "$work/archive_only" -name '*.so*' | grep . &&
    use "$work/archive_only" "$client" g++ 17 static tim-vx
}

use_as_subdirectory() {
  cmake -S "$client" -B "$work/subdirectory" -G Ninja \
    -DTIM_CL_SOURCE="$source" -DTIM_CL_TARGET=tim-vx &&
    cmake --build "$work/subdirectory" --target help | grep '^tim-vx:' > /dev/null
}

export POCL_CACHE_DIR=$work/pocl_cache TIMCL_CACHE_DIR=$work/timcl_cache
mkdir -p "$POCL_CACHE_DIR" "$TIMCL_CACHE_DIR"
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

step Configures configure || finish
step ConfiguresWithoutWarning no_warning
step Builds compile || finish
step RunsATestThroughCTest one_test
step Installs cmake --install "$build" || finish
step InstallsTheListedFiles check files "$prefix"
step LibraryExportsPublicApiOnly check exports "$prefix/lib/libtim-cl.so"
step ArchiveExportsPublicApiOnly check exports "$prefix/lib/libtim-cl.a"
step LibraryNeedsTheSystemOnly check needed "$prefix/lib/libtim-cl.so"
step ModelsExportPublicApiOnly check exports "$prefix/lib/libtim-cl-models.so"
step ArchiveOfModelsExportsIt check exports "$prefix/lib/libtim-cl-models.a"
step ModelsNeedTheSystemOnly check needed "$prefix/lib/libtim-cl-models.so"
step NoFileNamesAFolderOfTheBuild check no_text "$prefix" "$source" "$build"
step TreeMoves move_tree || finish
# Every compiler, standard, link and method, but not every combination.
step FindsTimClShared use "$moved" "$client" g++ 14 shared tim-cl
step FindsTimClStatic use "$moved" "$client" clang++ 20 static tim-cl
step FindsTimVxShared use "$moved" "$client" clang++ 14 shared tim-vx
step FindsTimVxStatic use "$moved" "$client" g++ 20 static tim-vx
step PkgConfigShared use "$moved" "$client" g++ 20 shared tim-vx.pc
step PkgConfigStatic use "$moved" "$client" clang++ 14 static tim-cl.pc
step LinksByPathShared use "$moved" "$client" clang++ 20 shared path
step LinksByPathStatic use "$moved" "$client" g++ 14 static path
step PkgConfigOfCustomOperators use "$moved" "$operators" g++ 14 shared \
  tim-cl-custom-ops.pc
step PkgConfigOfTheirArchive use "$moved" "$operators" clang++ 20 static \
  tim-cl-custom-ops.pc
step FindsModelsShared use "$moved" "$models" g++ 14 shared tim-cl-models
step PkgConfigOfModelsArchive use "$moved" "$models" clang++ 20 static \
  tim-cl-models.pc
step AppShared use "$moved" samples/sdk_app clang++ 14 shared tim-vx
step AppStatic use "$moved" samples/sdk_app g++ 20 static tim-cl
step AppByPkgConfig use "$moved" samples/sdk_app g++ 14 shared tim-cl.pc
step Packs pack
step TarHoldsTheListedFiles check files "$work/tar"/*
step DebHoldsTheListedFiles check files "$work/deb/usr"
step DebDependsOnItsLibraries deb_depends_on_its_libraries
step UsesTheDeb use "$work/deb/usr" "$client" g++ 17 shared tim-cl
step ConfiguresAsSubdirectory use_as_subdirectory
step BuildsTheArchiveOnly build_archive_only
finish
