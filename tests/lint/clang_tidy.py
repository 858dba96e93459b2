"""clang-tidy and clang's own warnings, the thread-safety analysis among them, over our sources by the rules of .clang-tidy.

usage: clang_tidy.py BUILD_FOLDER [PATH_REGEX]. The folder is configured with clang (preset fuzz) and its protocol is
generated; nothing is compiled to objects. Prints each finding once; exits 1 where there is any.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLUGIN_HEADERS = pathlib.Path("/usr/lib/llvm-14/include")
SOURCES = r"(proto/(base|wire)|server|client|tests)/"
# The static analyser follows every way through the assertions of a test, which takes minutes a file: fewer ways there.
FEWER_WAYS = ["-extra-arg=-Xclang", "-extra-arg=-analyzer-config", "-extra-arg=-Xclang", "-extra-arg=mode=shallow"]


def make_plugin(build):
    plugin = pathlib.Path(build, "own_declarations.so").resolve()
    subprocess.run(["clang++-14", "-shared", "-fPIC", "-fno-rtti", "-O1", "-std=c++20", "-isystem", PLUGIN_HEADERS,
                    HERE / "own_declarations.cc", "-o", plugin], check=True)
    return plugin


def sources_of(build, paths):
    """Those of the compilation database whose path from the root matches, each once."""
    entries = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
    names = {os.path.relpath(pathlib.Path(entry["directory"], entry["file"]), ROOT) for entry in entries}
    return sorted(name for name in names if re.match(paths, name))


def options_for(source):
    return FEWER_WAYS if source.startswith("tests/") else []


def is_of_others(line):
    """Whether a finding lies in an installed header: the analyser also shows those whose path begins in ours."""
    return line.startswith("/usr/") and "[clang-diagnostic-error" not in line


def findings_of(source, build, plugin, options=()):
    command = ["clang-tidy-14", "-quiet", f"--load={plugin}", "-p", build, *options, source]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if re.search(r" (warning|error): ", line)]
    if done.returncode and not lines:
        return [f"{source}: {done.stderr}"]
    return [line for line in lines if not is_of_others(line)]


def main(build, paths=SOURCES):
    sources = sources_of(build, paths)
    if not sources:
        print(f"{build}: no source matches {paths}", file=sys.stderr)
        return 2
    plugin, shown = make_plugin(build), set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for findings in pool.map(lambda source: findings_of(ROOT / source, build, plugin, options_for(source)), sources):
            for line in findings:
                if line not in shown:
                    shown.add(line)
                    print(line, flush=True)
    print(f"clang-tidy: {len(sources)} sources, {len(shown)} findings")
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
