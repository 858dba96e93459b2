"""Faults on the way to a data node: it is restarted under its clients, hosts vanish, connections come by the
thousand, and batches are as large as they may be. Nothing is lost or comes twice, and what a fault held is freed.

Faults of other kinds: bad_input_test.py (wrong input), conduct_test.py (silent and unread streams), crash_test.py
and kill_test.py (kill -9), disk_test.py (a full or read-only disk, damaged graphs), resume_test.py (trainers).
"""
import collections
import contextlib
import os
import re
import socket
import struct
import threading
import time
import unittest
from unittest import mock

import grpc

from epoch_reader import TRANSIENT, EpochReader, together
from harness import DataNode, eventually, imported_sample, packtrain
from protocol import Client, batch_pb2, dataset_pb2, run_pb2, server_info_pb2
from proxy import Proxy, reset

RANKS = 8
EPOCHS = 40


def request(rank=0, world_size=1, epochs=1, graphs=8, dataset="sample"):
    spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_DYNAMIC, graphs=graphs, seed=5)
    return batch_pb2.StreamBatchesRequest(dataset=dataset, spec=spec, rank=rank, world_size=world_size, epochs=epochs)


def used_bytes(client):
    return client.GetServerInfo(server_info_pb2.GetServerInfoRequest()).memory.used_bytes


class Restart(unittest.TestCase):
    def test_eight_clients_go_on_with_a_server_that_was_killed_or_stopped(self):
        with DataNode() as node:
            self.assertEqual(node.import_sample().code, 0)
            unbroken = EpochReader(request(epochs=EPOCHS)).read(lambda: node.address)
            away, back = threading.Barrier(RANKS + 1), threading.Barrier(RANKS + 1)
            ends = [self.killed, self.stopped]

            def pause(reader):
                """Every rank waits in mid-epoch while the server goes, and again some epochs later."""
                if reader.pauses and len(reader.digests) == reader.pauses[0]:
                    del reader.pauses[0]
                    away.wait(60)
                    back.wait(60)

            readers = [EpochReader(request(rank, RANKS, EPOCHS), pause) for rank in range(RANKS)]
            for reader in readers:
                reader.pauses = [5, 105][:len(ends)]
            threads = [threading.Thread(target=reader.read, args=[lambda: node.address]) for reader in readers]
            for thread in threads:
                thread.start()
            for end in ends:
                away.wait(60)
                address = node.address
                end(node)
                node.start(listen=address)
                back.wait(60)
            for thread in threads:
                thread.join()
            for reader in readers:
                self.assertGreaterEqual(reader.breaks, len(ends))
            _, graphs = together(readers)
            self.assertEqual(graphs, unbroken.graphs)
            for epoch in range(EPOCHS):
                self.assertEqual(set(graphs[epoch].values()), {1})

    def killed(self, node):
        node.process.kill()
        node.process.wait(timeout=60)
        node.process.stdout.close()

    def stopped(self, node):
        self.assertEqual(node.terminate(), 0)


class Cut(unittest.TestCase):
    def test_a_connection_that_is_reset_again_and_again_does_not_show(self):
        with DataNode() as node, Proxy(node.address) as proxy:
            self.assertEqual(node.import_sample().code, 0)
            unbroken = EpochReader(request(epochs=3)).read(lambda: node.address)

            def cut(reader):
                if len(reader.digests) % 7 == 0:
                    proxy.cut()

            broken = EpochReader(request(epochs=3), cut).read(lambda: proxy.address)
            self.assertGreater(broken.breaks, 3)
            self.assertEqual((broken.digests, broken.graphs), (unbroken.digests, unbroken.graphs))


class TurnedAway(unittest.TestCase):
    def test_a_client_that_is_turned_away_dials_again_and_again(self):
        """gRPC by itself looks every five seconds at a connection that no call waits for."""
        dialled = []

        def turn_away(door):
            with contextlib.suppress(OSError):
                while True:
                    reset(door.accept()[0])
                    dialled.append(1)

        with socket.create_server(("127.0.0.1", 0)) as door:
            thread = threading.Thread(target=turn_away, args=[door])
            thread.start()
            done = packtrain("server", "info", "--give-up", "4", server=f"127.0.0.1:{door.getsockname()[1]}")
            door.shutdown(socket.SHUT_RDWR)
            thread.join()
        self.assertEqual(done.code, 3, done)
        self.assertGreater(len(dialled), 4)


