#!/usr/bin/env bash
# Configures and builds a preset with little output: a line of progress now and then, the compiler's messages if it fails.
# usage: build.sh PRESET [--without-trainer] [TARGET...]
#   PRESET  release, debug, asan, tsan, fuzz or gpu, of CMakePresets.json; programs go to build/PRESET/bin
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/lib.sh
source deploy/lib.sh

case "${1:-}" in
  -h | --help)
    show_help
    exit
    ;;
  '' | -*)
    show_help >&2
    exit 2
    ;;
esac
preset=$1
shift
options=()
# Passed each time, because a build folder remembers its options; the other presets set it themselves.
case "$preset" in debug | release) options+=(-DPACKTRAIN_TRAINER=ON) ;; esac
if [ "${1:-}" = --without-trainer ]; then
  options=(-DPACKTRAIN_TRAINER=OFF)
  shift
fi
if [ "$preset" = gpu ]; then options+=(-DCMAKE_CUDA_COMPILER="$(nvcc13)"); fi
mkdir -p build
log=build/$preset.log
say "building preset $preset${*:+: $*} (log: $log)"
cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || { tail -30 "$log"; fail "configuring $preset failed"; }
cmake --build --preset "$preset" ${1:+--target "$@"} 2>&1 | tee -a "$log" |
  awk -W interactive '/^\[[0-9]+\/[0-9]+\]/ {split($1, n, /[][\/]/); step = int(10 * n[2] / n[3]);
       if (step != shown) {printf "   %3d %%\n", 10 * step; shown = step}; next}
       {print}' ||
  fail "building $preset failed; see $log"
