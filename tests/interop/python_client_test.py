"""A client in Python, of generated code alone, against the real data node and command line."""
import csv
import gzip
import importlib.util
import itertools
import pathlib
import sys
import unittest

import grpc
import numpy
from harness import SAMPLE, SAMPLE_TARGETS, DataNode, damage_store
from packtrain.v1 import batch_pb2, batch_pb2_grpc, dataset_pb2, dataset_pb2_grpc, run_pb2, run_pb2_grpc

import wire_format

STREAM_BATCHES = "/packtrain.v1.BatchService/StreamBatches"
ELEMENTS = {"H": 1, "C": 6, "N": 7, "O": 8, "F": 9}
SPECS = {
    "static": (["--policy", "static", "--pad", "multiple", "--graphs", "31", "--seed", "5"],
               dict(policy=batch_pb2.POLICY_STATIC, pad=batch_pb2.PAD_MULTIPLE, graphs=31, seed=5)),
    "dynamic": (["--policy", "dynamic", "--graphs", "31", "--seed", "5"],
                dict(policy=batch_pb2.POLICY_DYNAMIC, graphs=31, seed=5)),
    "packed": (["--policy", "packed", "--graphs", "31", "--lookahead", "20", "--seed", "5"],
               dict(policy=batch_pb2.POLICY_PACKED, graphs=31, lookahead=20, seed=5)),
}


class Molecule:
    def __init__(self, source_id, rows):
        self.id = source_id
        self.z = numpy.array([ELEMENTS[row[0]] for row in rows], "u1")
        self.pos = numpy.array([row[1:4] for row in rows], "f4")


def read_molecules(path):
    """Molecules of a plain xyz file, by id, in its order."""
    with gzip.open(path, "rt") as lines:
        molecules = {}
        for count in lines:
            source_id = next(lines).split()[0]
            molecules[source_id] = Molecule(source_id, [row.split() for row in itertools.islice(lines, int(count))])
        return molecules


def read_targets(path):
    """Names of the targets, and their values by id."""
    with gzip.open(path, "rt") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file)]
    return rows[0][1:], {row[0]: numpy.array(row[1:], "f8") for row in rows[1:]}


MOLECULES = read_molecules(SAMPLE)
TARGETS, VALUES = read_targets(SAMPLE_TARGETS)


class Client(unittest.TestCase):
    """A data node with the sample, and a channel to it."""

    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        cls.addClassCleanup(cls.node.__exit__)
        imported = cls.node.import_sample()
        assert imported.code == 0, imported
        cls.channel = grpc.insecure_channel(cls.node.address)
        cls.addClassCleanup(cls.channel.close)

    def stream(self, dataset="sample", epochs=1, **request):
        """Encoded messages, as they travel."""
        call = self.channel.unary_stream(STREAM_BATCHES, batch_pb2.StreamBatchesRequest.SerializeToString, None)
        message = batch_pb2.StreamBatchesRequest(dataset=dataset, epochs=epochs, **request)
        return list(call(message, timeout=60))


