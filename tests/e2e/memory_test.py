"""The budget of a data node's memory (--memory) holds against clients that ask for as much as they may: resident memory
stays within a tenth of it, the cap does not move, each refusal says when to come again, and honest work goes on."""
import contextlib
import os
import pathlib
import tempfile
import threading
import unittest

import grpc

import hostile
from half_request import HalfRequest
from harness import DataNode, eventually, packtrain
from protocol import Client, batch_pb2, dataset_pb2, run_pb2, server_info_pb2
from proxy import Proxy

CAP = 256 << 20
# Of the cap. The address sanitizer keeps a byte about each eight bytes of memory.
MOST = 1.1 * (9 / 8 if "ASAN_OPTIONS" in os.environ else 1)
GRAPHS = 160
CALLS = 30
SUMMARIES = 32
STEPS = 60_000
ZEROS = 60_000_000
# Of a request: half of the largest that is taken. So many are more than may be received at one time.
HALF = CAP // 64
HALVES = 6
IMPORT_GRAPHS = "/packtrain.v1.DatasetService/ImportGraphs"
POINTS = 100_000  # of a graph; a block has more than 12 bytes of each
REPORT_STEPS = "/packtrain.v1.RunService/ReportSteps"


class Budget(unittest.TestCase):
    def setUp(self):
        self.node = DataNode("--memory", "256M", "--idle-timeout", "60")
        self.node.__enter__()
        self.addCleanup(self.node.__exit__)
        self.client = Client(self.node.address, timeout=120)
        self.addCleanup(self.client.channel.close)

    def call_at_once(self, method, request, count):
        def call():
            with Client(self.node.address, timeout=300) as client:
                client.connect()
                getattr(client, method)(request)

        return hostile.at_once([call] * count)

    def assert_held(self, errors=()):
        most = self.node.memory_bytes("VmHWM")
        print(f"{self.id()}: {most / CAP:.0%} of the cap", flush=True)
        self.assertLessEqual(most, MOST * CAP, f"{most >> 20} MiB")
        memory = self.client.GetServerInfo(server_info_pb2.GetServerInfoRequest()).memory
        self.assertEqual(memory.cap_bytes, CAP)
        self.assertLessEqual(memory.used_bytes, CAP)
        self.assertEqual(memory.used_bytes, sum(part.used_bytes for part in memory.parts))
        for error in errors:
            self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, error)
            self.assertTrue(hostile.has_retry_delay(error), error)
            self.assertIn("come again in", error.details())

    def test_planned_batches_wait_for_their_turn(self):
        hostile.import_wide(self.client, "wide", GRAPHS)
        request = batch_pb2.GetPlannedBatchRequest(dataset="wide", spec=hostile.spec(GRAPHS))
        errors = self.call_at_once("GetPlannedBatch", request, CALLS)
        self.assert_held(errors)
        self.assertLess(len(errors), CALLS)
        self.client.GetPlannedBatch(request)

    def test_reports_of_zeros_are_refused_before_they_are_decoded(self):
        reports = [hostile.zeros_report(column, ZEROS) for column in (1, 8, 18, 20)]
        errors = hostile.at_once([lambda packed=packed: self.fail_with(packed) for packed in reports])
        self.assertEqual(len(errors), len(reports))
        for error in errors:
            self.assertIn(error.code(), hostile.REFUSED, error)
        self.assert_held()

    def test_a_request_that_is_compressed_is_refused(self):
        with grpc.insecure_channel(self.node.address) as channel, self.assertRaises(grpc.RpcError) as refused:
            channel.unary_unary(REPORT_STEPS)(bytes(ZEROS), timeout=60, compression=grpc.Compression.Gzip)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNIMPLEMENTED, refused.exception)
        self.assert_held()

    def fail_with(self, packed):
        error = hostile.report(self.node.address, packed)
        self.assertIsNotNone(error)
        raise error

    def start_run(self):
        description = run_pb2.RunDescription(world_size=1)
        return self.client.StartRun(run_pb2.StartRunRequest(idempotency_key="memory test", description=description))

    def test_summaries_of_a_long_run_wait_for_their_turn(self):
        run = self.start_run()
        for first in range(0, STEPS, 1 << 15):
            self.report_steps(run, range(first, min(first + (1 << 15), STEPS)))
        errors = self.call_at_once("SummarizeRun", run_pb2.SummarizeRunRequest(run=run.run), SUMMARIES)
        self.assert_held(errors)
        self.assertLess(len(errors), SUMMARIES)
        self.client.SummarizeRun(run_pb2.SummarizeRunRequest(run=run.run))

    def report_steps(self, run, steps):
        names = [column.name for column in run_pb2.StepBlock.DESCRIPTOR.fields]
        columns = {name: [1] * len(steps) for name in names} | {"step": steps}
        self.client.ReportSteps(run_pb2.ReportStepsRequest(run=run.run, attempt=run.attempt,
                                                           steps=run_pb2.StepBlock(**columns)))

    def test_requests_that_are_sent_in_part_are_ended_and_honest_ones_go_on(self):
        run = self.start_run()
        with contextlib.ExitStack() as stack:
            halves = [stack.enter_context(HalfRequest(self.node.address, REPORT_STEPS, 2 * HALF)) for _ in range(HALVES)]
            threads = [threading.Thread(target=half.send, args=[HALF]) for half in halves]
            for thread in threads:
                thread.start()
            for step in range(1, 21):
                self.report_steps(run, [step])
            imported = self.node.import_sample()
            self.assertEqual(imported.code, 0, imported)
            for thread in threads:
                thread.join()
            for step in range(21, 41):
                self.report_steps(run, [step])
            # What was sent of all of them is too much; those that are left fit.
            self.assertTrue(eventually(lambda: any([half.is_ended() for half in halves])))
            ended = [half for half in halves if half.ended]
            self.assertLess(len(ended), HALVES)
            for half in ended:
                self.assertIn(b"the server stopped receiving the request", half.answer)
        self.assert_held()

    def test_an_import_that_is_sent_in_part_is_ended_where_it_holds_the_most(self):
        with contextlib.ExitStack() as stack:
            imported = stack.enter_context(HalfRequest(self.node.address, IMPORT_GRAPHS, 2 * HALF))
            imported.send(HALF * 3 // 2)
            halves = self.send_halves(stack, HALF, 3)
            self.assertIn(b"the server stopped receiving the request", imported.await_end())
            self.assertFalse(any([half.is_ended() for half in halves]))
        self.assert_held()

    def send_halves(self, stack, size, count):
        halves = [stack.enter_context(HalfRequest(self.node.address, REPORT_STEPS, 2 * HALF)) for _ in range(count)]
        for half in halves:
            half.send(size)
        return halves

    def test_an_import_that_the_server_stopped_receiving_stores_each_graph_once(self):
        with tempfile.TemporaryDirectory() as folder, Proxy(self.node.address) as proxy:
            points = pathlib.Path(folder) / "points.xyz"
            points.write_text("".join(
                f"{nodes}\nProperties=species:S:1:pos:R:3 energy=1.5\n" + "".join(f"C {k} 0 0\n" for k in range(nodes))
                for nodes in (3, POINTS, 5)))
            # In the midst of the block with the large graph, which is the second message.
            proxy.hold_after(9 * POINTS)
            results = []
            thread = threading.Thread(target=lambda: results.append(packtrain(
                "import", "extxyz", points, "--name", "points", "--edges", "radius:1.5", "--json", server=proxy.address)))
            thread.start()
            proxy.await_held()
            with contextlib.ExitStack() as stack:
                # Together more than may be received, also without the 64 KiB of each that may come before it is counted;
                # each less than the import.
                self.send_halves(stack, 7 * POINTS, CAP // 16 // (7 * POINTS - (64 << 10)) + 1)
                proxy.await_answer(b"the server stopped receiving the request")
            proxy.thaw()
            thread.join()
        self.assertEqual(results[0].code, 0, results[0])
        self.assertEqual(self.node.run("dataset", "show", "points").json["graphs"], 3)
        self.assert_held()

    def test_a_request_that_can_never_be_taken_is_told_so_while_it_comes(self):
        with HalfRequest(self.node.address, REPORT_STEPS, ZEROS) as half:
            half.send(ZEROS // 2)
            self.assertIn(b"larger than max", half.await_end())
        self.assert_held()

    def import_graph(self, block, **header):
        request = dataset_pb2.ImportGraphsRequest
        return self.client.ImportGraphs(iter([request(header=dataset_pb2.ImportHeader(**header)), request(block=block),
                                              request(end=dataset_pb2.ImportEnd(graphs=1))]))

    def assert_does_not_fit(self, said, call, *arguments, **named):
        with self.assertRaises(grpc.RpcError) as refused:
            call(*arguments, **named)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, refused.exception)
        for text in said, "of memory for imports, of which the server has", "--memory":
            self.assertIn(text, refused.exception.details())

    def import_points(self, edges, nodes):
        pos = dataset_pb2.Field(name="pos", scope=dataset_pb2.FIELD_SCOPE_NODE, data_type=dataset_pb2.DATA_TYPE_F32, dims=[3])
        rule = dataset_pb2.EDGE_RULE_FULL if edges == "full" else dataset_pb2.EDGE_RULE_STORED
        columns = [dataset_pb2.Column(field="pos", data=bytes(12 * nodes))]
        return self.import_graph(dataset_pb2.GraphBlock(source_ids=["a"], n_node=[nodes], columns=columns), build_edges=True,
                                 schema=dataset_pb2.Schema(fields=[pos], edge_rule=rule, edges=edges))

    def import_nodes(self, nodes, renumber):
        q = dataset_pb2.Field(name="q", scope=dataset_pb2.FIELD_SCOPE_GRAPH, data_type=dataset_pb2.DATA_TYPE_U8)
        block = dataset_pb2.GraphBlock(source_ids=["a"], n_node=[nodes], n_edge=[1], senders=[0], receivers=[1],
                                       columns=[dataset_pb2.Column(field="q", data=b"1")])
        schema = dataset_pb2.Schema(fields=[q], edge_rule=dataset_pb2.EDGE_RULE_STORED, edges="given")
        return self.import_graph(block, schema=schema, renumber=renumber)

    def seal(self, staged, name):
        self.client.SealDataset(dataset_pb2.SealDatasetRequest(import_id=staged.import_id, name=name))

    def derive(self, dataset, **change):
        self.client.DeriveDataset(dataset_pb2.DeriveDatasetRequest(dataset=dataset, name="derived", **change))

    def test_edges_and_numberings_that_do_not_fit_are_refused_before_they_are_made(self):
        rcm, as_read = dataset_pb2.RENUMBERING_RCM, dataset_pb2.RENUMBERING_UNSPECIFIED
        self.assert_does_not_fit("graph 1 'a': building its edges", self.import_points, "radius:5", 12_000)
        self.assert_does_not_fit("graph 1 'a': building its edges", self.import_points, "knn:5000", 8_000)
        self.assert_does_not_fit("graph 1 'a': renumbering its nodes", self.import_nodes, 60_000_000, rcm)
        with self.assertRaises(grpc.RpcError) as refused:
            self.import_nodes(2**32 - 1, rcm)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("too_large", refused.exception.details())
        self.seal(self.import_points("full", 12_000), "points")
        self.seal(self.import_nodes(60_000_000, as_read), "nodes")
        self.assert_does_not_fit("graph 1 'a': building its edges", self.derive, "points", edges="radius:5")
        self.assert_does_not_fit("graph 1 'a': renumbering its nodes", self.derive, "nodes", renumber=rcm)
        self.derive("points", edges="knn:5")
        self.assert_held()

    def test_imports_that_stall_and_streams_that_do_not_read_leave_room_for_others(self):
        hostile.import_wide(self.client, "wide", GRAPHS)
        release = threading.Event()
        self.addCleanup(release.set)
        clients = [Client(self.node.address, timeout=300) for _ in range(12)]
        imports = [threading.Thread(target=hostile.at_once, args=[
            [lambda client=client: client.ImportGraphs(hostile.stalled_import(40, release))]]) for client in clients]
        for thread in imports:
            thread.start()
        with hostile.unread_streams(self.node.address, "wide", 20, count=12):
            self.client.GetPlannedBatch(batch_pb2.GetPlannedBatchRequest(dataset="wide", spec=hostile.spec(10)))
            batches = list(self.client.StreamBatches(
                batch_pb2.StreamBatchesRequest(dataset="wide", spec=hostile.spec(1), epochs=1)))
            self.assertGreaterEqual(len(batches), GRAPHS * 8 // 10)
            self.assert_held()
        release.set()
        for thread in imports:
            thread.join()
        hostile.import_wide(self.client, "again", GRAPHS)
        self.assert_held()


if __name__ == "__main__":
    unittest.main()
