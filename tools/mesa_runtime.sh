#!/bin/bash
# Makes a folder with Mesa's OpenCL on the CPU (Rusticl on llvmpipe) of a
# release of Debian, with the loader and all libraries that it needs, of the
# release's packages, and prints it. Nothing is installed, and only the first
# call downloads. For tests; never required.
#   mesa_runtime.sh trixie      Mesa 25.0, of Debian 13
#   mesa_runtime.sh bookworm    Mesa 22.3, of Debian 12
# Programs see it through tools/bazel/with_libraries.sh FOLDER/lib, with
# OCL_ICD_VENDORS=FOLDER/vendors and RUSTICL_ENABLE=llvmpipe.
set -euo pipefail

release=${1-}
case $release in
  trixie | bookworm) ;;
  *)
    sed -n '6,7s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
folder=${XDG_CACHE_HOME:-$HOME/.cache}/tim-cl/mesa_$release
if [ -e "$folder/complete" ]; then
  echo "$folder"
  exit 0
fi

echo "Unpacking Mesa of Debian's $release into $folder" >&2
rm -rf "$folder"
mkdir -p "$folder"/{vendors,packages}
sources=("deb http://deb.debian.org/debian $release main")
if [ "$release" = bookworm ]; then
  sources+=("deb http://deb.debian.org/debian-security $release-security main")
fi
# shellcheck source=tools/debian_apt.sh
. "$(dirname "$0")/debian_apt.sh"
debian_apt "$folder/apt" "${sources[@]}"
names=$(apt-get install --simulate mesa-opencl-icd ocl-icd-libopencl1 \
  libstdc++6 | sed -n 's/^Inst \([^ ]*\).*/\1/p')
# shellcheck disable=SC2086  # a list of words
(cd "$folder/packages" && apt-get download -q $names >&2)
for package in "$folder"/packages/*.deb; do
  dpkg -x "$package" "$folder/unpacked"
done

# Packages of releases before /lib became a link still have it.
mkdir -p "$folder/lib"
for part in usr/lib lib; do
  if [ -d "$folder/unpacked/$part" ]; then
    cp -al "$folder/unpacked/$part/." "$folder/lib"
  fi
done
rm -rf "$folder"/{apt,packages,unpacked}
driver=$(basename "$(echo "$folder"/lib/*/libRusticlOpenCL.so.1)")
if [ "$driver" != libRusticlOpenCL.so.1 ]; then
  echo "mesa_runtime.sh: $release has no libRusticlOpenCL.so.1" >&2
  exit 1
fi
echo "$driver" >"$folder/vendors/rusticl.icd"
touch "$folder/complete"
echo "$folder"
