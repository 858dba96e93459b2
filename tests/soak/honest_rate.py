"""How much of its rate an honest client keeps beside hostile ones, and what the same hostile load takes without limits.

One data node with --memory SIZE is read by `packtrain bench stream`, alone and beside hostile clients in turn; then one with
64 GiB of budget, whose resident memory shows what the load would take. Prints one line a reading, then medians and maxima.
Nothing is judged: rates depend on the machine, and the hostile clients need processors of it, too.

usage: honest_rate.py [--pairs N] [--seconds S] [--memory SIZE]. Needs PACKTRAIN_BIN and PACKTRAIN_TEST_DATA, as ctest sets
them."""
import argparse
import pathlib
import statistics
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from harness import DataNode  # noqa: E402
from hostile_clients import HostileClients  # noqa: E402

FLAGS = ("--max-streams", "64", "--max-batch-bytes", str(32 << 20), "--resident-bytes", str(64 << 20), "--enable-bench")
UNLIMITED = "64G"
HOSTILE_THREADS = 2


def graphs_per_second(node, seconds):
    read = node.run("bench", "stream", "--dataset", "sample", "--policy", "static", "--graphs", 32, "--seconds", seconds)
    assert read.code == 0, read
    return read.json["graphs_per_second"]


class Hostility:
    """`with` it, hostile clients work against the node, a new seed each time."""

    def __init__(self, node, seed):
        self.node, self.seed = node, seed
        self.counts = {}

    def __enter__(self):
        self.over = threading.Event()
        self.clients = [HostileClients(self.node, f"{self.seed} {k}", self.over) for k in range(HOSTILE_THREADS)]
        self.threads = [threading.Thread(target=self.work, args=[client]) for client in self.clients]
        for thread in self.threads:
            thread.start()
        return self

    def work(self, client):
        while not self.over.is_set():
            client.step()

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def start(memory):
    return DataNode("--memory", memory, *FLAGS)


def prepare(node):
    assert node.import_sample().code == 0
    HostileClients(node, 0, threading.Event()).import_wide()
    return node.run("server", "info").json["memory"]["cap_bytes"]


def measure_rates(arguments):
    with start(arguments.memory) as node:
        cap = prepare(node)
        rates = {"alone": [], "beside": []}
        for pair in range(arguments.pairs):
            rates["alone"].append(graphs_per_second(node, arguments.seconds))
            with Hostility(node, pair) as hostility:
                rates["beside"].append(graphs_per_second(node, arguments.seconds))
            counts = sum((client.counts for client in hostility.clients), start=type(hostility.clients[0].counts)())
            print(f"pair {pair}: alone {rates['alone'][-1]:.0f} graphs/s, beside {rates['beside'][-1]:.0f} graphs/s; "
                  f"hostile: {dict(counts)}", flush=True)
        kept = [beside / alone for alone, beside in zip(rates["alone"], rates["beside"])]
        print(f"kept: median {statistics.median(kept):.2f}, minimum {min(kept):.2f}, maximum {max(kept):.2f}; resident memory at most "
              f"{node.memory_bytes('VmHWM') / cap:.0%} of the cap of {cap >> 20} MiB", flush=True)


def measure_unlimited(arguments):
    with start(UNLIMITED) as node:
        prepare(node)
        with Hostility(node, 0):
            graphs_per_second(node, arguments.seconds)
        print(f"without limits: resident memory at most {node.memory_bytes('VmHWM') >> 20} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--memory", default="512M")
    arguments = parser.parse_args()
    measure_rates(arguments)
    measure_unlimited(arguments)


if __name__ == "__main__":
    main()
