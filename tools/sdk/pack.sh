#!/bin/sh
# Lays out the SDK, as `cmake --install` does, and packs it.
#   pack.sh OUT.tar.gz FOLDER VERSION FILE...
set -eu
out=$1
folder=$2
version=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/$folder

# put FILE FOLDER [NAME [MODE]]
put() {
  install -D -m "${4-644}" "$1" "$tree/$2/${3-$(basename "$1")}"
}

# put_shared LIBRARY.so: under its version, with links.
put_shared() {
  name=$(basename "$1")
  major=$name.${version%%.*}
  put "$1" lib "$name.$version"
  ln -s "$name.$version" "$tree/lib/$major"
  ln -s "$major" "$tree/lib/$name"
}

doc=share/doc/tim-cl
for file in "$@"; do
  case $file in
    */BUILD | BUILD) ;;
    samples/* | */samples/* | docs/* | */docs/* | bench/* | */bench/*)
      path=$(printf '%s\n' "$file" | sed -E 's,^(.*/)?(samples|docs|bench)/,\2/,')
      put "$file" "$doc/$(dirname "$path")"
      ;;
    *custom_ops/template/*)
      path=${file##*custom_ops/template/}
      put "$file" "share/tim-cl/custom_op_template/$(dirname "$path")"
      ;;
    *tim_plugin.map) put "$file" share/tim-cl ;;
    *custom_ops/*.h) put "$file" include/tim/custom_ops ;;
    *include/*.h | *include/*.hpp)
      put "$file" "include/$(dirname "${file##*include/}")"
      ;;
    */timcl/timcl) put "$file" bin timcl 755 ;;
    *.1) put "$file" share/man/man1 ;;
    *.bash) put "$file" share/bash-completion/completions timcl ;;
    *.so) put_shared "$file" ;;
    *.a) put "$file" lib ;;
    *.pc) put "$file" lib/pkgconfig ;;
    *tim-cl-config*.cmake) put "$file" lib/cmake/tim-cl ;;
    *tim-vx-config*.cmake) put "$file" lib/cmake/tim-vx ;;
    *LICENSE* | *.md) put "$file" "$doc" ;;
    *)
      echo "pack.sh: no place for $file" >&2
      exit 1
      ;;
  esac
done
ln -s libtim-cl.so "$tree/lib/libtim-vx.so"
ln -s libtim-cl.a "$tree/lib/libtim-vx.a"

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 \
  -C "$work" -cf - "$folder" | gzip -n >"$out"
