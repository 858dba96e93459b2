#!/usr/bin/env python3
"""How fast a data set that is not in memory is streamed, beside RocksDB's MultiGet alone, in turn on the same cores.

usage: not_resident.py BIN DATA DATASET [--repeats N] [--seconds S] [--order full|none] [--graphs G] [--clients C]
  BIN      folder of packtraind, packtrain and multi_get_bench, such as build/release/bin
  DATA     data directory of a packtraind that is not running
  DATASET  its data set with the most graphs

Prints the rates of each repeat and their ratio; the last line is JSON, of the medians.
"""
import argparse
import json
import pathlib
import signal
import statistics
import subprocess


def json_of(*command):
    return json.loads(subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout)


class DataNode:
    """A packtraind that keeps no records in memory."""

    def __init__(self, options):
        self._command = [options.bin / "packtraind", "--data", options.data, "--listen", "127.0.0.1:0",
                         "--resident-bytes", "1", "--enable-bench", "--log-level", "error"]

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        self.address = self._process.stdout.readline().split()[-1]
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()


def stream(node, options):
    result = json_of(options.bin / "packtrain", "bench", "stream", "--server", node.address, "--dataset",
                     options.dataset, "--policy", "static", "--graphs", options.graphs, "--order", options.order,
                     "--clients", options.clients, "--no-expand", "--seconds", options.seconds, "--json")
    return result["graphs_per_second"]


def multi_get(options):
    order = ["--in-order"] if options.order == "none" else []
    result = json_of(options.bin / "multi_get_bench", options.data, "--keys", options.graphs, "--seconds",
                     options.seconds, *order)
    return result["values_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("dataset")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--order", choices=["full", "none"], default="full")
    parser.add_argument("--graphs", type=int, default=127)
    parser.add_argument("--clients", type=int, default=1)
    options = parser.parse_args()
    streamed, bare = [], []
    with DataNode(options) as node:
        stream(node, options)  # fills the cache
        for repeat in range(options.repeats):
            streamed.append(stream(node, options))
            bare.append(multi_get(options))
            print(f"stream {streamed[-1]:>12,.0f} graphs/s   MultiGet {bare[-1]:>12,.0f} values/s   "
                  f"ratio {streamed[-1] / bare[-1]:.3f}", flush=True)
    rates = {"graphs_per_second": statistics.median(streamed), "multi_get_per_second": statistics.median(bare)}
    rates["ratio"] = statistics.median(one / other for one, other in zip(streamed, bare))
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
