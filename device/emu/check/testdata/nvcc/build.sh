#!/bin/sh
# Compiles the corpus: NAME.cu to NAME.bug.ptx (with -DBUG) and NAME.ptx, with the
# flags of its first line. Paths in the output are cut to what they mean anywhere, and
# what -G adds for debuggers besides the lines is cut off.
# Set NVCC to nvcc 12.4, with its flags, and LIBCUDACXX to the headers of libcu++.
set -e
cd "$(dirname "$0")"
for f in ${*:-*.cu}; do
  name=${f%.cu}
  flags=$(sed -n '1s|^// nvcc ||p' "$f")
  for v in bug ok; do
    out=$name.ptx def=
    if [ $v = bug ]; then out=$name.bug.ptx def=-DBUG; fi
    ${NVCC:-nvcc} -std=c++17 ${LIBCUDACXX:+-I$LIBCUDACXX} $flags $def -lineinfo -ptx -o "$out" "$f"
    sed -i -E '/^\t\.section\t\.debug/,$d; /^\t?\.file/s|"[^"]*/(include/)?(cuda/[^"]*\|cooperative_groups/[^"]*\|[^/"]*)"|"\2"|; /^\/\/( .*)?$/d; s|^\t?\.file(.*"), [0-9]+, [0-9]+|\t.file\1|' "$out"
  done
done
