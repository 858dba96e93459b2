#!/usr/bin/env bash
# Sets up, builds and runs all tests; ends with the tests that were skipped and ctest's summary. What decodes bytes from
# outside is tested under the address and undefined-behaviour sanitizers, too.
# usage: test.sh [--without-trainer] [--all[=PART]]
#   --all=PART  one part of the full check, at most 90 minutes each on 2 cores:
#                 asan   everything but the trainer under the address and undefined-behaviour sanitizers, end to end
#                 tsan   what is free of gRPC and RocksDB under the thread sanitizer
#                 fuzz   each fuzz target for $PACKTRAIN_FUZZ_SECONDS (60)
#                 tidy   thread-safety analysis and clang-tidy
#                 tests  all tests of the release build
#   --all       every part that has not passed on this commit
# A part that passes notes the commit in build/passed/PART, if no file differs from the commit and nothing was left out:
# the trainer, the GPU program (there is no nvcc of CUDA 13), seconds of fuzzing. Else it says why not. Tests that need the large data sets read $PACKTRAIN_DATA and are skipped where it is unset.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/lib.sh
source deploy/lib.sh

options=()
readonly known_parts=(asan tsan fuzz tidy tests)
readonly min_fuzz_seconds=60
readonly fuzz_seconds=${PACKTRAIN_FUZZ_SECONDS:-$min_fuzz_seconds}
at_once=$(nproc)
readonly decoders=(base_test base_errors_test wire_layout_test wire_convert_test padded_batch_test replays)
# What is shared between threads, tested without gRPC and without opening RocksDB, save for tests that have Rocks in their
# names.
readonly threaded=(base_test batches_test batching_plan_test cli_threads_test client_queues_test event_log_test
  graph_store_conformance_test idle_watch_test inbound_limit_test ingest_test limits_test metrics_test staged_imports_test wire_layout_test)
# ctest lists a program that was not built as NAME_NOT_BUILT.
readonly programs_of_all='_NOT_BUILT$|^(deploy|e2e|interop|lint|soak|soak_hostile|testing)(\.|$)'
parts=() all=no
for argument in "$@"; do
  case "$argument" in
    -h | --help)
      show_help
      exit
      ;;
    --without-trainer) options+=("$argument") ;;
    --all) parts=("${known_parts[@]}") all=yes ;;
    --all=*)
      parts=("${argument#--all=}") all=no
      [[ ${parts[0]} =~ ^($(IFS='|' && echo "${known_parts[*]}"))$ ]] ||
        fail "test.sh: unknown part '${parts[0]}' of --all; known: ${known_parts[*]}" 2
      ;;
    *) fail "test.sh: unknown argument '$argument'; known: --without-trainer, --all, --all=PART" 2 ;;
  esac
done

[[ $fuzz_seconds =~ ^[0-9]+$ ]] || fail "test.sh: PACKTRAIN_FUZZ_SECONDS is '$fuzz_seconds', not a number of seconds" 2

# Prints the commit that the files are those of, or nothing.
clean_commit() { [ -n "$(git status --porcelain 2>&1)" ] || git rev-parse HEAD; }

# has_passed PART COMMIT
has_passed() { [ -n "$2" ] && [ "$(cat "build/passed/$1" 2>/dev/null)" = "$2" ]; }

# Prints each skipped test of ctest's log with its reason, those within a Python test by themselves.
list_skips() {
  awk '/^[0-9]+\/[0-9]+ Test: / {name = $3}
       / \.\.\. skipped / {sub(/ \([^)]*\)/, ""); sub(/ \.\.\. skipped/, ":"); print "   " name ": " $0}
       /: Skipped$/ {getline; print "   " name ": " $0}' "$1"
}

