"""Clients of the soak that want more memory than there is: planned batches at once, reports of zeros, imports that stall and
streams that do not read. Whatever they are refused for want of memory must say when to come again.

usage: hostile_clients.py KIND SEED; one process works as one kind. Reads the node's address from stdin, again each time that
it has moved, and works until stdin ends. Prints what it counted as a line of JSON. Exit code 0: nothing was refused wrongly.
"""
import collections
import json
import pathlib
import random
import subprocess
import sys
import threading

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import hostile  # noqa: E402
from protocol import Client, batch_pb2  # noqa: E402

DATASET = "wide"
GRAPHS = 160
PLANNED = 30
REPORTS = 4
ZEROS = 60_000_000
STALLED = 8
UNREAD = 8
STALL_SECONDS = 5
SECONDS_TO_END = 240


class HostileClient:
    """Works straight against the node, beside what the faults of the proxy meet. A kind is one of its methods, which returns the
    errors that the node gave."""

    def __init__(self, seed):
        self.address = None
        self.over = threading.Event()
        self.choice = random.Random(f"{seed} hostile")
        self.counts = collections.Counter()

    def work(self, kind):
        """Once."""
        try:
            errors = getattr(self, kind)()
        except (grpc.RpcError, OSError) as error:  # the node may be away
            self.counts[f"{kind} {type(error).__name__}"] += 1
            return
        self.counts[kind] += 1
        for error in errors:
            assert error.code() in hostile.REFUSED, error
            if hostile.waits_in_vain(error):
                assert hostile.has_retry_delay(error), error
                self.counts[f"{kind} refused"] += 1

    def client(self):
        return Client(self.address, timeout=120)

    def planned_batches(self):
        request = batch_pb2.GetPlannedBatchRequest(dataset=DATASET, spec=hostile.spec(GRAPHS))

        def call():
            with self.client() as client:
                client.GetPlannedBatch(request)

        return hostile.at_once([call] * PLANNED)

    def zeros(self):
        packed = hostile.zeros_report(self.choice.randrange(1, 21), ZEROS)
        errors = []
        threads = [threading.Thread(target=lambda: errors.append(hostile.report(self.address, packed)))
                   for _ in range(REPORTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert None not in errors, "a report of zeros was taken"
        return errors

    def stalled_imports(self):
        release = threading.Event()
        timer = threading.Timer(STALL_SECONDS, release.set)
        timer.start()

        def call():
            with self.client() as client:
                client.ImportGraphs(hostile.stalled_import(40, release))

        errors = hostile.at_once([call] * STALLED)
        timer.cancel()
        return errors

    def unread_streams(self):
        with hostile.unread_streams(self.address, DATASET, 8, UNREAD):
            self.over.wait(STALL_SECONDS)
        return []


KINDS = ("planned_batches", "zeros", "stalled_imports", "unread_streams")


class HostileClients:
    """`with` it, a process of each kind works against the node."""

    def __init__(self, node, seed):
        self.node = node
        self.commands = [[sys.executable, "-B", __file__, kind, str(seed)] for kind in KINDS]
        self.processes = []
        self.counts = collections.Counter()

    def __enter__(self):
        self.processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                          for command in self.commands]
        self.follow()
        return self

    def follow(self):
        """To be called when the node has moved."""
        for process in self.processes:
            process.stdin.write(self.node.address + "\n")
            process.stdin.flush()

    def has_ended(self):
        return any(process.poll() is not None for process in self.processes)

    def __exit__(self, *_):
        """AssertionError: something was refused wrongly; stderr has it."""
        try:
            for process in self.processes:
                counted, _ = process.communicate(timeout=SECONDS_TO_END)
                assert process.returncode == 0, f"{process.args[-2]} of the hostile clients ended with {process.returncode}"
                self.counts.update(json.loads(counted))
        finally:
            for process in self.processes:
                process.kill()


def import_wide(node):
    """Imports the data set that the hostile clients read."""
    with Client(node.address, timeout=120) as client:
        hostile.import_wide(client, DATASET, GRAPHS)


def main():
    kind, seed = sys.argv[1:]
    client = HostileClient(seed)
    client.address = sys.stdin.readline().strip()

    def follow():
        for line in sys.stdin:
            client.address = line.strip()
        client.over.set()

    threading.Thread(target=follow, daemon=True).start()
    while not client.over.is_set():
        client.work(kind)
    print(json.dumps(client.counts))


if __name__ == "__main__":
    main()
