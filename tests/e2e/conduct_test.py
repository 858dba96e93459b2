"""How the data node behaves towards clients that are many, silent or broken: it stays answerable and holds nothing."""
import concurrent.futures
import contextlib
import signal
import socket
import struct
import threading
import unittest

import grpc

from deaf_client import deaf_client
from harness import DataNode, eventually, imported_sample
from protocol import Client, batch_pb2, dataset_pb2, run_pb2

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# Asks gRPC's reflection service, protocol version v1alpha, for the list of services.
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
LIST_SERVICES = b"\x3a\x00"


def connections(node, count):
    """Sockets to the node, as many as asked for."""
    host, port = node.address.rsplit(":", 1)
    return [socket.create_connection((host, int(port)), timeout=10) for _ in range(count)]


def was_closed(connection):
    """Whether the node has closed it; it greets the others with the settings of HTTP/2."""
    try:
        connection.sendall(PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def services(address):
    with grpc.insecure_channel(address) as channel:
        call = channel.stream_stream(REFLECTION)(iter([LIST_SERVICES]), timeout=30)
        return b"".join(call)


def header_and_block_and_then(event):
    """The messages of an import of one methane, whose end waits for `event`."""
    schema = dataset_pb2.Schema(
        fields=[dataset_pb2.Field(name="z", scope=dataset_pb2.FIELD_SCOPE_NODE, data_type=dataset_pb2.DATA_TYPE_U8)],
        edge_rule=dataset_pb2.EDGE_RULE_FULL, edges="full")
    yield dataset_pb2.ImportGraphsRequest(header=dataset_pb2.ImportHeader(schema=schema))
    columns = [dataset_pb2.Column(field="z", data=b"\x06\x01\x01\x01\x01")]
    yield dataset_pb2.ImportGraphsRequest(
        block=dataset_pb2.GraphBlock(source_ids=["methane"], n_node=[5], columns=columns))
    event.wait(60)
    yield dataset_pb2.ImportGraphsRequest(end=dataset_pb2.ImportEnd(graphs=1))


class Conduct(unittest.TestCase):
    def assert_answers(self, node):
        info = node.run("server", "info")
        self.assertEqual(info.code, 0, info)
        return info.json

    def has_place(self, client, request):
        """Whether the server, whose places are taken, has one for this stream."""
        try:
            next(client.StreamBatches(request))
            return True
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            return False

    def test_a_fault_of_the_program_leaves_its_stack_in_the_log(self):
        with DataNode() as node:
            node.process.send_signal(signal.SIGSEGV)
            self.assertNotEqual(node.process.wait(timeout=60), 0)
            self.assertIn("*** SIGSEGV received", node.log())
            # Any thread may take the signal: the frame of the signal itself, and below it where the thread was.
            self.assertGreaterEqual(node.log().count("/libc.so.6("), 2, node.log())

    def test_a_client_that_pings_too_often_is_cut_off_and_logged(self):
        ping = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + bytes(8)
        with DataNode() as node:
            (client,) = connections(node, 1)
            with client:
                client.sendall(PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + 100 * ping)
                host, port = client.getsockname()
                with contextlib.suppress(ConnectionError):
                    while client.recv(65536):
                        pass
            self.assertTrue(eventually(lambda: "client_cut_off" in node.log()), node.log())
            (line,) = [line for line in node.log().splitlines() if "client_cut_off" in line]
            self.assertIn(f"{host}:{port}", line)
            self.assert_answers(node)

    def test_a_client_that_takes_nothing_off_its_socket_does_not_hold_up_the_end(self):
        with DataNode("--drain", "1", directory=imported_sample(self)) as node, deaf_client(node.address):
            self.assertEqual(node.terminate(), 0)
            self.assertIn("drain_cut_off", node.log())

    def test_a_client_that_takes_nothing_off_its_socket_is_closed(self):
        with DataNode("--ping-after", "1", "--ping-timeout", "1", directory=imported_sample(self)) as node:
            self.assert_answers(node)
            sockets = node.sockets()
            with deaf_client(node.address):
                self.assertTrue(eventually(lambda: self.assert_answers(node) and node.sockets() <= sockets))

    def test_more_connections_than_open_files(self):
        with DataNode(open_files=256) as node:
            held = connections(node, 300)
            closed = sum(was_closed(connection) for connection in held)
            self.assertGreater(closed, 300 - 192)
            self.assertLess(closed, 300)
            for connection in held:
                connection.close()
            self.assert_answers(node)
            self.assertIn('event=connections_refused reason="too many open files"', node.log())

    def test_too_few_open_files_are_refused_at_the_start(self):
        with self.assertRaisesRegex(RuntimeError, "limit of open files is 64"), DataNode(open_files=64):
            pass

    def test_connections_that_are_dropped_or_half_open(self):
        with DataNode() as node:
            self.assert_answers(node)
            sockets = node.sockets()
            for first in (b"", b"PRI", PREFACE, PREFACE + b"\xff" * 9, b"GET / HTTP/1.1\r\n\r\n"):
                for connection in connections(node, 50):
                    connection.sendall(first)
                    connection.close()
            half_open = connections(node, 100)
            for connection in half_open:
                connection.sendall(PREFACE[:10])
            self.assert_answers(node)
            for connection in half_open:
                connection.close()
            for connection in connections(node, 100):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed by a reset
                connection.close()
            self.assert_answers(node)
            # What was dropped is closed here, too.
            self.assertTrue(eventually(lambda: self.assert_answers(node) and node.sockets() <= sockets))

    def test_a_silent_import_is_cut_off_and_what_it_held_is_freed(self):
        with DataNode("--idle-timeout", "0.5") as node, Client(node.address) as client:
            def files():
                return sorted(path.name for path in (node.directory / "data" / "graphs").rglob("*"))

            before = self.assert_answers(node)["memory"]["used_bytes"], files()
            silent = threading.Event()
            with self.assertRaises(grpc.RpcError) as ended:
                client.ImportGraphs(header_and_block_and_then(silent))
            silent.set()
            self.assertEqual(ended.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
            self.assertIn("0.5 s", ended.exception.details())
            self.assertIn("--idle-timeout", ended.exception.details())
            self.assertEqual((self.assert_answers(node)["memory"]["used_bytes"], files()), before)
            self.assertEqual(node.run("dataset", "list").json, [])

    def test_an_import_that_nobody_seals_is_dropped(self):
        with DataNode("--idle-timeout", "0.5") as node, Client(node.address) as client:
            before = self.assert_answers(node)["memory"]["used_bytes"]
            done = threading.Event()
            done.set()
            staged = client.ImportGraphs(header_and_block_and_then(done))
            self.assertTrue(eventually(lambda: self.assert_answers(node)["memory"]["used_bytes"] <= before))
            with self.assertRaises(grpc.RpcError) as refused:
                client.SealDataset(dataset_pb2.SealDatasetRequest(import_id=staged.import_id, name="late"))
            self.assertEqual(refused.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_a_stream_that_nobody_reads_is_cut_off(self):
        with DataNode("--idle-timeout", "0.5", "--max-streams", "1", directory=imported_sample(self)) as node:
            request = batch_pb2.StreamBatchesRequest(
                dataset="sample", spec=batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=500))
            with Client(node.address) as unread, Client(node.address) as other:
                stream = unread.StreamBatches(request)
                next(stream)
                # The only place is free again once the stream that holds it has been cut off.
                self.assertTrue(eventually(lambda: self.has_place(other, request)))
                with self.assertRaises(grpc.RpcError) as ended:
                    for _ in stream:
                        pass
                self.assertEqual(ended.exception.code(), grpc.StatusCode.CANCELLED)

    def test_a_thousand_runs_that_start_at_once_are_a_thousand_runs(self):
        with DataNode() as node, Client(node.address) as client:
            labels = {str(label): "x" * 100 for label in range(40)}

            def start(number):
                description = run_pb2.RunDescription(model="schnet", labels=labels)
                return client.StartRun(run_pb2.StartRunRequest(
                    description=description, idempotency_key=f"key-of-run-{number}")).run

            with concurrent.futures.ThreadPoolExecutor(100) as threads:
                started = list(threads.map(start, range(1000)))
            self.assertEqual(len(set(started)), 1000)
            listed = [run["run"] for run in node.run("run", "list").json]
            self.assertEqual(sorted(listed), sorted(started))

    def test_reflection_can_be_switched_off(self):
        with DataNode() as node:
            self.assertIn(b"packtrain.v1.BatchService", services(node.address))
        with DataNode("--no-reflection") as node, self.assertRaises(grpc.RpcError) as refused:
            services(node.address)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNIMPLEMENTED)


if __name__ == "__main__":
    unittest.main()
