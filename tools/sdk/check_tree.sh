#!/bin/bash
# Checks one property of an SDK tree against the sources; prints what is wrong.
#   check_tree.sh files TREE           what is installed, no more and no less
#   check_tree.sh exports LIBRARY      .so or .a: what the headers mark, only
#   check_tree.sh needed LIBRARY.so    libraries of the system, no search path
#   check_tree.sh no_text TREE TEXT... no file holds one of the texts
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(sed -n 's/^VERSION = "\(.*\)"$/\1/p' version.bzl)
major=${version%%.*}

# LIBRARY in all its names.
library_files() {
  echo "lib/$1.a"
  echo "lib/$1.so -> $1.so.$major"
  echo "lib/$1.so.$major -> $1.so.$version"
  echo "lib/$1.so.$version"
}

expected_files() {
  local name
  echo bin/timcl
  echo share/tim-cl/tim_plugin.map
  echo share/man/man1/timcl.1
  echo share/bash-completion/completions/timcl
  library_files libtim-cl
  echo "lib/libtim-vx.a -> libtim-cl.a"
  echo "lib/libtim-vx.so -> libtim-cl.so"
  for name in tim-cl tim-vx; do
    echo "lib/cmake/$name/$name-config.cmake"
    echo "lib/cmake/$name/$name-config-version.cmake"
  done
  for name in tim-cl tim-cl-custom-ops tim-cl-models tim-vx; do
    echo "lib/pkgconfig/$name.pc"
    echo "lib/pkgconfig/$name-static.pc"
  done
  { printf '%s\n' {CHANGELOG,CONTRIBUTING,README,SECURITY}.md LICENSE \
    THIRD_PARTY_LICENSES bench/README.md &&
    find docs samples -name build -prune -o -name __pycache__ -prune \
      -o ! -type d -name '*.*' ! -name '*.so' -print; } |
    sed 's,^,share/doc/tim-cl/,'
  (cd include && find . -name '*.h' -o -name '*.hpp' | sed 's,^\.,include,')
  library_files libtim-cl-custom-ops
  library_files libtim-cl-models
  (cd custom_ops && printf 'include/tim/custom_ops/%s\n' *.h)
  (cd custom_ops/template &&
    find . ! -type d ! -name BUILD |
    sed 's,^\.,share/tim-cl/custom_op_template,')
}

files() {
  diff <(expected_files | LC_ALL=C sort) \
    <(find "$1" -mindepth 1 \( -type l -printf '%P -> %l\n' -o \
      ! -type d -printf '%P\n' \) | LC_ALL=C sort)
}

# The classes and functions of the API; of other symbols, all of their names.
exported_names() {
  local tables='(vtable|VTT|typeinfo( name)?|guard variable) for '
  local thunks='((non-)?virtual|covariant return) thunk to '
  local spaces='tim::(vx|transform|lite|models|devices|values)::((ops|utils|platform|check|internal)::)?'
  local option=-g
  case $1 in *.so*) option=-D ;; esac
  nm "$option" -C --defined-only "$1" |
    sed -nE 's/^[0-9a-f]+ +[A-Za-z] //p' |
    sed -E "s/^($tables|$thunks)//; s/^$spaces([A-Za-z0-9_]+).*/\\4/" | sort -u
}

marked_names() {
  find include -name '*.h' -exec cat {} + | tr '\n' ' ' |
    grep -oE '(class|struct) TIM(_VX)?_API \w+|TIM(_VX)?_API [^;{]*' |
    grep -oE '_API \w+$|\w+\(' | sed -E 's/^_API //; s/\($//' | sort -u
}

exports() {
  local names known=vx::Context of_c=
  case $(basename "$1") in
    libtim-cl-models.*) known=models::LoadOnnx ;;
    libtim-cl.*) of_c=tim_graph_graph_create ;;
  esac
  names=$(exported_names "$1")
  grep -qx "${known#*::}" <<<"$names" ||
    { echo "tim::$known is not exported"; return 1; }
  [ -z "$of_c" ] || grep -qx "$of_c" <<<"$names" ||
    { echo "$of_c is not exported"; return 1; }
  ! comm -23 <(echo "$names") <(marked_names) | grep .
}

needed() {
  local allowed='libOpenCL|libclblast|libstdc\+\+|libm|libgcc_s|libc|ld-[^]]*'
  case $(basename "$1") in libtim-cl-models.*) allowed+='|libtim-cl(-custom-ops)?' ;; esac
  allowed="($allowed)\.so\.[0-9]+"
  local soname
  soname=$(basename "${1%.so*}").so.$major
  if readelf -d "$1" | grep -E 'RPATH|RUNPATH|NEEDED' |
    grep -vE "NEEDED.*\\[$allowed\\]$"; then
    return 1
  fi
  readelf -d "$1" | grep -F SONAME | grep -F "[$soname]" >/dev/null ||
    { echo "its SONAME is not $soname"; return 1; }
}

no_text() {
  local tree=$1 text
  shift
  for text in "$@"; do
    if grep -rlF -e "$text" "$tree"; then
      echo "hold the text $text"
      return 1
    fi
  done
}

case ${1-} in
  files | exports | needed | no_text) "$@" ;;
  *)
    sed -n '2,/^set/{/^#/p}' "$0" >&2
    exit 2
    ;;
esac
