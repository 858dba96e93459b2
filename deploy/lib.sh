# Sourced by the scripts of this folder: paths, messages, help.
PACKTRAIN_CACHE=${PACKTRAIN_CACHE:-$HOME/.cache/packtrain}
LIBTORCH=$PACKTRAIN_CACHE/libtorch-2.11.0

say() { printf '\033[1m== %s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }

# fail MESSAGE [CODE]
fail() {
  printf '%s\n' "$1" >&2
  exit "${2:-1}"
}

# Prints the comment at the head of the script that sourced this file: its help.
show_help() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$(dirname "${BASH_SOURCE[0]}")/$(basename "$0")"; }

# Prints the path of a CUDA 13 compiler, or fails.
nvcc13() {
  local candidate
  for candidate in "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc /usr/local/cuda-13/bin/nvcc; do
    if [ -x "$candidate" ] && "$candidate" --version | grep -q 'release 13'; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

has_nvcc13() { nvcc13 >/dev/null; }
