#!/bin/sh
# A compiler launcher for CMake: where the file TIMCL_BAZEL_OBJECTS has a line
# "SOURCE OBJECT", the object is copied in place of compiling the source, and
# copied again when it has changed.
#   take_object.sh COMPILER... -o OUTPUT -c SOURCE
set -eu
output=
dependencies=
before=
for argument; do
  case $before in
    -o) output=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  before=$argument
done
source=$before
object=$(awk -v source="$source" '$1 == source { print $2; exit }' \
  "${TIMCL_BAZEL_OBJECTS:-/dev/null}")
[ -n "$object" ] && [ -n "$output" ] || exec "$@"
cp "$object" "$output"
[ -z "$dependencies" ] || echo "$output: $source $object" >"$dependencies"
