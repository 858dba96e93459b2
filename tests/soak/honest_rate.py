"""How much of its rate an honest client keeps beside hostile ones.

A data node with --memory SIZE is read by `packtrain bench stream`: alone, and beside hostile clients of another node and of
this one. Prints one line a turn, then medians and the node's resident memory.
Nothing is judged: rates depend on the machine, whose processors the hostile clients need, too.

usage: honest_rate.py [--turns N] [--seconds S] [--memory SIZE]. Needs PACKTRAIN_BIN and PACKTRAIN_TEST_DATA, as ctest sets
them."""
import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from harness import DataNode  # noqa: E402
from hostile_clients import HostileClients, import_wide  # noqa: E402

FLAGS = ("--max-streams", "64", "--max-batch-bytes", str(32 << 20), "--resident-bytes", str(64 << 20))


def graphs_per_second(node, seconds):
    read = node.run("bench", "stream", "--dataset", "sample", "--policy", "static", "--graphs", 32, "--seconds", seconds,
                    "--no-raw")
    assert read.code == 0, read
    return read.json["graphs_per_second"]


def start(memory):
    return DataNode("--memory", memory, *FLAGS)


def prepare(node):
    assert node.import_sample().code == 0
    import_wide(node)
    return node.run("server", "info").json["memory"]["cap_bytes"]


def measure_rates(arguments):
    """Three rates in turn: alone; while the hostile clients work against another node, which takes only processors of
    the machine from the honest one; and while they work against the same node."""
    with start(arguments.memory) as node, start(arguments.memory) as other:
        cap = prepare(node)
        prepare(other)
        beside_others, beside_idle = [], []
        for turn in range(arguments.turns):
            alone = graphs_per_second(node, arguments.seconds)
            with HostileClients(other, turn):
                elsewhere = graphs_per_second(node, arguments.seconds)
            with HostileClients(node, turn) as hostile:
                beside = graphs_per_second(node, arguments.seconds)
            beside_idle.append(beside / alone)
            beside_others.append(beside / elsewhere)
            print(f"turn {turn}: alone {alone:.0f}, hostile clients at another node {elsewhere:.0f}, at this one "
                  f"{beside:.0f} graphs/s; {dict(hostile.counts)}", flush=True)
        for name, kept in (("alone", beside_idle), ("hostile clients at another node", beside_others)):
            print(f"kept of the rate {name}: median {statistics.median(kept):.2f}, minimum {min(kept):.2f}, maximum "
                  f"{max(kept):.2f}", flush=True)
        print(f"resident memory at most {node.memory_bytes('VmHWM') / cap:.0%} of the cap of {cap >> 20} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--memory", default="512M")
    arguments = parser.parse_args()
    measure_rates(arguments)


if __name__ == "__main__":
    main()
