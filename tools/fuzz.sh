#!/bin/sh
# Feeds Clang's fuzzer with what reads files that may come from anywhere.
#   tools/fuzz.sh [seconds [fuzzer ...]]
# Each fuzzer, a tests/fuzz/<name>_fuzz.cc with its <name>_corpus.cc, runs so
# long (default: 30), with the address and undefined behaviour sanitizers, from
# its corpus and from what earlier calls have found (in $TIM_FUZZ_FOLDER, default
# /tmp/tim-fuzz).  A file that breaks it is left there, and the script fails.
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-30}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- plan blob onnx tflite expr graph calls values
folder=${TIM_FUZZ_FOLDER:-/tmp/tim-fuzz}
compiler=${CXX:-clang++}
flags="-std=c++20 -O1 -g -fno-omit-frame-pointer -iquote . -iquote src
  -iquote include -iquote $folder/generated -DONNX_ML=1 -DONNX_NAMESPACE=onnx
  -fsanitize=address,undefined -fno-sanitize-recover=undefined"

mkdir -p "$folder/generated/binary" "$folder/generated/models/tflite" \
  "$folder/objects"
stamp=$folder/generated/stamp
if [ ! -e "$stamp" ] ||
  [ -n "$(find src/binary src/models -name '*.fbs' -newer "$stamp")" ]; then
  flatc --cpp --cpp-std c++17 --scoped-enums -o "$folder/generated/binary" \
    src/binary/*.fbs
  flatc --cpp --cpp-std c++17 --scoped-enums \
    -o "$folder/generated/models/tflite" src/models/tflite/*.fbs
  touch "$stamp"
fi

# The layers that a fuzzer is linked with.
sources_of() {
  case $1 in
    plan)
      find src/base src/ir src/binary -name '*.cc'
      echo tests/support/plans/whole_plan.cc
      ;;
    blob) find src/base src/ir src/binary -name '*.cc' ;;
    onnx) find src/base src/models/build src/models/onnx -name '*.cc' ;;
    tflite)
      find src/base src/models/build src/models/tflite -name '*.cc'
      find custom_ops -maxdepth 1 -name '*.cc'
      echo tests/models/tflite_file.cc
      ;;
    expr)
      # Without what has kernels, whose texts the build embeds.
      find src/base src/ir src/expr -name '*.cc' \
        ! -name 'kernel_text.cc' ! -name 'operator.cc' ! -name 'decompose.cc'
      echo src/kernels/elements.cc
      ;;
    graph) echo tools/timcl/graph_json*.cc tools/timcl/json_place.cc ;;
    calls)
      # The front itself; other layers are libraries.
      bazel build --config=werror --noshow_progress //src/graph_api >&2
      find src/graph_api -name '*.cc'
      echo bazel-bin/src/graph_api/register_all_ops.cc
      echo tests/fuzz/calls_objects.cc tests/fuzz/calls_session.cc
      ;;
    values)
      find src/values -name '*.cc'
      echo tests/fuzz/values_session.cc tests/fuzz/values_calls.cc \
        tests/fuzz/values_functions.cc
      ;;
    *)
      echo "there is no fuzzer $1" >&2
      exit 2
      ;;
  esac
}

# What a fuzzer is linked with besides, without sanitizers: importers stand on
# the library as users have it, the reader of graph files on its layers.
libraries_of() {
  case $1 in
    onnx | tflite)
      bazel build --config=werror --noshow_progress //:libtim-vx.so >&2
      library=$(readlink -f bazel-bin/libtim-vx.so)
      echo "$library -Wl,-rpath,$(dirname "$library") -lonnx_proto -lprotobuf"
      ;;
    calls | values)
      # The layers below the fronts.
      bazel build --config=werror --noshow_progress //src/graph_api >&2
      echo "-Wl,--start-group $(find -L bazel-bin/src bazel-bin/ops \
        \( -name 'lib*.a' -o -name 'lib*.lo' \) ! -path '*/values/*' \
        ! -path '*/models/*' ! -path '*/vx/*' ! -path '*/graph_api/*') \
        -Wl,--end-group -lOpenCL -lclblast -ldl"
      ;;
    graph)
      # The front and all below it, as they are in the library.
      bazel build --config=werror --noshow_progress //src/graph_api >&2
      echo "-Wl,--start-group $(find -L bazel-bin/src bazel-bin/ops \
        \( -name 'lib*.a' -o -name 'libgraph_api.lo' \) \
        ! -path '*/models/*') -Wl,--end-group
        -lOpenCL -lclblast -ldl"
      ;;
  esac
}

# Compiles a file, unless its object is newer than all that it is made of, and
# prints the object's name.
object_of() {
  object=$folder/objects/$(echo "$1" | tr / _).o
  made_of=$(sed 's/^[^:]*://; s/\\$//' "$object.d" 2>/dev/null || true)
  # shellcheck disable=SC2086
  if [ ! -e "$object" ] || [ -z "$made_of" ] ||
    [ -n "$(find $made_of -newer "$object" 2>&1)" ]; then
    "$compiler" $flags -fsanitize=fuzzer-no-link -MMD -MF "$object.d" \
      -c "$1" -o "$object"
  fi
  echo "$object"
}

status=0
for name; do
  objects=
  for source in $(sources_of "$name") "tests/fuzz/${name}_corpus.cc"; do
    objects="$objects $(object_of "$source")"
  done
  libraries=$(libraries_of "$name")
  # shellcheck disable=SC2086
  "$compiler" $flags $objects "$(object_of tests/fuzz/write_corpus.cc)" \
    -o "$folder/${name}_corpus" $libraries -lpthread
  # shellcheck disable=SC2086
  "$compiler" $flags -fsanitize=fuzzer $objects \
    "$(object_of "tests/fuzz/${name}_fuzz.cc")" \
    -o "$folder/${name}_fuzz" $libraries -lpthread
  mkdir -p "$folder/$name"
  "$folder/${name}_corpus" "$folder/$name"
  "$folder/${name}_fuzz" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$folder/$name-" "$folder/$name" || status=1
done
exit $status
