#!/bin/sh
# Links objects and archives into one relocatable object in which only the
# public API is global: nothing of it is lost in a client's link, and nothing
# else can meet a name of the client.
#   link_object.sh OUT.o EXPORTS.map INPUT...
set -eu
out=$1
map=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^ *\([A-Za-z_][^;]*\);$/\1/p' "$map" >"$work/api"
# Without groups, no function of ours gives way to a client's of that name,
# which other options may have compiled. Of the linkers only GNU's can do it.
"${CC:-c++}" -fuse-ld=bfd -r -nostdlib -o "$out" \
  -Wl,--force-group-allocation -Wl,--whole-archive "$@"
# objcopy makes strong and weak symbols local; g++ has "unique" ones too.
"${NM:-nm}" "$out" | sed -n 's/.* u //p' >"$work/unique"
objcopy=${OBJCOPY:-objcopy}
"$objcopy" --weaken-symbols="$work/unique" "$out"
"$objcopy" --wildcard --keep-global-symbols="$work/api" --localize-hidden "$out"
