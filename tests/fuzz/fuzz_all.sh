#!/usr/bin/env bash
# Runs every fuzz target at the same time and prints one line for each: executions, coverage, crashes.
# usage: fuzz_all.sh BIN_DIR CORPUS_DIR SECONDS       (shared libraries beside the programs in BIN_DIR/lib are found)
# What is found lies in ./fuzz_out/NAME; new inputs in ./fuzz_out/NAME/corpus. Exits 1 where anything was found.
set -uo pipefail
bin=$(realpath "$1") corpus=$(realpath "$2") seconds=$3
[ -d "$bin/lib" ] && export LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# Stores of runs are synced to the disk they lie on.
[ -d /dev/shm ] && export TMPDIR=/dev/shm
# A quarantine that leaves room below the limit of memory for what the targets themselves hold.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=0:quarantine_size_mb=64} UBSAN_OPTIONS=print_stacktrace=1
pids=()
for program in "$bin"/*_fuzzer; do
  name=$(basename "$program" _fuzzer) out=$PWD/fuzz_out/$(basename "$program" _fuzzer)
  mkdir -p "$out/corpus"
  (cd "$out" && exec "$program" "$out/corpus" "$corpus/$name" -max_total_time="$seconds" -rss_limit_mb=512 \
    -malloc_limit_mb=72 -timeout=10 -print_final_stats=1 -artifact_prefix="$out/") >"$out/log" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
found=0
for program in "$bin"/*_fuzzer; do
  name=$(basename "$program" _fuzzer) out=$PWD/fuzz_out/$(basename "$program" _fuzzer)
  crashes=$(find "$out" -maxdepth 1 -name '*-*' -type f | wc -l)
  grep -q 'stat::number_of_executed_units' "$out/log" || crashes=$((crashes + 1))
  [ "$crashes" = 0 ] || found=1
  printf '%-18s executions %-10s coverage %-7s features %-7s peak_rss_mb %-5s crashes %s\n' "$name" \
    "$(awk '/number_of_executed_units/ {print $2}' "$out/log")" \
    "$(grep -o 'cov: [0-9]*' "$out/log" | tail -1 | cut -d' ' -f2)" \
    "$(grep -o 'ft: [0-9]*' "$out/log" | tail -1 | cut -d' ' -f2)" \
    "$(awk '/peak_rss_mb/ {print $2}' "$out/log")" "$crashes"
done
exit $found