class Stopped(Exception):
    """Ends a reader from its on_batch."""


class HalfOpen(unittest.TestCase):
    def vanish(self, *arguments, silence=0.0):
        """A client reads a little through a proxy, then nothing for `silence` seconds, and its host vanishes. Gives
        the node, and its sockets without the client's, once the server has ended the stream."""
        with DataNode("--max-streams", "2", *arguments, directory=imported_sample(self)) as node, \
                Client(node.address) as other:
            whole = EpochReader(request(epochs=2)).read(lambda: node.address)
            endless = request(epochs=0)
            endless.spec.seed = 6
            with Proxy(node.address) as proxy, Client(proxy.address, timeout=None) as vanished:
                used_bytes(other)  # connects it
                before = node.sockets()
                stream = vanished.StreamBatches(endless)
                next(stream)
                time.sleep(silence)
                proxy.freeze()
                # Others read on; the second place of the server is theirs.
                self.assertEqual(EpochReader(request(epochs=2)).read(lambda: node.address).digests, whole.digests)
                self.await_two_places(node, other)
                yield node, before

    def await_two_places(self, node, client):
        """Returns once another stream is admitted beside one that reads all the time."""
        stopping, batches = threading.Event(), collections.Counter()

        def count(reader):
            batches["read"] += 1
            if stopping.is_set():
                raise Stopped

        reader = EpochReader(request(epochs=10**6), count)

        def read():
            with contextlib.suppress(Stopped):
                reader.read(lambda: node.address)

        thread = threading.Thread(target=read)
        thread.start()

        def has_two_places():
            breaks, read = reader.breaks, batches["read"]
            return self.admitted(client) and eventually(lambda: batches["read"] > read + 1) and reader.breaks == breaks

        two_places = eventually(has_two_places)
        stopping.set()
        thread.join()
        self.assertTrue(two_places)

    def admitted(self, client):
        stream = client.StreamBatches(request())
        try:
            next(stream)
        except grpc.RpcError as error:
            self.assertIn(error.code(), TRANSIENT)
            if error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED:
                self.assertIn("--max-streams", error.details())
            return False
        stream.cancel()
        return True

    def test_a_stream_whose_host_vanished_is_cut_off_at_the_idle_limit(self):
        for _ in self.vanish("--idle-timeout", "0.5"):
            pass

    def test_a_connection_whose_host_vanished_is_closed_after_its_pings(self):
        # A client that lives answers any number of pings first.
        for node, before in self.vanish("--ping-after", "0.4", "--ping-timeout", "5", silence=2.0):
            self.assertTrue(eventually(lambda: node.run("server", "info").code == 0 and node.sockets() <= before))


