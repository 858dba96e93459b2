#!/usr/bin/env bash
# Sets up, builds and runs all tests; ends with ctest's summary. What decodes bytes from outside is tested under the
# address and undefined-behaviour sanitizers, too.
# usage: test.sh [--without-trainer] [--all]
#   --all   also everything but the trainer under the sanitizers, end to end; what is free of gRPC and RocksDB under
#           the thread sanitizer; each fuzz target for $PACKTRAIN_FUZZ_SECONDS (60); thread-safety analysis and
#           clang-tidy: hours on 2 cores
# Tests that need the large data sets read $PACKTRAIN_DATA and are skipped where it is unset.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/lib.sh
source deploy/lib.sh

options=()
readonly fuzz_seconds=${PACKTRAIN_FUZZ_SECONDS:-60} at_once=$(nproc)
sanitized=(base_test base_errors_test wire_layout_test wire_convert_test padded_batch_test replays)
threaded=(base_test batches_test graph_store_conformance_test wire_layout_test)
beside_sanitizers='_NOT_BUILT$|^(deploy|e2e|interop|lint|soak)(\.|$)'
all=no
for argument in "$@"; do
  case "$argument" in
    -h | --help)
      show_help
      exit
      ;;
    --without-trainer) options+=("$argument") ;;
    --all) all=yes sanitized=(all) beside_sanitizers='_NOT_BUILT$|^lint\.' ;;
    *) fail "test.sh: unknown argument '$argument'; known: --without-trainer, --all" 2 ;;
  esac
done

# run_tests PRESET EXCLUDED-REGEX: prints the end, with what failed.
run_tests() {
  ctest --preset "$1" --parallel "$at_once" --exclude-regex "$2" --progress --output-on-failure | tail -n 20
}

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
./deploy/build.sh asan "${sanitized[@]}"
say "tests under the address and undefined-behaviour sanitizers"
# Programs that were not built are listed by ctest as NAME_NOT_BUILT.
run_tests asan "$beside_sanitizers"
if [ $all = yes ]; then
  # Debian's gRPC and RocksDB are not instrumented: with them the thread sanitizer reports what is no race, since it
  # does not see their atomics, such as RocksDB's counts of references. Tests that open RocksDB have it in their names.
  ./deploy/build.sh tsan "${threaded[@]}"
  say "tests under the thread sanitizer"
  run_tests tsan 'Rocks|_NOT_BUILT$|^(deploy|e2e|interop|lint|fuzz|soak)(\.|$)'
  ./deploy/build.sh fuzz fuzzers
  say "fuzz targets, $fuzz_seconds seconds each"
  (cd build && ../tests/fuzz/fuzz_all.sh fuzz/bin ../tests/fuzz/corpus "$fuzz_seconds")
  say "thread-safety analysis"
  python3 tests/lint/thread_safety.py build/fuzz
  say "clang-tidy"
  ./tests/lint/clang_tidy.sh build/fuzz
fi
say "all tests"
ctest --preset release --parallel "$at_once"
