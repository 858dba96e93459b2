#!/usr/bin/env bash
# clang-tidy over our own sources, by the rules of .clang-tidy; prints what it finds, fails if that is anything.
# usage: clang_tidy.sh BUILD-FOLDER [PATH-REGEX]
# The folder must be configured for clang and its protocol generated. Torch's sources are read without precompiled headers:
# configure with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON to include trainer/.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly build=$1 paths=${2:-'(proto/(base|wire)|server|client|tests/(client|fuzz|proto|server|testing))/'}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run-clang-tidy-14 -quiet -p "$build" -extra-arg=-Wno-unknown-warning-option "^$PWD/$paths.*\.cc\$" >"$log" 2>&1 ||
  { grep -E '(warning|error):' "$log" | sort -u; exit 1; }
echo "clang-tidy: clean"
