"""Clang's thread-safety analysis, warnings as errors, over our own sources; nothing is compiled to objects.

usage: thread_safety.py BUILD_FOLDER [PATH_REGEX]. The folder is configured with clang (preset fuzz) and its protocol is
generated. Prints what clang says; exits 1 where that is anything.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def analysis_of(entry):
    """The compiler's command without its launcher, output, optimisation and sanitizers."""
    words = shlex.split(entry["command"])
    words = words[next(k for k, word in enumerate(words) if "clang" in pathlib.Path(word).name):]
    kept = [word for word in words if not re.match(r"-fsanitize|-fno-sanitize|-O\d|-g\d?$|-c$", word)]
    output = kept.index("-o")
    return kept[:output] + kept[output + 2:] + ["-fsyntax-only", "-Wthread-safety", "-Werror"]


def analyse(entry):
    done = subprocess.run(analysis_of(entry), cwd=entry["directory"], capture_output=True, text=True)
    return done.returncode, done.stderr


def main(build, paths=r"(proto/wire|server|client|tests)/"):
    entries = [entry for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
               if re.match(paths, os.path.relpath(entry["file"], ROOT))]
    if not entries:
        print(f"{build}: no source matches {paths}", file=sys.stderr)
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, said in pool.map(analyse, entries):
            failed += code != 0
            sys.stdout.write(said)
    print(f"thread-safety analysis: {len(entries)} sources, {failed} with errors")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
