"""Data sets after their import: edges, deletion, and what a killed program leaves."""
import contextlib
import functools
import glob
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

from harness import SAMPLE, DataNode, program, target_of
from harness import eventually as harness_eventually
from protocol import Client, batch_pb2, run_pb2


def stored_bytes(node):
    """Of graphs on disk."""
    total = 0
    for path in (node.directory / "data" / "graphs").rglob("*.sst"):
        with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
            total += path.stat().st_size
    return total


eventually = functools.partial(harness_eventually, seconds=30)


class OnOneNode(unittest.TestCase):
    def setUp(self):
        self.node = DataNode()
        self.node.__enter__()
        self.addCleanup(self.node.__exit__)

    def import_as(self, name, *arguments):
        result = self.node.run("import", "extxyz", SAMPLE, "--name", name, *arguments)
        self.assertEqual(result.code, 0, result)
        return f"{name}@{result.json['version']}"

    def delete(self, dataset):
        result = self.node.run("dataset", "delete", dataset, "--yes")
        self.assertEqual(result.code, 0, result)
        return result.json

    def names(self):
        return sorted(dataset["name"] for dataset in self.node.run("dataset", "list").json)


class Deletion(OnOneNode):
    def test_a_running_run_keeps_its_version_until_it_ends(self):
        version = self.import_as("mols", "--edges", "radius:5")
        full = stored_bytes(self.node)
        with Client(self.node.address) as client:
            run = client.StartRun(run_pb2.StartRunRequest(
                description=run_pb2.RunDescription(model="m", dataset=version, world_size=1), idempotency_key="k" * 16)).run
            deleted = self.delete("mols")["versions"][0]
            self.assertEqual((deleted["running_runs"], deleted["reclaimed"]), ([run], False))
            self.assertEqual(self.names(), [])
            self.assertEqual(self.node.run("dataset", "show", version).code, 0)
            self.node.process.kill()
            self.node.process.wait()
            self.node.start()
        self.assertEqual(self.node.run("dataset", "show", version).code, 0)
        self.assertGreater(stored_bytes(self.node), full / 2)
        with Client(self.node.address) as client:
            client.FinishRun(run_pb2.FinishRunRequest(run=run, state=run_pb2.RUN_STATE_DONE))
        self.assertTrue(eventually(lambda: stored_bytes(self.node) < full / 10))
        self.assertEqual(self.node.run("dataset", "show", version).code, 1)

    def test_an_open_stream_keeps_its_version_until_it_ends(self):
        version = self.import_as("mols", "--edges", "radius:5")
        full = stored_bytes(self.node)
        with Client(self.node.address) as client:
            spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=8)
            endless = client.StreamBatches(batch_pb2.StreamBatchesRequest(dataset=version, spec=spec, world_size=1))
            next(endless)
            self.assertEqual(self.delete("mols")["versions"][0]["reclaimed"], False)
            for _ in range(2000):  # more than an epoch
                self.assertLess(next(endless).header.epoch, 100)
            self.assertGreater(stored_bytes(self.node), full / 2)
            endless.cancel()
        self.assertTrue(eventually(lambda: stored_bytes(self.node) < full / 10))

    def test_killed_at_any_time_a_deletion_is_done_or_not_begun(self):
        kept = self.import_as("kept", "--limit", 300)
        names = [f"mols{k}" for k in range(8)]
        for name in names:
            self.import_as(name, "--limit", 200 + 10 * int(name[-1]), "--edges", "radius:5")
        waits = random.Random(1)
        for name in names:
            with self.subTest(name=name):
                deleting = subprocess.Popen(
                    [*program("packtrain"), "dataset", "delete", name, "--yes", "--server", self.node.address,
                     "--give-up", "0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(waits.uniform(0, 0.12))
                self.node.process.kill()
                self.node.process.wait()
                acknowledged = deleting.wait() == 0
                self.node.start()
                shown = self.node.run("dataset", "show", name)
                if shown.code == 0:
                    self.assertFalse(acknowledged)
                    exported = self.node.run("dataset", "export", name, "--format", "native", "-o",
                                             self.node.directory / "whole")
                    self.assertEqual(exported.code, 0, exported)
                    self.delete(name)
                self.assertEqual(self.node.run("dataset", "show", name).code, 1)
        self.assertEqual(self.names(), ["kept"])
        self.assertEqual(self.node.run("dataset", "show", kept).code, 0)
        self.assertTrue(eventually(lambda: stored_bytes(self.node) < 600_000), stored_bytes(self.node))


class Derivation(OnOneNode):
    def test_a_client_that_is_killed_leaves_nothing(self):
        self.import_as("mols")
        before = stored_bytes(self.node)
        staging = self.node.directory / "data" / "graphs" / "staging"
        deriving = subprocess.Popen([*program("packtrain"), "dataset", "derive", "mols", "--edges", "radius:5", "--name",
                                     "derived", "--server", self.node.address], stdout=subprocess.DEVNULL)
        eventually(lambda: any(staging.iterdir()) or deriving.poll() is not None)
        deriving.send_signal(signal.SIGKILL)
        killed = deriving.wait() != 0
        self.assertTrue(eventually(lambda: not any(staging.iterdir())))
        if killed and self.node.run("dataset", "show", "derived").code != 0:
            self.assertEqual((self.names(), stored_bytes(self.node)), (["mols"], before))

    def test_a_server_that_is_killed_leaves_nothing(self):
        self.import_as("mols")
        staging = self.node.directory / "data" / "graphs" / "staging"
        deriving = subprocess.Popen(
            [*program("packtrain"), "dataset", "derive", "mols", "--edges", "radius:5", "--name", "derived",
             "--server", self.node.address, "--give-up", "0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(lambda: any(staging.iterdir()) or deriving.poll() is not None)
        self.node.process.kill()
        self.node.process.wait()
        acknowledged = deriving.wait() == 0
        self.node.start()
        self.assertEqual(list(staging.iterdir()), [])
        self.assertIn("mols", self.names())
        if acknowledged:
            self.assertIn("derived", self.names())


def holds_unnamed_file(pid):
    """Whether the process writes a file that has no name yet."""
    folder = f"/proc/{pid}/fd"
    try:
        return any(target_of(f"{folder}/{name}").endswith(" (deleted)") for name in os.listdir(folder))
    except FileNotFoundError:
        return False


class Export(OnOneNode):
    def test_an_export_that_a_signal_ends_leaves_nothing(self):
        self.import_as("mols", "--edges", "radius:5")
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how=how), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "mols")
                exporting = subprocess.Popen(
                    [*program("packtrain"), "dataset", "export", "mols", "--format", "jsonl", "-o", file, "--server",
                     self.node.address], stdout=subprocess.DEVNULL)
                eventually(lambda: holds_unnamed_file(exporting.pid) or exporting.poll() is not None)
                exporting.send_signal(how)
                exporting.wait()
                left = [path.name for path in pathlib.Path(folder).iterdir()]
                self.assertEqual(left, ["mols"] if exporting.returncode == 0 or file.exists() else [])
                pathlib.Path(f"{file}.partial").write_text("left by another program")
                again = self.node.run("dataset", "export", "mols", "--format", "jsonl", "-o", file)
                self.assertEqual(again.code, 0, again)
                self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["mols"])


@unittest.skipUnless(os.environ.get("PACKTRAIN_DATA"), "PACKTRAIN_DATA is unset")
class WholeQm9(unittest.TestCase):
    def test_edges_are_as_many_as_in_the_reference(self):
        files = sorted(glob.glob(os.environ["PACKTRAIN_DATA"] + "/qm9/geometry/*.xyz.gz"))
        with DataNode() as node:
            for spec, total, largest in [("radius:5", 36404508, 732), ("knn:24", 40914584, 696)]:
                with self.subTest(edges=spec):
                    result = node.run("import", "extxyz", *files, "--name", "qm9", "--edges", spec, timeout=600)
                    self.assertEqual(result.code, 0, result)
                    shown = node.run("dataset", "show", "qm9").json
                    self.assertEqual((shown["graphs"], shown["edges"]["total"], shown["edges"]["max"]),
                                     (128744, total, largest))


if __name__ == "__main__":
    unittest.main()
