#!/usr/bin/env bash
# Installs what building packtrain needs on Debian 12; no other script installs anything. Run again, it installs only
# what is missing.
# usage: setup.sh [--without-trainer]     server, client and command line only: no LibTorch
# LibTorch goes to $PACKTRAIN_CACHE (default ~/.cache/packtrain).
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=deploy/lib.sh
source ./lib.sh

trainer=yes
for argument in "$@"; do
  case "$argument" in
    -h | --help)
      show_help
      exit
      ;;
    --without-trainer) trainer=no ;;
    *) fail "setup.sh: unknown argument '$argument'; known: --without-trainer" 2 ;;
  esac
done

grep -qs 'VERSION_CODENAME=bookworm' /etc/os-release || say "this is not Debian 12; package names may differ"

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else
    command -v sudo >/dev/null || fail "installing packages needs root or sudo"
    sudo "$@"
  fi
}

wanted_packages() {
  sed -e 's/#.*//' -e '/^$/d' packages.txt | awk -v trainer="$trainer" '/^\[/ {skip = trainer == "no"; next} !skip'
}

install_packages() {
  local missing=()
  for package in $(wanted_packages); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then say "Debian packages: all there"; return; fi
  say "installing ${#missing[@]} Debian packages and what they need"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  # One in fifty of dpkg's lines is shown as progress.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" 2>&1 |
    awk '/^(E|W):/ {print} /^Setting up/ {if (++done % 50 == 0) {print "   " done " packages set up"; fflush()}}'
}

# The wheels are downloaded once and checked against the hashes of libtorch.txt; what is unpacked is kept
# under the hash of that file and of the list of what was taken from it.
install_libtorch() {
  local want=('torch/include/*' torch/lib/libtorch_cpu.so torch/lib/libtorch.so torch/lib/libc10.so
              torch/lib/libgomp.so.1 torch/lib/libtorch_global_deps.so 'nvidia/cu13/lib/libcudart.so.13'
              'nvidia/cu13/lib/libcupti.so.13')
  # The GPU program links two libraries more; they are of use only where it can be compiled.
  if has_nvcc13; then want+=(torch/lib/libtorch_cuda.so torch/lib/libc10_cuda.so); fi
  local stamp
  stamp=$(cat libtorch.txt <(printf '%s\n' "${want[@]}") | sha256sum | cut -c1-16)
  if [ "$(cat "$LIBTORCH/.complete" 2>/dev/null)" = "$stamp" ]; then say "LibTorch: already there"; return; fi

  say "downloading LibTorch 2.11.0 (540 MB, once)"
  mkdir -p "$PACKTRAIN_CACHE/wheels"
  /usr/bin/python3 -m pip download --progress-bar off --require-hashes --no-deps --only-binary=:all: --python-version 3.11 \
    --implementation cp --abi cp311 --abi none --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    --dest "$PACKTRAIN_CACHE/wheels" -r libtorch.txt
  say "unpacking LibTorch"
  rm -rf "$LIBTORCH.new"
  mkdir -p "$LIBTORCH.new"
  for wheel in torch-2.11.0 nvidia_cuda_runtime-13.0.96 nvidia_cuda_cupti-13.0.85; do
    # unzip's code 11: this wheel holds none of some patterns
    unzip -q -o "$PACKTRAIN_CACHE/wheels/$wheel"-*.whl "${want[@]}" -d "$LIBTORCH.new" 2>/dev/null || [ $? = 11 ]
  done
  echo "$stamp" >"$LIBTORCH.new/.complete"
  rm -rf "$LIBTORCH"
  mv "$LIBTORCH.new" "$LIBTORCH"
}

install_packages
if [ $trainer = yes ]; then install_libtorch; fi
say "setup: done"
