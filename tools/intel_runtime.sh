#!/bin/bash
# Installs Intel's CPU runtime for OpenCL into a virtual environment of its own
# and prints the folder that holds it. For tests; never required. Programs use
# it with OCL_ICD_VENDORS=FOLDER/vendors LD_LIBRARY_PATH=FOLDER/venv/lib.
set -euo pipefail

folder=${XDG_CACHE_HOME:-$HOME/.cache}/tim-cl/intel_runtime
library=$folder/venv/lib/libintelocl.so
if [ ! -e "$folder/complete" ]; then
  echo "Installing Intel's OpenCL runtime into $folder" >&2
  rm -rf "$folder"
  mkdir -p "$folder/vendors"
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet intel-opencl-rt intel-cmplr-lib-rt >&2
  if [ ! -e "$library" ]; then
    echo "intel_runtime.sh: $library was not installed" >&2
    exit 1
  fi
  echo "$library" >"$folder/vendors/intel.icd"
  touch "$folder/complete"
fi
echo "$folder"
