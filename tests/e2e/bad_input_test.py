"""Every bad input ends in one clear message and its exit code or status; nothing is lost or half done.

BadInput: what users do wrong, with the exit code of the program; the name of a test says what.
BadRequest: what a client of the protocol does wrong, with the status of the call; REQUESTS is the table.
More of them stand beside what they are about: faults_test.py (numbers that claim what is not there, vanished hosts),
conduct_test.py (too many, silent and half-open connections, unread
streams), crash_test.py (kill -9), tests/client/ingest (files), tests/proto and tests/fuzz (damaged batches),
tests/server/serving (flags of packtraind, addresses, messages in a wrong order).
"""
import concurrent.futures
import gzip
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import grpc

from harness import BIN, DataNode, free_port, packtrain
from protocol import Client, batch_pb2, dataset_pb2, run_pb2

METHANE = """5
methane
C 0.0 0.0 0.0
H 0.6 0.6 0.6
H -0.6 -0.6 0.6
H -0.6 0.6 -0.6
H 0.6 -0.6 -0.6
"""


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        cls.folder = tempfile.TemporaryDirectory()
        imported = cls.node.import_sample()
        assert imported.code == 0, imported

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()
        cls.folder.cleanup()

    def file(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused_import(self, path, *arguments):
        """Imports, expects failure, and expects no data set; returns the error."""
        result = self.node.run("import", "extxyz", path, "--name", "refused", "--edges", "full", *arguments)
        self.assertEqual(result.code, 1, result)
        self.assertEqual(self.node.run("dataset", "show", "refused").error["code"], "NOT_FOUND")
        return result.error

    def test_empty_file(self):
        error = self.refused_import(self.file("empty.xyz", ""))
        self.assertIn("empty.xyz", error["message"])

    def test_truncated_gzip(self):
        error = self.refused_import(self.file("cut.xyz.gz", gzip.compress(METHANE.encode() * 100)[:-20]))
        self.assertIn("cut.xyz.gz", error["message"])

    def test_frame_count_too_high(self):
        error = self.refused_import(self.file("count.xyz", METHANE.replace("5\n", "6\n", 1)))
        self.assertIn("count.xyz", error["message"])

    def test_nan_coordinate(self):
        error = self.refused_import(self.file("nan.xyz", METHANE.replace("-0.6", "nan", 1)))
        self.assertIn("nan.xyz:5: frame 1 (nan)", error["message"])  # a lone frame has the file's name

    def test_unknown_symbol(self):
        error = self.refused_import(self.file("symbol.xyz", METHANE.replace("C ", "Qq ")))
        self.assertIn("Qq", error["message"])

    def test_duplicate_id(self):
        error = self.refused_import(self.file("twice.xyz", METHANE.replace("methane", "id=methane") * 2))
        self.assertIn("methane", error["message"])

    def test_id_missing_in_the_csv(self):
        table = self.file("targets.csv", "name,energy\nethane,1.0\n")
        error = self.refused_import(self.file("m.xyz", METHANE + METHANE.replace("methane", "ethane")), "--join", table,
                                    "--key", "name")
        self.assertIn("methane", error["message"])

    def test_bench_of_a_server_that_does_not_serve_it(self):
        result = self.node.run("bench", "stream", "--dataset", "sample", "--policy", "static", "--graphs", "31")
        self.assertEqual(result.code, 1, result)
        self.assertEqual(result.error["code"], "FAILED_PRECONDITION")
        self.assertIn("--enable-bench", result.error["message"])

    def test_skipped_graphs_give_exit_code_4_and_a_ledger(self):
        ledger = pathlib.Path(self.folder.name) / "ledger.jsonl"
        path = self.file("some.xyz", METHANE + METHANE.replace("methane", "bad").replace("-0.6", "nan", 1))
        result = self.node.run("import", "extxyz", path, "--name", "some", "--edges", "full", "--on-error", "skip",
                               "--ledger", ledger)
        self.assertEqual(result.code, 4, result)
        self.assertEqual((result.json["read"], result.json["stored"], result.json["refused"]), (2, 1, 1))
        self.assertIn('"bad"', ledger.read_text())

    def test_graph_larger_than_the_budget(self):
        result = self.node.run("plan", "--dataset", "sample", "--policy", "dynamic", "--graphs", "4", "--nodes", "16",
                               "--edges", "4096")
        self.assertEqual(result.code, 1, result)
        self.assertEqual(result.error["code"], "FAILED_PRECONDITION")
        self.assertIn("--oversize", result.error["message"])

    def test_unknown_data_set(self):
        result = self.node.run("plan", "--dataset", "nothing", "--policy", "dynamic", "--graphs", "4")
        self.assertEqual((result.code, result.error["code"]), (1, "NOT_FOUND"))
        (trainer,) = self.node.train("--dataset", "nothing", "--model", "schnet", "--policy", "dynamic", "--graphs", "4",
                                     "--steps", "1")
        self.assertEqual(trainer.code, 1, trainer)
        self.assertIn("nothing", trainer.err)

    def test_wrong_flag(self):
        self.assertEqual(self.node.run("plan", "--dataset", "sample", "--policy", "fastest", "--graphs", "4").code, 2)
        self.assertEqual(self.node.run("plan", "--dataste", "sample").code, 2)
        (trainer,) = self.node.train("--nonsense")
        self.assertEqual(trainer.code, 2, trainer)

    def test_server_not_reachable(self):
        result = packtrain("dataset", "list", "--json", "--give-up", "1", server=f"127.0.0.1:{free_port()}")
        self.assertEqual((result.code, result.error["code"]), (3, "UNAVAILABLE"))

    def refused_start(self, code, *arguments):
        """Starts a daemon on a folder that is not there, expects failure and no folder; returns its one line."""
        data = pathlib.Path(self.folder.name) / "never"
        started = subprocess.run([BIN / "packtraind", "--data", data, *arguments], capture_output=True, text=True,
                                 timeout=60)
        self.assertEqual((started.returncode, started.stdout), (code, ""), started)
        self.assertFalse(data.exists())
        return started.stderr

    def test_a_split_without_the_target_is_not_evaluated(self):
        molecules = range(1, 9)
        targets = self.file("eight.csv", "id,y\n" + "".join(f"g{i},{i if i < 5 else ''}\n" for i in molecules))
        splits = self.file("eight.split", "".join(f"{'train' if i < 5 else 'val'} g{i}\n" for i in molecules))
        frames = "".join(METHANE.replace("methane", f"g{i}") for i in molecules)
        imported = self.node.run("import", "extxyz", self.file("eight.xyz", frames), "--name", "eight", "--edges",
                                 "full", "--join", targets, "--key", "id", "--missing-target", "nan", "--split-file", splits)
        self.assertEqual(imported.code, 0, imported)
        (trained,) = self.node.train("--dataset", "eight", "--model", "schnet", "--policy", "dynamic", "--graphs", 2,
                                     "--steps", 2, "--evaluate-every", 1)
        self.assertEqual(trained.code, 0, trained)
        self.assertIsNone(trained.json["val"])
        self.assertNotIn("MAE", trained.err)

    def test_text_that_is_not_utf8(self):
        shown = self.node.run("dataset", "show", "caf\udce9")
        self.assertEqual(shown.code, 2, shown)
        self.assertIn("not UTF-8", shown.error["message"])

    def test_port_taken(self):
        said = self.refused_start(1, "--listen", self.node.address)
        self.assertRegex(said, f"^[^\n]*{self.node.address}: Address already in use[^\n]*\n$")

    def test_listen_address_that_cannot_be(self):
        for address in ("unix:/nonexistent/socket", "192.0.2.1:7077"):
            said = self.refused_start(1, "--insecure", "--listen", address)
            self.assertRegex(said, f"^[^\n]*cannot listen on {address}: [^\n]*\n$")
        for address in ("7077", "127.0.0.1:65536", "unix:"):
            self.assertIn("--listen takes HOST:PORT", self.refused_start(2, "--listen", address))

    def test_second_daemon_on_one_store(self):
        second = subprocess.run([BIN / "packtraind", "--data", self.node.directory / "data", "--listen", "127.0.0.1:0"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 1, second)
        self.assertIn(str(self.node.process.pid), second.stderr)

    def test_other_address_without_insecure(self):
        self.assertIn("--insecure", self.refused_start(2, "--listen", "0.0.0.0:0"))

    def test_server_gone_in_mid_epoch(self):
        with DataNode() as node:
            self.assertEqual(node.import_sample().code, 0)
            trainer = subprocess.Popen(
                [BIN / "packtrain-trainer", "--server", node.address, "--dataset", "sample", "--model", "schnet",
                 "--policy", "dynamic", "--graphs", "15", "--steps", "1000000", "--give-up", "1"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertIn("step", trainer.stderr.readline())
            node.process.send_signal(signal.SIGKILL)
            _, err = trainer.communicate(timeout=120)
        self.assertEqual(trainer.returncode, 3, err)
        self.assertIn(node.address, err)
        self.assertIn("nothing of the model was kept: --checkpoint", err)
        self.assertEqual(err.count(f"the server at {node.address} cannot be reached ("), 1, err)

    def test_interrupted_import_leaves_nothing(self):
        # A pipe as the file holds the import open until it is interrupted.
        pipe = pathlib.Path(self.folder.name) / "slow.xyz"
        os.mkfifo(pipe)
        command = subprocess.Popen([BIN / "packtrain", "--server", self.node.address, "import", "extxyz", pipe, "--name",
                                    "interrupted", "--edges", "full"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(pipe, "w") as feed:
            feed.write(METHANE)
            feed.flush()
            command.send_signal(signal.SIGINT)
            self.assertNotEqual(command.wait(timeout=60), 0)
        self.assertEqual(self.node.run("dataset", "show", "interrupted").error["code"], "NOT_FOUND")


STATIC = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=31)
HUGE = 2**64 - 1


def stream(**fields):
    return batch_pb2.StreamBatchesRequest(**{"dataset": "sample", "spec": STATIC, "world_size": 2, **fields})


def planned(**fields):
    return batch_pb2.GetPlannedBatchRequest(**{"dataset": "sample", "spec": STATIC, **fields})


def plan(**fields):
    return batch_pb2.GetPlanRequest(dataset="sample", spec=batch_pb2.BatchSpec(**fields))


def start(**fields):
    return run_pb2.StartRunRequest(**{"idempotency_key": "bad-request", "description": run_pb2.RunDescription(), **fields})


def described(**fields):
    return start(description=run_pb2.RunDescription(**fields))


def steps(**fields):
    return run_pb2.ReportStepsRequest(**{"run": "nobody", "steps": run_pb2.StepBlock(step=[0]), **fields})


# Name of the test -> method, request, code, words of the message.
REQUESTS = {
    "rank_outside_the_world": ("StreamBatches", stream(rank=2), "INVALID_ARGUMENT", "rank 2"),
    "rank_of_a_world_of_none": ("StreamBatches", stream(rank=1, world_size=0), "INVALID_ARGUMENT", "rank 1"),
    "step_past_the_epoch": ("StreamBatches", stream(start_step=10_000), "OUT_OF_RANGE", "start_step 10000"),
    "greatest_step": ("StreamBatches", stream(start_step=HUGE), "OUT_OF_RANGE", "start_step"),
    "message_size_of_one_byte": ("StreamBatches", stream(max_message_bytes=1), "INVALID_ARGUMENT", "max_message_bytes 1"),
    "other_fingerprint": ("StreamBatches", stream(expected_fingerprint="f00d"), "FAILED_PRECONDITION", "f00d"),
    "unknown_dataset": ("StreamBatches", stream(dataset="nothing"), "NOT_FOUND", "nothing"),
    "unknown_version": ("StreamBatches", stream(dataset="sample@0123"), "NOT_FOUND", "0123"),
    "dataset_missing": ("StreamBatches", stream(dataset=""), "INVALID_ARGUMENT", "--dataset"),
    "dataset_name_of_a_mebibyte": ("StreamBatches", stream(dataset="x" * 2**20), "INVALID_ARGUMENT", "at most 262144"),
    "policy_missing": ("GetPlan", plan(graphs=31), "INVALID_ARGUMENT", "--policy"),
    "policy_of_the_future": ("GetPlan", plan(policy=99, graphs=31), "INVALID_ARGUMENT", "99"),
    "no_graphs_a_batch": ("GetPlan", plan(policy=1, graphs=0), "INVALID_ARGUMENT", "graphs"),
    "unknown_split": ("GetPlan", plan(policy=1, graphs=31, split="best"), "NOT_FOUND", "best"),
    "batch_past_the_epoch": ("GetPlannedBatch", planned(index=10_000), "OUT_OF_RANGE", "10000"),
    "greatest_batch": ("GetPlannedBatch", planned(index=HUGE), "OUT_OF_RANGE", "batch"),
    "import_that_never_was": ("SealDataset", dataset_pb2.SealDatasetRequest(import_id="x", name="y"), "NOT_FOUND", "'x'"),
    "bad_page_token_of_datasets": ("ListDatasets", dataset_pb2.ListDatasetsRequest(page_token="2"), "INVALID_ARGUMENT",
                                   "page_token"),
    "bad_page_token_of_runs": ("ListRuns", run_pb2.ListRunsRequest(page_token="2"), "INVALID_ARGUMENT", "page_token"),
    "filter_that_does_not_parse": ("ListRuns", run_pb2.ListRunsRequest(where="model ="), "INVALID_ARGUMENT", "column 8"),
    "key_too_short": ("StartRun", start(idempotency_key="short"), "INVALID_ARGUMENT", "idempotency_key"),
    "rank_outside_the_run": ("StartRun", start(rank=1), "INVALID_ARGUMENT", "rank 1"),
    "world_too_large": ("StartRun", described(world_size=2**32 - 1), "INVALID_ARGUMENT", "65536"),
    "label_too_long": ("StartRun", described(labels={"a": "x" * 1025}), "INVALID_ARGUMENT", "1024"),
    "too_many_labels": ("StartRun", described(labels={str(i): "" for i in range(65)}), "INVALID_ARGUMENT", "64"),
    "columns_of_unequal_length": ("ReportSteps", steps(), "INVALID_ARGUMENT", "column epoch"),
    "finish_as_what": ("FinishRun", run_pb2.FinishRunRequest(run="nobody"), "INVALID_ARGUMENT", "RUN_STATE_DONE"),
    "unknown_run": ("GetRun", run_pb2.GetRunRequest(run="nobody"), "NOT_FOUND", "no run nobody"),
    "run_without_a_name": ("GetRun", run_pb2.GetRunRequest(), "INVALID_ARGUMENT", "empty"),
    "message_above_the_limit": ("GetRun", run_pb2.GetRunRequest(run="x" * (65 << 20)), "RESOURCE_EXHAUSTED", "67108864"),
    "unknown_factor": ("CompareRuns", run_pb2.CompareRunsRequest(by="luck"), "INVALID_ARGUMENT", "policy"),
    "unknown_metric": ("CompareRuns", run_pb2.CompareRunsRequest(by="policy", metric="joy"), "INVALID_ARGUMENT", "joy"),
}


class BadRequest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        assert cls.node.import_sample().code == 0
        cls.client = Client(cls.node.address)

    @classmethod
    def tearDownClass(cls):
        cls.client.channel.close()
        cls.node.__exit__()

    def refused(self, method, request):
        """Makes the call, streams to their end, and expects it to fail."""
        with self.assertRaises(grpc.RpcError) as refused:
            answer = getattr(self.client, method)(request)
            if hasattr(answer, "__next__"):
                list(answer)
        return refused.exception

    def staged(self):
        schema = dataset_pb2.Schema(
            fields=[dataset_pb2.Field(name="z", scope=dataset_pb2.FIELD_SCOPE_NODE, data_type=dataset_pb2.DATA_TYPE_U8)],
            edge_rule=dataset_pb2.EDGE_RULE_FULL, edges="full")
        block = dataset_pb2.GraphBlock(source_ids=["methane"], n_node=[5],
                                       columns=[dataset_pb2.Column(field="z", data=b"\x06\x01\x01\x01\x01")])
        return self.client.ImportGraphs(iter([
            dataset_pb2.ImportGraphsRequest(header=dataset_pb2.ImportHeader(schema=schema)),
            dataset_pb2.ImportGraphsRequest(block=block),
            dataset_pb2.ImportGraphsRequest(end=dataset_pb2.ImportEnd(graphs=1))])).import_id

    def test_import_sealed_twice(self):
        request = dataset_pb2.SealDatasetRequest(import_id=self.staged(), name="twice")
        self.client.SealDataset(request)
        self.assertEqual(self.refused("SealDataset", request).code(), grpc.StatusCode.NOT_FOUND)

    def test_one_name_for_imports_side_by_side(self):
        imports = [self.staged() for _ in range(8)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            sealed = list(threads.map(lambda staged: self.client.SealDataset(
                dataset_pb2.SealDatasetRequest(import_id=staged, name="same")), imports))
        self.assertEqual({answer.dataset.version for answer in sealed}, {sealed[0].dataset.version})
        self.assertEqual(sum(not answer.unchanged for answer in sealed), 1)


def bad_request(method, request, code, words):
    def test(self):
        error = self.refused(method, request)
        self.assertEqual(error.code(), grpc.StatusCode[code], error)
        self.assertIn(words, error.details())
    return test


for name, row in REQUESTS.items():
    setattr(BadRequest, f"test_{name}", bad_request(*row))


if __name__ == "__main__":
    unittest.main()