# For a node built with the address sanitizer, which by default keeps freed memory for a while (its quarantine): with
# none kept, resident memory is what the node holds. Other builds do not read it.
KEEP_NOTHING_FREED = {"ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}


class Connections(unittest.TestCase):
    THOUSANDS = 10
    PER_TIME = 200

    def dropped(self, node, count):
        """Opens and drops `count` connections, every second one by a reset, some with the beginning of HTTP/2."""
        host, port = node.address.rsplit(":", 1)
        for _ in range(count // self.PER_TIME):
            held = [socket.create_connection((host, int(port)), timeout=60) for _ in range(self.PER_TIME)]
            for number, connection in enumerate(held):
                if number % 4 == 0:
                    send(connection, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
                if number % 2 == 0:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()

    def settled(self, node, sockets):
        self.assertTrue(eventually(lambda: node.run("server", "info").code == 0 and node.sockets() <= sockets))

    def test_ten_thousand_connections_leave_nothing_behind(self):
        with mock.patch.dict(os.environ, KEEP_NOTHING_FREED), DataNode() as node, Client(node.address) as client:
            before = used_bytes(client), node.sockets()
            self.dropped(node, 1000)
            self.settled(node, before[1])
            memory = node.memory_bytes()
            self.dropped(node, 1000 * (self.THOUSANDS - 1))
            self.settled(node, before[1])
            self.assertEqual(used_bytes(client), before[0])
            # 8 KiB for each of nine thousand would be 70 MiB.
            self.assertLess(node.memory_bytes(), memory + (32 << 20))

    def test_ten_thousand_connections_with_few_open_files(self):
        with DataNode(open_files=256) as node:
            self.assertEqual(node.run("server", "info").code, 0)
            sockets = node.sockets()
            self.dropped(node, 1000 * self.THOUSANDS)
            self.settled(node, sockets)
            self.assertEqual(node.import_sample("--limit", 100).code, 0)


def send(connection, data):
    """Sends to a server that may have closed the connection already."""
    try:
        connection.sendall(data)
    except ConnectionError:
        pass


class LargeBatches(unittest.TestCase):
    """Graphs of one tenth of a MiB, so that a batch of G of them has G / 10 MiB and some bytes."""

    GRAPHS = 3000
    ROWS = 25  # nodes of a graph
    WIDTH = 1048  # F32 of a node
    PER_BLOCK = 500

    @classmethod
    def setUpClass(cls):
        cls.node = DataNode("--enable-bench")
        cls.node.__enter__()
        with Client(cls.node.address, timeout=120) as client:
            staged = client.ImportGraphs(cls.messages())
            client.SealDataset(dataset_pb2.SealDatasetRequest(import_id=staged.import_id, name="large"))

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()

    @classmethod
    def messages(cls):
        field = dataset_pb2.Field(name="x", scope=dataset_pb2.FIELD_SCOPE_NODE,
                                  data_type=dataset_pb2.DATA_TYPE_F32, dims=[cls.WIDTH])
        schema = dataset_pb2.Schema(fields=[field], edge_rule=dataset_pb2.EDGE_RULE_FULL, edges="full")
        yield dataset_pb2.ImportGraphsRequest(header=dataset_pb2.ImportHeader(schema=schema))
        data = b"\x00\x00\x80\x3f" * (cls.ROWS * cls.WIDTH * cls.PER_BLOCK)
        for first in range(0, cls.GRAPHS, cls.PER_BLOCK):
            yield dataset_pb2.ImportGraphsRequest(block=dataset_pb2.GraphBlock(
                source_ids=[str(first + k) for k in range(cls.PER_BLOCK)], n_node=[cls.ROWS] * cls.PER_BLOCK,
                columns=[dataset_pb2.Column(field="x", data=data)]))
        yield dataset_pb2.ImportGraphsRequest(end=dataset_pb2.ImportEnd(graphs=cls.GRAPHS))

    def spec(self, graphs):
        return batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, pad=batch_pb2.PAD_NONE, graphs=graphs,
                                   order=batch_pb2.ORDER_NONE)

    def first_batch(self, graphs):
        """Body bytes of the first batch, by a client of gRPC's own defaults."""
        with Client(self.node.address, timeout=120, options=[]) as client:
            stream = client.StreamBatches(batch_pb2.StreamBatchesRequest(dataset="large", epochs=1,
                                                                         spec=self.spec(graphs)))
            header, got = None, 0
            for part in stream:
                header = part.header if part.HasField("header") else header
                got += len(part.body)
                if part.last:
                    stream.cancel()
                    break
        self.assertEqual(got, header.body_bytes)
        return got

    def bench(self, graphs):
        """By the C++ client library."""
        return self.node.run("bench", "stream", "--dataset", "large", "--policy", "static", "--pad", "none", "--graphs",
                             graphs, "--order", "none", "--seconds", "0.2", "--no-expand")

    def test_batches_up_to_the_limit_arrive_with_default_settings(self):
        for graphs in (39, 41, 639):
            with self.subTest(mebibytes=graphs / 10):
                size = self.first_batch(graphs)
                self.assertAlmostEqual(size / 2**20, graphs / 10, delta=0.1)
                result = self.bench(graphs)
                self.assertEqual(result.code, 0, result)
                self.assertEqual(result.json["batch_bytes"]["max"], size)

    def test_batches_above_the_limit_are_refused_by_size_limit_and_flag(self):
        for graphs in (645, 3000):
            with self.subTest(mebibytes=graphs / 10):
                with self.assertRaises(grpc.RpcError) as refused:
                    self.first_batch(graphs)
                self.assertEqual(refused.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
                result = self.bench(graphs)
                self.assertEqual((result.code, result.error["code"]), (1, "RESOURCE_EXHAUSTED"), result)
                size = graphs * self.ROWS * self.WIDTH * 4
                for message in (refused.exception.details(), result.error["message"]):
                    stated = int(re.search(r"has (\d+) bytes", message)[1])
                    self.assertAlmostEqual(stated, size, delta=0.01 * size)
                    self.assertIn(str(64 << 20), message)
                    self.assertIn("--max-batch-bytes", message)


MOST = 2**32 - 1


def import_of(n_node=(1,), data=b"\x06", end=1, ids=("a",), **block):
    """An import of one block whose graphs have a node field z of U8 and stored edges."""
    fields = [dataset_pb2.Field(name="z", scope=dataset_pb2.FIELD_SCOPE_NODE, data_type=dataset_pb2.DATA_TYPE_U8)]
    schema = dataset_pb2.Schema(fields=fields, edge_rule=dataset_pb2.EDGE_RULE_STORED, edges="stored")
    graphs = dataset_pb2.GraphBlock(source_ids=ids, n_node=n_node, **{"n_edge": [0] * len(n_node), **block},
                                    columns=[dataset_pb2.Column(field="z", data=data)])
    return [dataset_pb2.ImportGraphsRequest(header=dataset_pb2.ImportHeader(schema=schema)),
            dataset_pb2.ImportGraphsRequest(block=graphs),
            dataset_pb2.ImportGraphsRequest(end=dataset_pb2.ImportEnd(graphs=end))]


def stream_of(spec=None, **fields):
    return batch_pb2.StreamBatchesRequest(dataset="sample", epochs=1, **fields, spec=batch_pb2.BatchSpec(
        **{"policy": batch_pb2.POLICY_STATIC, "graphs": 31, **(spec or {})}))


def steps_of(count=1, **columns):
    """A report on the run that the test started; columns are of `count` rows unless given."""
    block = run_pb2.StepBlock(step=range(count))
    for column in run_pb2.StepBlock.DESCRIPTOR.fields:
        if column.name != "step":
            getattr(block, column.name).extend(columns.get(column.name, [1] * count))
    return block


TRUTHS = {"ImportGraphs": import_of(), "StreamBatches": stream_of(), "ReportSteps": steps_of()}
# What is claimed -> method, request, code, words of the message.
LIES = {
    "nodes": ("ImportGraphs", import_of(n_node=[MOST]), "INVALID_ARGUMENT", "4294967295 rows"),
    "nodes_that_add_up_beyond_32_bits": ("ImportGraphs", import_of(n_node=[MOST, MOST], ids="ab"), "INVALID_ARGUMENT",
                                         "rows"),
    "edges": ("ImportGraphs", import_of(n_edge=[MOST]), "INVALID_ARGUMENT", "4294967295 of each"),
    "senders_without_receivers": ("ImportGraphs", import_of(n_edge=[1], senders=[0]), "INVALID_ARGUMENT", "receivers"),
    "endpoint_that_is_not_there": ("ImportGraphs", import_of(n_edge=[1], senders=[MOST], receivers=[0]),
                                   "INVALID_ARGUMENT", "4294967295"),
    "no_nodes": ("ImportGraphs", import_of(n_node=[0], data=b""), "INVALID_ARGUMENT", "nodes"),
    "ids": ("ImportGraphs", import_of(ids=[]), "INVALID_ARGUMENT", "0 source ids"),
    "column_too_long": ("ImportGraphs", import_of(data=b"\x06" * 4096), "INVALID_ARGUMENT", "4096 bytes"),
    "graphs_at_the_end": ("ImportGraphs", import_of(end=2**64 - 1), "INVALID_ARGUMENT", "18446744073709551615"),
    "no_end": ("ImportGraphs", import_of()[:2], "INVALID_ARGUMENT", "end"),
    "two_headers": ("ImportGraphs", [import_of()[0], *import_of()], "INVALID_ARGUMENT", "end message"),
    "rank": ("StreamBatches", stream_of(rank=MOST, world_size=MOST), "INVALID_ARGUMENT", "rank 4294967295"),
    "step": ("StreamBatches", stream_of(start_step=2**64 - 1), "OUT_OF_RANGE", "start_step"),
    "segment": ("StreamBatches", stream_of(segments=[batch_pb2.Segment(world_size=MOST, steps=2**64 - 1)]),
                "OUT_OF_RANGE", "segment"),
    "segments": ("StreamBatches", stream_of(segments=[batch_pb2.Segment(world_size=1, steps=2**64 - 1)] * 3),
                 "OUT_OF_RANGE", "segment"),
    "segment_of_no_rank": ("StreamBatches", stream_of(segments=[batch_pb2.Segment(steps=1)]), "INVALID_ARGUMENT",
                           "0 ranks"),
    "lookahead": ("StreamBatches", stream_of({"policy": batch_pb2.POLICY_PACKED, "lookahead": MOST}),
                  "INVALID_ARGUMENT", "lookahead"),
    "rungs": ("StreamBatches", stream_of({"pad": batch_pb2.PAD_LADDER, "ladder_rungs": MOST}), "INVALID_ARGUMENT",
              "ladder"),
    "rows": ("ReportSteps", steps_of(65_537), "INVALID_ARGUMENT", "65537"),
    "short_column": ("ReportSteps", steps_of(4, loss=[0.5] * 3), "INVALID_ARGUMENT", "loss"),
    "long_column": ("ReportSteps", steps_of(4, flags=[0] * 4096), "INVALID_ARGUMENT", "flags"),
}


class Lies(unittest.TestCase):
    """Numbers that are not what they claim are refused, before anything of their size is allocated."""

    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        assert cls.node.import_sample().code == 0
        cls.client = Client(cls.node.address)
        description = run_pb2.RunDescription(world_size=1)
        cls.run_name = cls.client.StartRun(run_pb2.StartRunRequest(idempotency_key="a-run-of-lies",
                                                                   description=description)).run

    @classmethod
    def tearDownClass(cls):
        cls.client.channel.close()
        cls.node.__exit__()

    def call(self, method, request):
        if method == "ImportGraphs":
            return self.client.ImportGraphs(iter(request))
        if method == "ReportSteps":
            return self.client.ReportSteps(run_pb2.ReportStepsRequest(run=self.run_name, steps=request))
        return list(getattr(self.client, method)(request))

    def test_each_is_refused_by_name_and_sizes_no_allocation(self):
        for method, request in TRUTHS.items():
            self.call(method, request)
        most = self.node.memory_bytes("VmHWM")
        for name, (method, request, code, words) in LIES.items():
            with self.subTest(name), self.assertRaises(grpc.RpcError) as refused:
                self.call(method, request)
            with self.subTest(name):
                self.assertEqual(refused.exception.code(), grpc.StatusCode[code], refused.exception)
                self.assertIn(words, refused.exception.details())
        self.assertLess(self.node.memory_bytes("VmHWM"), most + (64 << 20))
        listed = [block for block in self.client.ListSteps(run_pb2.ListStepsRequest(run=self.run_name))]
        self.assertEqual([list(block.steps.step) for block in listed], [[0]])

    def test_a_rank_outside_the_run_reports_nothing(self):
        for fields, code in (({"rank": MOST}, "INVALID_ARGUMENT"), ({"attempt": MOST}, "FAILED_PRECONDITION")):
            with self.assertRaises(grpc.RpcError) as refused:
                self.client.ReportSteps(run_pb2.ReportStepsRequest(run=self.run_name, steps=steps_of(), **fields))
            self.assertEqual(refused.exception.code(), grpc.StatusCode[code])


if __name__ == "__main__":
    unittest.main()