class StreamedBatches(Client):
    def test_every_batch_is_the_one_that_was_planned(self):
        for name, (flags, spec) in SPECS.items():
            with self.subTest(name):
                self.expect_planned(flags, batch_pb2.BatchSpec(**spec))

    def expect_planned(self, flags, spec):
        plans = batch_pb2_grpc.PlanServiceStub(self.channel)
        seen = []
        for rank in range(2):
            for batch in wire_format.batches(self.stream(spec=spec, rank=rank, world_size=2)):
                header = batch.header
                self.assertEqual((header.rank, header.index), (rank, 2 * header.step + rank))
                planned = plans.GetPlannedBatch(batch_pb2.GetPlannedBatchRequest(
                    dataset="sample", spec=spec, world_size=2, index=header.index), timeout=60)
                self.assertEqual(list(batch["n_node"]), planned.n_node)
                self.assertEqual(list(batch["n_edge"]), planned.n_edge)
                self.assertEqual(header.padded, planned.padded)
                self.assertEqual(header.body_crc32c, planned.body_crc32c)
                self.assertEqual(header.fingerprint, planned.fingerprint)
                self.expect_source_values(batch, planned.source_ids)
                seen += planned.source_ids
        self.assertEqual((len(seen), len(set(seen))), (2222, 2222))
        self.expect_printed(flags, spec)

    def expect_source_values(self, batch, ids):
        self.assertEqual(batch["y"].dtype, "<f8")
        self.assertEqual(batch["pos"].dtype, "<f4")
        for k, (source_id, first) in enumerate(zip(ids, batch.first_nodes())):
            molecule = MOLECULES[source_id]
            nodes = slice(first, first + len(molecule.z))
            self.assertEqual(len(molecule.z), batch["n_node"][k])
            numpy.testing.assert_array_equal(batch["z"][nodes], molecule.z)
            numpy.testing.assert_array_equal(batch["pos"][nodes], molecule.pos)
            numpy.testing.assert_array_equal(batch["y"][k], VALUES[source_id])

    def expect_printed(self, flags, spec):
        """`packtrain plan --batch K` says the same as the wire."""
        for index, batch in enumerate(itertools.islice(wire_format.batches(self.stream(spec=spec)), 3)):
            printed = self.node.run("plan", "--dataset", "sample", *flags, "--batch", index).json
            padded = batch.header.padded
            self.assertEqual(printed["shape"], {"graphs": padded.graphs, "nodes": padded.nodes, "edges": padded.edges})
            self.assertEqual(printed["n_node"], list(batch["n_node"]))
            self.assertEqual(printed["n_edge"], list(batch["n_edge"]))
            self.assertEqual(int(str(printed["crc32c"]), 0), batch.header.body_crc32c)
            self.expect_source_values(batch, printed["ids"])

    def test_edges_that_are_not_sent_are_all_ordered_pairs(self):
        batch = next(wire_format.batches(self.stream(spec=batch_pb2.BatchSpec(**SPECS["static"][1]))))
        self.assertEqual(batch.header.edge_rule, dataset_pb2.EDGE_RULE_FULL)
        self.assertNotIn("senders", batch.sections)
        senders, receivers = batch.edges()
        self.assertEqual(len(senders), batch.header.real.edges)
        expected = [(s, r) for first, n in zip(batch.first_nodes(), batch["n_node"])
                    for r in range(first, first + n) for s in range(first, first + n) if s != r]
        self.assertEqual(list(zip(senders, receivers)), expected)

    def test_small_messages_carry_the_same_batches(self):
        spec = batch_pb2.BatchSpec(**SPECS["dynamic"][1])
        large = list(wire_format.batches(self.stream(spec=spec)))
        messages = self.stream(spec=spec, max_message_bytes=4096)
        self.assertLessEqual(max(map(len, messages)), 4096)
        self.assertGreater(len(messages), len(large))
        small = list(wire_format.batches(messages))
        self.assertEqual([b.body for b in small], [b.body for b in large])
        self.assertEqual([b.header for b in small], [b.header for b in large])


class DamagedBatches(Client):
    def test_a_client_that_says_so_gets_each_batch_without_its_damaged_graphs(self):
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_DYNAMIC, graphs=31, split="all")
        whole = list(wire_format.batches(self.stream(spec=spec)))
        self.assertEqual(self.node.terminate(), 0)
        damage_store(self.node.directory)
        self.node.start()
        self.channel = self.enterContext(grpc.insecure_channel(self.node.address))
        skipped = list(wire_format.batches(self.stream(spec=spec, on_corrupt=batch_pb2.ON_CORRUPT_SKIP)))
        self.assertEqual([batch.header.padded for batch in skipped], [batch.header.padded for batch in whole])
        self.assertTrue(any(batch.header.corrupt_graphs for batch in skipped))
        for now, before in zip(skipped, whole):
            corrupt = set(now.header.corrupt_graphs)
            kept = [graph not in corrupt for graph in before["graph_index"]]
            for field in ("graph_index", "n_node", "n_edge", "y"):
                numpy.testing.assert_array_equal(now[field], before[field][kept])
        with self.assertRaises(grpc.RpcError) as stopped:
            self.stream(spec=spec)
        self.assertEqual(stopped.exception.code(), grpc.StatusCode.DATA_LOSS)


