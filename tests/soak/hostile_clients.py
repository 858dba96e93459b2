"""Clients of the soak that want more memory than there is: planned batches at once, reports of zeros, imports that stall and
streams that do not read. Whatever they are refused for want of memory must say when to come again."""
import collections
import pathlib
import random
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


class HostileClients:
    """Work straight against the node, beside what the faults of the proxy meet; each kind on a thread of its own."""

    def __init__(self, node, seed, over):
        self.node, self.over = node, over
        self.choice = random.Random(f"{seed} hostile")
        self.counts = collections.Counter()
        self.kinds = (self.planned_batches, self.zeros, self.stalled_imports, self.unread_streams)

    def work(self, kind):
        """Once. Each of `kinds` is for one thread, and counts under names of its own."""
        try:
            errors = kind()
        except (grpc.RpcError, OSError) as error:  # the node may be away
            self.counts[f"{kind.__name__} {type(error).__name__}"] += 1
            return
        self.counts[kind.__name__] += 1
        for error in errors:
            assert error.code() in hostile.REFUSED, error
            if hostile.waits_in_vain(error):
                assert hostile.has_retry_delay(error), error
                self.counts[f"{kind.__name__} refused"] += 1

    def client(self):
        return Client(self.node.address, timeout=120)

    def import_wide(self):
        with self.client() as client:
            hostile.import_wide(client, DATASET, GRAPHS)

    def planned_batches(self):
        request = batch_pb2.GetPlannedBatchRequest(dataset=DATASET, spec=hostile.spec(GRAPHS))

        def call():
            with self.client() as client:
                client.GetPlannedBatch(request)

        return hostile.at_once([call] * PLANNED)

    def zeros(self):
        packed = hostile.zeros_report(self.choice.randrange(1, 21), ZEROS)
        errors = []
        threads = [threading.Thread(target=lambda: errors.append(hostile.report(self.node.address, packed)))
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
        with hostile.unread_streams(self.node.address, DATASET, 8, UNREAD):
            self.over.wait(STALL_SECONDS)
        return []
