#!/usr/bin/env bash
# Starts a program of this bundle with the libraries beside it. A trainer also gets LibTorch, out of the `torch` that
# $PACKTRAIN_PYTHON (python3) finds; the other programs need none.
# usage: run PROGRAM [ARGUMENT...]     see the folder bin/ for the programs
set -euo pipefail
bundle=$(dirname "$(readlink -f "$0")")
readonly bundle

fail() {
  printf 'run: %s\n' "$1" >&2
  exit 2
}

# Prints the folders that hold LibTorch and the CUDA libraries it came with, joined by colons; or says what is there
# instead. Torch is not imported: its version file and its libraries are all that is looked at.
torch_folders() {
  local python=${PACKTRAIN_PYTHON:-python3}
  command -v "$python" >/dev/null || fail "no $python here, by which to find torch 2.11 for CUDA 13"
  "$python" - <<'PYTHON'
import glob, importlib.util, os, runpy, sys

NEEDED = "needed is torch 2.11 for CUDA 13, as by: pip install torch==2.11.0"

def fail(found):
    sys.exit(f"run: {sys.executable} {found}; {NEEDED}")

def folders(package):
    spec = importlib.util.find_spec(package)
    return list(spec.submodule_search_locations or []) if spec else []

torch = [folder for folder in folders("torch") if os.path.isfile(os.path.join(folder, "version.py"))]
if not torch:
    fail("finds no torch")
version = runpy.run_path(os.path.join(torch[0], "version.py"))
if not version["__version__"].startswith("2.11.") or not str(version.get("cuda")).startswith("13."):
    cuda = f"CUDA {version['cuda']}" if version.get("cuda") else "the CPU"
    fail(f"finds torch {version['__version__']} for {cuda} in {torch[0]}")
cuda = [lib for folder in folders("nvidia") for lib in sorted(glob.glob(os.path.join(folder, "*", "lib")))]
print(":".join([os.path.join(torch[0], "lib"), *cuda]))
PYTHON
}

program=${1:-}
if [ -z "$program" ] || [ ! -x "$bundle/bin/$program" ]; then
  fail "no program '$program'; there are: $(cd "$bundle/bin" && echo ./* | sed 's|\./||g')"
fi
shift
libraries=$bundle/lib
case "$program" in
  packtrain-trainer*)
    torch=$(torch_folders) || exit 2
    libraries=$libraries:$torch
    ;;
esac
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$bundle/bin/$program" "$@"
