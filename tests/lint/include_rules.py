"""Checks who includes whom. usage: include_rules.py REPOSITORY; prints each broken rule, exits 1 if any.

The rules are the table in `RULES` and those on third-party headers in `HEADER_RULES`; README.md names them
in words.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
OURS = ("proto/", "server/", "client/", "trainer/", "tests/")

# What the commands of packtrain may include, besides what all of them share.
COMMANDS = ["client/cli/*", "client/*", "client/flags/", "client/ingest/", "client/internal/service_client.h",
            "proto/", "server/batching/"]

# Folder -> folders of ours it may include, besides itself without the folders below it that have rules of their own.
# "folder/*" stands for the files of a folder without those of its subfolders. The longest matching folder holds.
RULES = {
    "proto/": [],
    "proto/base/": [],
    "proto/wire/": ["proto/base/"],
    "server/": ["server/", "proto/"],
    "server/log/": ["proto/base/"],
    "server/limits/": ["proto/base/"],
    "server/rocks/": ["server/log/", "server/limits/", "proto/"],
    "server/batching/": ["proto/base/status_macros.h", "proto/wire/"],
    "server/edges/": ["proto/base/", "proto/wire/"],
    "server/metrics/": ["server/rocks/", "proto/base/", "proto/wire/"],
    "server/records/": ["server/edges/", "proto/"],
    "server/storage/": ["server/limits/", "server/rocks/", "server/batching/", "server/edges/", "server/records/",
                        "server/log/", "proto/"],
    "server/analysis/": ["proto/"],
    "server/runs/": ["server/log/", "server/limits/", "server/rocks/", "server/analysis/", "proto/"],
    "server/batches/": ["server/log/", "server/limits/", "server/metrics/", "server/rocks/", "server/batching/",
                        "server/edges/", "server/records/", "server/storage/", "proto/"],
    "server/serving/": ["server/log/", "server/limits/", "server/metrics/", "server/rocks/", "server/batching/",
                        "server/edges/", "server/records/", "server/storage/", "server/batches/", "server/analysis/",
                        "server/runs/", "proto/"],
    "client/": ["client/internal/", "proto/"],
    "client/flags/": ["client/*", "proto/"],
    "client/internal/": ["client/*", "proto/"],
    "client/ingest/": ["server/records/", "server/edges/", "proto/"],
    "client/cli/": COMMANDS,
    "client/cli/bench/": [*COMMANDS, "client/cli/plan/"],
    "client/cli/dataset/": COMMANDS,
    "client/cli/plan/": COMMANDS,
    "client/cli/run/": COMMANDS,
    "client/cli/server/": COMMANDS,
    "trainer/": ["trainer/", "client/*", "client/flags/", "proto/base/", "proto/wire/"],
    "trainer/data/": ["client/*", "proto/base/", "proto/wire/"],
    "trainer/kernels/": ["trainer/data/"],
    "trainer/ranks/": ["proto/base/"],
    "trainer/tasks/": ["trainer/data/", "trainer/kernels/", "trainer/ranks/"],
    "trainer/models/": ["trainer/data/", "trainer/kernels/", "trainer/ranks/", "trainer/tasks/"],
    "trainer/engine/": ["trainer/data/", "trainer/kernels/", "trainer/ranks/", "trainer/tasks/", "trainer/models/",
                        "proto/base/", "proto/wire/"],
    "trainer/run/": ["trainer/data/", "trainer/kernels/", "trainer/ranks/", "trainer/tasks/", "trainer/models/",
                     "trainer/engine/", "client/*", "proto/base/", "proto/wire/"],
    "trainer/selftest/": ["trainer/data/", "trainer/kernels/", "trainer/ranks/", "trainer/tasks/", "trainer/models/",
                          "trainer/engine/", "trainer/run/", "client/*", "proto/base/", "proto/wire/"],
    "tests/": ["tests/", "proto/", "server/", "client/", "trainer/"],
}

# A header's beginning -> the files that may include it (regular expressions on the path).
HEADER_RULES = {
    r"(torch|ATen|c10)/": [r"trainer/", r"tests/trainer/"],
    r"rocksdb/": [r"server/rocks/.*\.cc$", r"tests/bench/", r"tests/testing/faulty_disk\.cc$",
                  r"tests/server/runs/rocks_run_store_test\.cc$", r"tests/server/rocks/"],
    r"(grpc|grpcpp)/|packtrain/v1/.*\.grpc\.pb\.h": [
        r"server/serving/", r"server/node/", r"server/main\.cc$", r"proto/base/status_convert", r"client/[^/]*\.cc$",
        r"client/internal/", r"tests/"],
    r"(prometheus/|civetweb)": [r"server/metrics/"],
    r"spdlog/": [r"server/log/"],
    r"boost/": [r"server/(analysis|edges)/", r"tests/server/(analysis|edges)/"],
}


def folder_of(path):
    return max((folder for folder in RULES if path.startswith(folder)), key=len)


def is_allowed(header, folder):
    if folder_of(header) == folder:
        return True
    return any(header.rsplit("/", 1)[0] + "/*" == place or not place.endswith("*") and header.startswith(place)
               for place in RULES[folder])


def broken_rules(path, text):
    includes = INCLUDE.findall(text)
    folder = folder_of(path)
    for header in includes:
        if header.startswith(OURS) and not is_allowed(header, folder):
            yield f"{path}: includes {header}; may include {', '.join([folder, *RULES[folder]])}"
        for pattern, places in HEADER_RULES.items():
            if re.match(pattern, header) and not any(re.match(place, path) for place in places):
                yield f"{path}: includes {header}, which belongs in {', '.join(places)}"
        if path.startswith("server/batching/") and not header.startswith(("server/batching/", "absl/", "proto/")):
            if "/" in header or header.endswith(".h"):
                yield f"{path}: includes {header}; server/batching takes the standard library, Abseil and proto alone"
    torch = any(re.match(r"(torch|ATen|c10)/", header) for header in includes)
    if torch and any(header.endswith(".pb.h") for header in includes):
        yield f"{path}: includes Torch and generated protobuf"


GENERATED = r"google/protobuf/|(grpc|grpcpp)/|.*\.pb\.h$"

# Files -> what no chain of includes from them may lead to, and what such a file is.
HIDDEN = {
    # What a program that includes a public header of the client library must not see of it.
    "client/*.h": (re.compile(r"client/.*/|" + GENERATED), "a public header"),
    "server/batching/*": (re.compile(GENERATED), "a file of the planner, which is plain,"),
}


def hidden_headers(root, file, hidden, kind):
    """The first hidden header that each chain of includes from `file` leads to."""
    seen, ahead = {file}, [(file, file)]
    while ahead:
        path, way = ahead.pop()
        for included in INCLUDE.findall((root / path).read_text()):
            if hidden.match(included):
                yield f"{file}: {kind} that leads to {included} ({way})"
            elif included not in seen and (root / included).is_file():
                seen.add(included)
                ahead.append((included, f"{way} > {included}"))


def main(root):
    root = pathlib.Path(root)
    broken = []
    for files, (hidden, kind) in HIDDEN.items():
        for file in sorted(root.glob(files)):
            if file.suffix in {".h", ".cc"}:
                broken += hidden_headers(root, file.relative_to(root).as_posix(), hidden, kind)
    for folder in OURS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in {".h", ".cc", ".cu", ".cuh"}:
                broken += broken_rules(file.relative_to(root).as_posix(), file.read_text())
    print("\n".join(broken) or "include rules hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
