#!/bin/bash
# Names the C++ and OpenCL C files that clang-format would change, and with
# --fix changes them.
#   check_format.sh [--fix] [FOLDER]    default: the repository
set -euo pipefail
mode=check
if [ "${1-}" = --fix ]; then
  mode=fix
  shift
fi
cd "${1:-$(dirname "$0")/..}"

folders=()
for folder in include src ops custom_ops python samples bench tests tools; do
  if [ -d "$folder" ]; then folders+=("$folder"); fi
done
list_files() {
  find -L "${folders[@]}" -type f \
    \( -name '*.h' -o -name '*.cc' -o -name '*.cl' -o -name '*.clh' \) -print0 |
    sort -z
}

if [ "$mode" = fix ]; then
  list_files | xargs -0 -r clang-format --style=file -i
  exit
fi
if messages=$(list_files |
  xargs -0 -r clang-format --style=file --dry-run -Werror 2>&1); then
  exit 0
fi
files=$(sed -n 's/: error: .*clang-format-violations.*//p' <<<"$messages" |
  cut -d: -f1,2 | sort -t: -u -k1,1)
echo "clang-format would change (tools/check_format.sh --fix does it):"
echo "${files:-$messages}"
exit 1
