#!/usr/bin/env bash
# Packs what a GPU machine without a network needs to run packtrain: packtraind, packtrain, packtrain-trainer-cuda,
# the Debian libraries they use, a script that starts them, and the sample of QM9. The GPU machine brings glibc 2.36
# or newer, libstdc++ of GCC 12 or newer, a driver for CUDA 13, and `torch` 2.11 of any Python.
# usage: bundle.sh [-o FILE]     FILE is a .tar.xz; default .bundle/packtrain-bundle.tar.xz
set -euo pipefail
readonly from=$PWD
cd "$(dirname "$0")/.."
# shellcheck source=deploy/lib.sh
source deploy/lib.sh

readonly PROGRAMS=(packtraind packtrain packtrain-trainer-cuda) LIMIT_BYTES=30000000
readonly OF_THE_SYSTEM='^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libstdc\+\+|libgcc_s)\.so'
readonly OF_TORCH='^lib(torch|c10|cu|nv|nccl|gomp)[^/]*\.so'

file=.bundle/packtrain-bundle.tar.xz
while [ $# -gt 0 ]; do
  case "$1" in
    -o) file=$(cd "$from" && realpath -m "${2:?bundle.sh: -o needs a FILE}"); shift 2 ;;
    *) fail "bundle.sh: unknown argument '$1'; known: -o FILE" 2 ;;
  esac
done
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
readonly file room stage=$room/packtrain-bundle

# libraries PROGRAM: lines "NAME PATH" of all that is loaded with it but the system's and Torch's; PATH is "not" where
# it is not found.
libraries() {
  LD_LIBRARY_PATH=$stage/lib ldd "$1" | awk -v system_="$OF_THE_SYSTEM" -v torch="$OF_TORCH" '
    {name = $1; sub(/.*\//, "", name)}
    name !~ system_ && name !~ torch {print name, $3}'
}

copy_programs() {
  local program
  mkdir -p "$stage/bin" "$stage/lib" "$stage/data"
  for program in "${PROGRAMS[@]}"; do
    strip -o "$stage/bin/$program" "build/gpu/bin/$program"
    # The path to this machine's LibTorch is of no use elsewhere.
    echo "file(RPATH_REMOVE FILE \"$stage/bin/$program\")" >"$room/remove.cmake"
    cmake -P "$room/remove.cmake" >"$room/removed"
  done
}

copy_libraries() {
  local program name path
  for program in "${PROGRAMS[@]}"; do
    libraries "$stage/bin/$program" | while read -r name path; do
      [ "$path" != not ] || fail "$program needs $name, which is not here"
      [ -e "$stage/lib/$name" ] || cp -L "$path" "$stage/lib/$name"
    done
  done
}

# Checks that the programs find all their libraries in the bundle.
check() {
  local program astray
  for program in "${PROGRAMS[@]}"; do
    astray=$(libraries "$stage/bin/$program" | awk -v lib="$stage/lib/" 'index($2, lib) != 1')
    [ -z "$astray" ] || fail "$program loads what is not in the bundle: $astray"
  done
  "$stage/run" packtraind --version
  "$stage/run" packtrain --help >"$room/help"
}

has_nvcc13 || fail "bundle.sh: no CUDA 13 compiler (nvcc) here to build packtrain-trainer-cuda with"
./deploy/build.sh gpu "${PROGRAMS[@]}"
say "packing"
copy_programs
copy_libraries
cp deploy/bundle_run.sh "$stage/run"
cp LICENSE "$stage/"
cp -r tests/data/qm9 "$stage/data/"
check
mkdir -p "$(dirname "$file")"
tar -C "$room" --sort=name --owner=0 --group=0 --numeric-owner -cf - packtrain-bundle | xz -T0 >"$file"
size=$(stat -c %s "$file")
[ "$size" -le $LIMIT_BYTES ] || fail "$file has $size bytes, above the limit of $LIMIT_BYTES"
say "$file: $((size / 1000)) kB"