# run_tests PRESET [CTEST-OPTION...]: all that failed and, with preset release, each that passed; then the skipped tests, then
# ctest's summary. A test that hangs fails.
run_tests() {
  local log=build/$1/tests.log show_passed='' failed=0
  [ "$1" = release ] || show_passed='/^ *Start  *[0-9]\|  Passed  /d;'
  ctest --preset "$1" --parallel "$at_once" --timeout 900 "${@:2}" | tee "$log" |
    sed -u "$show_passed"'/^[0-9]*% tests passed/,$d' || failed=1
  say "skipped tests"
  list_skips "build/$1/Testing/Temporary/LastTest.log"
  sed -n '/^[0-9]*% tests passed/,$p' "$log"
  return $failed
}

build_release() {
  ./deploy/build.sh release "${options[@]}"
  if [ ${#options[@]} -gt 0 ]; then
    say "the GPU program is not built: --without-trainer"
  elif has_nvcc13; then
    ./deploy/build.sh gpu packtrain-trainer-cuda
    say "the GPU program compiles and links"
  else
    say "the GPU program is not built: no CUDA 13 compiler (nvcc) here"
  fi
}

test_decoders() {
  ./deploy/build.sh asan "${decoders[@]}"
  say "tests under the address and undefined-behaviour sanitizers"
  run_tests asan --exclude-regex "$programs_of_all"
}

test_release() {
  say "all tests"
  run_tests release
}

part_asan() {
  ./deploy/build.sh asan all
  say "all tests but the trainer's under the address and undefined-behaviour sanitizers"
  run_tests asan --exclude-regex '_NOT_BUILT$|^lint\.'
}

# Debian's gRPC and RocksDB are not instrumented: with them the thread sanitizer reports what is no race, since it does not
# see their atomics, such as RocksDB's counts of references.
part_tsan() {
  ./deploy/build.sh tsan "${threaded[@]}"
  say "tests under the thread sanitizer"
  run_tests tsan --exclude-regex "Rocks|^fuzz\.|$programs_of_all"
}

part_fuzz() {
  ./deploy/build.sh fuzz fuzzers
  say "fuzz targets, $fuzz_seconds seconds each"
  (cd build && ../tests/fuzz/fuzz_all.sh fuzz/bin ../tests/fuzz/corpus "$fuzz_seconds")
}

# Reads the commands and the generated protocol of preset fuzz.
part_tidy() {
  ./deploy/build.sh fuzz packtrain_protocol
  say "clang-tidy and thread-safety analysis"
  python3 tests/lint/clang_tidy.py build/fuzz
}

part_tests() {
  build_release
  test_release
}

# left_out PART COMMIT: prints what a part that passed lacks on a commit that was clean when it began, or nothing.
left_out() {
  if [ ${#options[@]} -gt 0 ]; then
    echo "the trainer was left out"
  elif [ -z "$2" ] || [ "$(clean_commit)" != "$2" ]; then
    echo "files differ from the commit"
  elif [ "$1" = tests ] && ! has_nvcc13; then
    echo "the GPU program was not built, for there is no CUDA 13 compiler (nvcc)"
  elif [ "$1" = fuzz ] && [ "$fuzz_seconds" -lt "$min_fuzz_seconds" ]; then
    echo "PACKTRAIN_FUZZ_SECONDS is $fuzz_seconds, and the full check takes $min_fuzz_seconds"
  fi
}

# run_part PART: notes the commit if nothing was left out and it was this one from the beginning to the end.
run_part() {
  local commit lacks
  commit=$(clean_commit)
  "part_$1"
  lacks=$(left_out "$1" "$commit")
  if [ -n "$lacks" ]; then
    say "part $1 has passed and is not noted: $lacks"
  else
    mkdir -p build/passed
    echo "$commit" >"build/passed/$1"
  fi
}

./deploy/setup.sh "${options[@]}"
if [ ${#parts[@]} -eq 0 ]; then
  build_release
  test_decoders
  test_release
fi
commit=$(clean_commit)
for part in "${parts[@]}"; do
  if [ "$all" = yes ] && has_passed "$part" "$commit"; then
    say "part $part has passed on this commit"
  else
    say "part $part"
    run_part "$part"
  fi
done
