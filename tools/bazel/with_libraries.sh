#!/bin/sh
# Runs a command in whose view of the file system the files of a folder lie over
# /usr/lib: it and all that it starts have the folder's loader and libraries,
# and nothing changes for others. A folder of newer libraries than the machine's
# is of use in no other way: a process has one C library, and it fits one loader.
#   with_libraries.sh FOLDER COMMAND...
# Needs Linux 5.11 and a mount namespace: root's, or a user's own.
set -eu
if [ $# -lt 2 ]; then
  sed -n '6s/^# *//p' "$0" >&2
  exit 2
fi
namespace="--mount"
[ "$(id -u)" -eq 0 ] || namespace="--mount --user --map-root-user"
# shellcheck disable=SC2086  # a list of words
if ! unshare $namespace true 2>/dev/null; then
  echo "with_libraries.sh: this machine allows no mount namespace (unshare" \
    "$namespace); run it as root, or in a container with CAP_SYS_ADMIN" >&2
  exit 1
fi
# shellcheck disable=SC2086,SC2016  # a list of words; for the inner shell
exec unshare $namespace sh -c '
  mount -t overlay overlay -o "lowerdir=$0:/usr/lib" /usr/lib && exec "$@"
' "$@"
