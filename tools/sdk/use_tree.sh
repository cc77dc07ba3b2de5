#!/bin/bash
# Builds a client of an SDK tree and runs it.
#   use_tree.sh TREE PROJECT COMPILER STANDARD LINK METHOD WORK
#     TREE      the folder that holds include/ and lib/
#     PROJECT   a folder with a CMakeLists.txt that finds TIM_CL_PACKAGE and
#               links TIM_CL_TARGET, and makes a program of the folder's name;
#               for the other methods its *.cc are that program
#     COMPILER  g++, clang++
#     STANDARD  14, 17, 20
#     LINK      shared, static
#     METHOD    tim-cl, tim-vx: find_package of that name; tim-cl-models:
#               find_package of tim-cl, that target of it; tim-cl.pc,
#               tim-cl-custom-ops.pc, tim-cl-models.pc, tim-vx.pc: pkg-config of
#               that name, with -static for the archive; path: -I and the library's file under
#               TIM-VX's name
#     WORK      a folder to build in
set -euo pipefail
if [ $# -ne 7 ]; then
  sed -n '2,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
tree=$(cd "$1" && pwd)
project=$(cd "$2" && pwd)
compiler=$3
standard=$4
link=$5
method=$6
name=$(basename "$project")
work=$7/$name-$compiler-$standard-$link-$method
mkdir -p "$work"

find_package() {
  local package=${method%-models}
  local target=$package::$method
  if [ "$link" = static ]; then target+=-static; fi
  cmake -S "$project" -B "$work" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_STANDARD="$standard" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" \
    -DCMAKE_PREFIX_PATH="$tree" \
    -DTIM_CL_PACKAGE="$package" -DTIM_CL_TARGET="$target"
  cmake --build "$work"
}

# compile FLAGS...: the program, as a plain command line.
compile() {
  "$compiler" -std="c++$standard" -Wall -Wextra -Werror -pthread \
    "$project"/*.cc -o "$work/$name" "$@"
}

pkg_config() {
  local flags package=${method%.pc}
  if [ "$link" = static ]; then package+=-static; fi
  flags=$(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --cflags --libs \
    "$package")
  # shellcheck disable=SC2086  # a list of words
  compile $flags
}

case $method-$link in
  tim-cl-shared | tim-cl-static | tim-vx-shared | tim-vx-static | \
    tim-cl-models-shared | tim-cl-models-static)
    find_package
    ;;
  tim-??.pc-* | tim-cl-custom-ops.pc-* | tim-cl-models.pc-*) pkg_config ;;
  path-shared) compile -I"$tree/include" "$tree/lib/libtim-vx.so" ;;
  path-static)
    compile -I"$tree/include" "$tree/lib/libtim-vx.a" -lclblast -lOpenCL -lpthread \
      -ldl
    ;;
  *)
    echo "use_tree.sh: no method $method with link $link" >&2
    exit 2
    ;;
esac
needed=$(readelf -d "$work/$name" | grep -c 'NEEDED.*libtim-' || true)
if { [ "$link" = static ] && [ "$needed" -ne 0 ]; } ||
  { [ "$link" = shared ] && [ "$needed" -eq 0 ]; }; then
  echo "use_tree.sh: the program is not linked as asked: $link" >&2
  exit 1
fi
export LD_LIBRARY_PATH=$tree/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
"$work/$name"