def load_stub(path):
    """A generated module by its file: the package `google` is Debian's, which lacks `rpc`."""
    folder = next(folder for folder in map(pathlib.Path, sys.path) if (folder / path).exists())
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, folder / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Errors(Client):
    """Details of errors, as google.rpc has them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.status_pb2 = load_stub("google/rpc/status_pb2.py")
        cls.details_pb2 = load_stub("google/rpc/error_details_pb2.py")

    def details_of(self, **request):
        """ErrorInfo and BadRequest of the error that a stream ends with."""
        with self.assertRaises(grpc.RpcError) as failed:
            list(batch_pb2_grpc.BatchServiceStub(self.channel).StreamBatches(
                batch_pb2.StreamBatchesRequest(**request), timeout=60))
        error = failed.exception
        trailers = dict(error.trailing_metadata())
        self.assertLess(sum(len(key) + len(value) for key, value in trailers.items()), 8192)
        status = self.status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
        self.assertEqual((status.code, status.message), (error.code().value[0], error.details()))
        info, bad_request = self.details_pb2.ErrorInfo(), self.details_pb2.BadRequest()
        for detail in status.details:
            detail.Unpack(info) or detail.Unpack(bad_request)
        self.assertEqual(info.domain, "packtrain")
        return info, bad_request

    def test_a_bad_field_is_named(self):
        info, bad_request = self.details_of(dataset="sample")
        self.assertEqual(info.reason, "INVALID_ARGUMENT")
        self.assertEqual([violation.field for violation in bad_request.field_violations], ["spec.policy"])
        self.assertIn("--policy", bad_request.field_violations[0].description)

    def test_a_reason_has_its_facts(self):
        info, bad_request = self.details_of(dataset="none", spec=batch_pb2.BatchSpec(**SPECS["dynamic"][1]))
        self.assertEqual((info.reason, dict(info.metadata)), ("DATASET_NOT_FOUND", {"dataset": "none"}))
        self.assertEqual(len(bad_request.field_violations), 0)

    def test_the_command_line_prints_them(self):
        printed = self.node.run("plan", "--dataset", "none", "--policy", "dynamic", "--graphs", "31")
        self.assertIn({"type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "DATASET_NOT_FOUND",
                       "domain": "packtrain", "metadata": {"dataset": "none"}}, printed.error["details"])


class Imports(Client):
    def import_graphs(self, name, messages, **seal):
        datasets = dataset_pb2_grpc.DatasetServiceStub(self.channel)
        staged = datasets.ImportGraphs(iter(messages), timeout=60)
        request = dataset_pb2.SealDatasetRequest(import_id=staged.import_id, name=name, **seal)
        return datasets.SealDataset(request, timeout=60).dataset

    def expect_refused(self, messages, *words):
        with self.assertRaises(grpc.RpcError) as refused:
            self.import_graphs("bad", messages)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        for word in words:
            self.assertIn(word, refused.exception.details())

    @staticmethod
    def messages(schema, *blocks, **policies):
        graphs = sum(len(block.source_ids) for block in blocks)
        return [dataset_pb2.ImportGraphsRequest(header=dataset_pb2.ImportHeader(schema=schema, **policies)),
                *[dataset_pb2.ImportGraphsRequest(block=block) for block in blocks],
                dataset_pb2.ImportGraphsRequest(end=dataset_pb2.ImportEnd(graphs=graphs))]

    @staticmethod
    def qm9_schema():
        node, graph = dataset_pb2.FIELD_SCOPE_NODE, dataset_pb2.FIELD_SCOPE_GRAPH
        return dataset_pb2.Schema(
            fields=[dataset_pb2.Field(name="z", scope=node, data_type=dataset_pb2.DATA_TYPE_U8),
                    dataset_pb2.Field(name="pos", scope=node, data_type=dataset_pb2.DATA_TYPE_F32, dims=[3], unit="angstrom"),
                    dataset_pb2.Field(name="y", scope=graph, data_type=dataset_pb2.DATA_TYPE_F64, dims=[len(TARGETS)])],
            edge_rule=dataset_pb2.EDGE_RULE_FULL, edges="full",
            targets=[dataset_pb2.Target(name=target) for target in TARGETS])

    @staticmethod
    def qm9_block(molecules):
        columns = {"z": [m.z for m in molecules], "pos": [m.pos for m in molecules],
                   "y": [VALUES[m.id] for m in molecules]}
        return dataset_pb2.GraphBlock(
            source_ids=[m.id for m in molecules], n_node=[len(m.z) for m in molecules],
            columns=[dataset_pb2.Column(field=name, data=b"".join(array.tobytes() for array in arrays))
                     for name, arrays in columns.items()])

    def test_the_same_graphs_from_python_and_from_the_command_line_are_one_version(self):
        molecules = list(MOLECULES.values())
        blocks = [self.qm9_block(molecules[k:k + 500]) for k in range(0, len(molecules), 500)]
        fractions = dataset_pb2.SplitFractions(train_permille=800, val_permille=100, test_permille=100)
        dataset = self.import_graphs("from-python", self.messages(self.qm9_schema(), *blocks), fractions=fractions)
        self.assertEqual(dataset.version, self.node.run("dataset", "show", "sample").json["version"])

    def test_stored_edges_come_back_sorted_with_their_fields(self):
        schema = dataset_pb2.Schema(
            fields=[dataset_pb2.Field(name="x", scope=dataset_pb2.FIELD_SCOPE_NODE, data_type=dataset_pb2.DATA_TYPE_I64),
                    dataset_pb2.Field(name="w", scope=dataset_pb2.FIELD_SCOPE_EDGE, data_type=dataset_pb2.DATA_TYPE_U16)],
            edge_rule=dataset_pb2.EDGE_RULE_STORED, edges="bonds")
        block = dataset_pb2.GraphBlock(
            source_ids=["a", "b"], n_node=[3, 300], n_edge=[3, 2], senders=[2, 0, 1, 299, 5], receivers=[0, 2, 0, 7, 7],
            columns=[dataset_pb2.Column(field="x", data=numpy.arange(303, dtype="<i8").tobytes()),
                     dataset_pb2.Column(field="w", data=numpy.array([20, 2, 10, 2997, 57], "<u2").tobytes())])
        self.import_graphs("bonds", self.messages(schema, block))
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=2, order=batch_pb2.ORDER_NONE)
        batch, = wire_format.batches(self.stream("bonds", spec=spec))
        self.assertEqual(batch["senders"].dtype, "<u2")
        senders, receivers = batch.edges()
        self.assertEqual(list(zip(senders, receivers)), [(1, 0), (2, 0), (0, 2), (8, 10), (302, 10)])
        self.assertEqual(list(batch["w"]), [10, 20, 2, 57, 2997])
        self.assertEqual(list(batch["x"]), list(range(303)))

    def test_a_bad_graph_is_refused_by_name(self):
        block = self.qm9_block(list(MOLECULES.values())[:2])
        block.n_node[0] -= 1
        block.n_node.append(1)
        block.source_ids.append("third")
        self.expect_refused(self.messages(self.qm9_schema(), block), "column 'y'")

    def test_an_unknown_enum_is_refused_by_field_and_value(self):
        block = self.qm9_block(list(MOLECULES.values())[:2])
        self.expect_refused(self.messages(self.qm9_schema(), block, on_error=9), "header.on_error = 9")

    def test_an_import_without_its_end_is_dropped(self):
        block = self.qm9_block(list(MOLECULES.values())[:2])
        self.expect_refused(self.messages(self.qm9_schema(), block)[:-1], "without its end")


class Reports(Client):
    def test_a_run_reported_from_python_is_summarised(self):
        runs = run_pb2_grpc.RunServiceStub(self.channel)
        start = run_pb2.StartRunRequest(idempotency_key="a-python-run", description=run_pb2.RunDescription(
            model="mine", dataset="sample", spec=batch_pb2.BatchSpec(**SPECS["static"][1])))
        run = runs.StartRun(start, timeout=60).run
        steps = list(range(30))
        counts = ("real_graphs", "real_nodes", "real_edges", "padded_graphs", "padded_nodes", "padded_edges")
        times = ("wait_ns", "copy_ns", "forward_ns", "backward_ns", "optimizer_ns", "comm_ns", "server_build_ns",
                 "server_queue_ns", "capture_ns")
        block = run_pb2.StepBlock(step=steps, epoch=[0] * 30, batch_index=steps, flags=[1] * 10 + [0] * 20,
                                  loss=[0.5] * 30, total_ns=[2_000_000] * 30,
                                  **{name: [31] * 30 for name in counts}, **{name: [1000] * 30 for name in times})
        runs.ReportSteps(run_pb2.ReportStepsRequest(run=run, steps=block), timeout=60)
        runs.FinishRun(run_pb2.FinishRunRequest(run=run, state=run_pb2.RUN_STATE_DONE), timeout=60)
        summary = self.node.run("run", "summary", run).json
        self.assertEqual(summary["phases_us"]["total"]["median"], 2000)
        self.assertAlmostEqual(summary["graphs_per_second"], 31 / 0.002, places=3)


if __name__ == "__main__":
    unittest.main()
