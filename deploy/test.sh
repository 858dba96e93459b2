#!/usr/bin/env bash
# Sets up, builds and runs all tests; ends with ctest's summary. The data node's half is tested under the
# address and undefined-behaviour sanitizers, too.
# usage: test.sh [--without-trainer]
# Tests that need the large data sets read $PACKTRAIN_DATA and are skipped where it is unset.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/lib.sh
source deploy/lib.sh

options=()
for argument in "$@"; do
  case "$argument" in
    --without-trainer) options+=("$argument") ;;
    *) fail "test.sh: unknown argument '$argument'; known: --without-trainer" 2 ;;
  esac
done

./deploy/setup.sh "${options[@]}"
./deploy/build.sh release "${options[@]}"
if [ ${#options[@]} -gt 0 ]; then
  say "the GPU program is not built: --without-trainer"
elif has_nvcc13; then
  ./deploy/build.sh gpu packtrain-trainer-cuda
  say "the GPU program compiles and links"
else
  say "the GPU program is not built: no CUDA 13 compiler (nvcc) here"
fi
./deploy/build.sh asan
say "tests under the address and undefined-behaviour sanitizers"
ctest --preset asan --parallel 2 --progress --output-on-failure | tail -n 40
say "all tests"
ctest --preset release --parallel 2
