#!/bin/bash
# Two servers of PoCL-Remote on this machine, for tests; never required.
#   pocl_remote.sh start    starts them, on ports of 127.0.0.1
#   pocl_remote.sh env      prints what programs need to see their devices:
#                           eval "$(tools/pocl_remote.sh env)"
#   pocl_remote.sh stop     stops them
# The first start makes client and server of the source package of Debian 13,
# in about a minute: its packages have neither (pocld is empty). The servers
# offer the first OpenCL device of this machine. Nothing is installed.
set -euo pipefail

ports=(17770 17780)  # and the two after each of them
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tim-cl
folder=$cache/pocl_remote
tools=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "pocl_remote.sh: $*" >&2
  exit 1
}

# The client of 6.0 writes to commands when others have freed them, and so over
# their stacks: it tells that one is done outside of its lock, and notes when
# one was written after the reply may be there.
mend() {
  local file=$1/lib/CL/devices/remote/communication.c
  cp "$file" "$file.orig"
  sed -i -f - "$file" <<'END_OF_SED'
s/^  running_cmd->status = NETCMD_FINISHED;$/  if (!running_cmd->synchronous) &/
s/^      POCL_LOCK (running_cmd->data.sync.mutex);$/& running_cmd->status = NETCMD_FINISHED;/
/^          POCL_ATOMIC_STORE (cmd->client_write_end_timestamp_ns,$/,/;$/d
s/^          \/\/ WRITE DATA$/POCL_ATOMIC_STORE (cmd->client_write_end_timestamp_ns, pocl_gettimemono_ns ());/
END_OF_SED
  [ "$(diff "$file.orig" "$file" | grep -c '^[<>]')" -eq 8 ] ||
    fail "this PoCL is another than 6.0, whose errors mend() knows"
}

build() {
  local work=$folder/work log=$folder/build.log archive
  [ ! -e "$folder/complete" ] || return 0
  echo "Building PoCL's client and server into $folder" >&2
  rm -rf "$folder"
  mkdir -p "$work/source" "$folder/run"
  # shellcheck source=tools/debian_apt.sh
  . "$tools/debian_apt.sh"
  debian_apt "$work/apt" \
    "deb-src http://deb.debian.org/debian trixie main" || exit 1
  (cd "$work" && apt-get source -q --download-only pocl >&2) ||
    fail "Debian 13 gave no source package of pocl"
  archive=$(basename "$(echo "$work"/pocl_*.orig.tar.*)")
  tar -xf "$work/$archive" -C "$work/source" --strip-components=1
  mend "$work/source"
  if ! { cmake -G Ninja -S "$work/source" -B "$work/build" \
           -DCMAKE_BUILD_TYPE=RelWithDebInfo -DENABLE_IPO=OFF \
           -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib \
           -DENABLE_ICD=ON -DENABLE_LLVM=OFF -DENABLE_HOST_CPU_DEVICES=OFF \
           -DENABLE_REMOTE_CLIENT=ON -DENABLE_REMOTE_SERVER=ON \
           -DENABLE_TESTS=OFF -DENABLE_EXAMPLES=OFF -DENABLE_LTTNG=OFF &&
         ninja -C "$work/build" install; } >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "PoCL was not built; all of its output is in $log"
  fi
  rm -rf "$work"
  touch "$folder/complete"
}

# The process of server $1 where it runs, else nothing.
running() {
  local pid
  pid=$(cat "$folder/run/$1.pid" 2>/dev/null) || return 0
  [ ! "/proc/$pid/exe" -ef "$folder/bin/pocld" ] || echo "$pid"
}

listens() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

start() {
  local i port pid pids=()
  for i in 0 1; do
    pid=$(running $i)
    [ -z "$pid" ] || pids+=("process $pid on port ${ports[$i]}")
  done
  if [ ${#pids[@]} -eq 2 ]; then
    echo "The servers run: ${pids[0]}, ${pids[1]}"
    return
  fi
  [ ${#pids[@]} -eq 0 ] ||
    fail "only one server runs, ${pids[0]}; the other's end may be told in" \
      "$folder/run. Call 'stop' first"
  build
  for port in "${ports[@]}"; do
    for i in "$port" $((port + 1)) $((port + 2)); do
      if listens "$i"; then fail "port $i is taken"; fi
    done
  done
  for i in 0 1; do
    # With the drivers of the machine, whatever the caller's client has.
    env -u OCL_ICD_VENDORS -u POCL_DEVICES \
      POCL_CACHE_DIR="$folder/run/cache$i" \
      setsid "$folder/bin/pocld" -a 127.0.0.1 -p "${ports[$i]}" \
      >"$folder/run/$i.log" 2>&1 </dev/null &
    echo $! >"$folder/run/$i.pid"
  done
  for i in 0 1; do
    for _ in $(seq 100); do
      if [ -n "$(running $i)" ] && listens $((ports[i] + 1)); then break; fi
      sleep 0.1
    done
    if [ -z "$(running $i)" ] || ! listens $((ports[i] + 1)); then
      tail -n 20 "$folder/run/$i.log" >&2
      stop
      fail "a server did not start on port ${ports[$i]}"
    fi
    echo "Server $i: process $(running $i) on port ${ports[$i]}"
  done
}

stop() {
  local i pid
  for i in 0 1; do
    pid=$(running $i)
    [ -z "$pid" ] || kill "$pid"
    for _ in $(seq 50); do
      [ -n "$(running $i)" ] || break
      sleep 0.1
    done
    pid=$(running $i)
    [ -z "$pid" ] || kill -9 "$pid"
    rm -f "$folder/run/$i.pid"
  done
}

environment() {
  local i
  for i in 0 1; do
    [ -n "$(running $i)" ] ||
      fail "server $i does not run; 'start' starts both, $folder/run/$i.log" \
        "may tell how the last one ended"
  done
  echo "export OCL_ICD_VENDORS='$folder/etc/OpenCL/vendors'"
  echo "export POCL_DEVICES='remote remote'"
  for i in 0 1; do
    echo "export POCL_REMOTE${i}_PARAMETERS=127.0.0.1:${ports[$i]}/0"
  done
}

case ${1-} in
  start) start ;;
  stop) stop ;;
  env) environment ;;
  *)
    sed -n '3,6s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
