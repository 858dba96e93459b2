"""Reads epochs as the client library does: goes on at its batch wherever the stream breaks."""
import collections
import hashlib
import queue
import struct
import threading
import time

import grpc

from protocol import OPTIONS, Client, batch_pb2

# What ends a stream that may be opened again. RESOURCE_EXHAUSTED: every place is taken, by streams that the server
# has not yet seen end. DEADLINE_EXCEEDED: of SECONDS_OF_STREAM.
TRANSIENT = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.RESOURCE_EXHAUSTED,
             grpc.StatusCode.DEADLINE_EXCEEDED}
SECONDS_OF_STREAM = 60
SECONDS_WITHOUT_ANSWER = 20
# The window stays at 64 kB, so that a stream that breaks has batches which the client lacks.
NARROW = [*OPTIONS, ("grpc.http2.bdp_probe", 0)]
SECONDS_BETWEEN_TRIES = 0.05


def graphs_of(header, body):
    """Indexes in the data set of the real graphs of a batch."""
    (section,) = [section for section in header.sections if section.field == "graph_index"]
    return struct.unpack_from(f"<{section.dims[0]}Q", body, section.offset_bytes)


class Stalled(Exception):
    """A call that neither answers nor ends."""


def in_time(call):
    """The answers of a streaming call, on a thread of its own: Python's gRPC 1.51 now and then keeps neither the deadline
    nor the cancellation of a call whose connection went while it was dialled. Stalled then; the thread is left behind.
    """
    answers = queue.Queue(maxsize=1)

    def pump():
        try:
            for answer in call:
                answers.put((answer, None))
            answers.put((None, None))
        except grpc.RpcError as error:
            answers.put((None, error))

    threading.Thread(target=pump, daemon=True).start()
    while True:
        try:
            answer, error = answers.get(timeout=SECONDS_WITHOUT_ANSWER)
        except queue.Empty:
            raise Stalled from None
        if error is not None:
            raise error
        if answer is None:
            return
        yield answer


class EpochReader:
    """One rank's way through `request.epochs` epochs. Used by one thread; `on_batch` is called after each batch."""

    def __init__(self, request, on_batch=lambda reader: None):
        self._end = request.start_epoch + request.epochs
        self._request = batch_pb2.StreamBatchesRequest()
        self._request.CopyFrom(request)
        self._on_batch = on_batch
        self.breaks = 0
        # (epoch, index) -> SHA-256 of the body.
        self.digests = {}
        # epoch -> graph -> how often it came.
        self.graphs = collections.defaultdict(collections.Counter)

    def read(self, address):
        """Reads to the end; `address()` is where the server is at that moment."""
        while self._request.start_epoch < self._end:
            try:
                with Client(address(), timeout=SECONDS_OF_STREAM, options=NARROW) as client:
                    self._read(client)
            except (grpc.RpcError, Stalled) as error:
                if isinstance(error, grpc.RpcError) and error.code() not in TRANSIENT:
                    raise
                self.breaks += 1
                time.sleep(SECONDS_BETWEEN_TRIES)
        return self

    def _read(self, client):
        self._request.epochs = self._end - self._request.start_epoch
        header, body = None, b""
        for part in in_time(client.StreamBatches(self._request)):
            if part.HasField("header"):
                header, body = part.header, b""
            body += part.body
            if part.last:
                self._take(header, body)
                self._on_batch(self)

    def _take(self, header, body):
        due = (self._request.start_epoch, self._request.start_step)
        assert (header.epoch, header.step) == due, f"{header.epoch, header.step} came where {due} was due"
        assert len(body) == header.body_bytes
        self.digests[header.epoch, header.index] = hashlib.sha256(body).hexdigest()
        self.graphs[header.epoch].update(graphs_of(header, body))
        last = header.step + 1 == header.epoch_steps
        self._request.start_epoch += last
        self._request.start_step = 0 if last else header.step + 1


def together(readers):
    """What the ranks of one world read: digests by (epoch, index), and epoch -> graph -> how often it came."""
    digests, graphs = {}, collections.defaultdict(collections.Counter)
    for reader in readers:
        assert not digests.keys() & reader.digests.keys(), "two ranks got one batch"
        digests.update(reader.digests)
        for epoch, counts in reader.graphs.items():
            graphs[epoch].update(counts)
    return digests, graphs
