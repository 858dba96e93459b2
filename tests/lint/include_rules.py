"""Checks who includes whom. usage: include_rules.py REPOSITORY; prints each broken rule, exits 1 if any.

The rules are the table in `RULES` and those on third-party headers in `HEADER_RULES`; README.md names them
in words.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
OURS = ("proto/", "server/", "client/", "trainer/", "tests/")

# Folder -> folders of ours it may include. The longest matching folder holds.
RULES = {
    "proto/": ["proto/"],
    "server/": ["server/", "proto/"],
    "server/batching/": ["server/batching/"],
    "server/edges/": ["server/edges/", "proto/wire/"],
    "server/rocks/": ["server/rocks/", "proto/"],
    "server/log/": ["server/log/", "proto/wire/"],
    "server/metrics/": ["server/metrics/", "server/rocks/", "proto/wire/"],
    "server/storage/": ["server/storage/", "server/rocks/", "server/batching/", "server/edges/", "proto/"],
    "server/runs/": ["server/runs/", "server/rocks/", "proto/"],
    "client/": ["client/", "proto/"],
    "client/cli/": ["client/", "proto/", "server/batching/"],
    "trainer/": ["trainer/", "client/", "proto/wire/"],
    "tests/": ["tests/", "proto/", "server/", "client/", "trainer/"],
}

# A header's beginning -> the files that may include it (regular expressions on the path).
HEADER_RULES = {
    r"(torch|ATen|c10)/": [r"trainer/", r"tests/trainer/"],
    r"rocksdb/": [r"server/(rocks|storage|runs)/.*\.cc$", r"tests/bench/", r"tests/testing/faulty_disk\.cc$",
                  r"tests/server/runs/rocks_run_store_test\.cc$", r"tests/server/rocks/"],
    r"(grpc|grpcpp)/|packtrain/v1/.*\.grpc\.pb\.h": [
        r"server/serving/", r"server/main\.cc$", r"proto/wire/status_convert", r"client/[^/]*\.cc$",
        r"client/channel\.h$", r"tests/"],
    r"(prometheus/|civetweb)": [r"server/metrics/"],
    r"spdlog/": [r"server/log/"],
    r"boost/": [r"server/(runs|edges)/", r"tests/server/(runs|edges)/"],
}


def rule_for(path):
    return RULES[max((folder for folder in RULES if path.startswith(folder)), key=len)]


def broken_rules(path, text):
    includes = INCLUDE.findall(text)
    allowed = rule_for(path)
    for header in includes:
        if header.startswith(OURS) and not header.startswith(tuple(allowed)):
            yield f"{path}: includes {header}; may include {', '.join(allowed)}"
        for pattern, places in HEADER_RULES.items():
            if re.match(pattern, header) and not any(re.match(place, path) for place in places):
                yield f"{path}: includes {header}, which belongs in {', '.join(places)}"
        if path.startswith("server/batching/") and not header.startswith(("server/batching/", "absl/")):
            if "/" in header or header.endswith(".h"):
                yield f"{path}: includes {header}; server/batching takes the standard library and Abseil alone"
    torch = any(re.match(r"(torch|ATen|c10)/", header) for header in includes)
    if torch and any(header.endswith(".pb.h") for header in includes):
        yield f"{path}: includes Torch and generated protobuf"


def main(root):
    root = pathlib.Path(root)
    broken = []
    for folder in OURS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in {".h", ".cc", ".cu", ".cuh"}:
                broken += broken_rules(file.relative_to(root).as_posix(), file.read_text())
    print("\n".join(broken) or "include rules hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
