# Sourced by scripts that unpack packages of another release of Debian.
#   debian_apt FOLDER LINE...
# Makes in FOLDER an apt of its own, to which no package is installed, with
# the LINEs of sources, after "deb" or "deb-src", and reads its lists.
# shellcheck shell=bash

debian_apt() {
  local folder=$1 kind rest line
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg
  shift
  if [ ! -e "$keys" ]; then
    echo "$(basename "$0"): $keys is missing; Debian's package is" \
      "debian-archive-keyring" >&2
    return 1
  fi
  mkdir -p "$folder"/{lists/partial,archives/partial,etc/apt.conf.d} \
    "$folder/etc/preferences.d"
  : >"$folder/status"
  for line in "$@"; do
    read -r kind rest <<<"$line"
    echo "$kind [signed-by=$keys] $rest"
  done >"$folder/etc/sources.list"
  cat >"$folder/apt.conf" <<END_OF_APT
Dir::Etc "$folder/etc";
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::Cache "$folder";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
END_OF_APT
  export APT_CONFIG=$folder/apt.conf
  if ! apt-get update -q >&2; then
    echo "$(basename "$0"): no lists of packages; is http://deb.debian.org" \
      "reached from here?" >&2
    return 1
  fi
}
