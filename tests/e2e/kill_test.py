"""kill -9 in the middle of a derivation, an export and a deletion: each is done or it is as if it had never begun, the
next start needs no hand, and the same command again does it. Imports and reports: crash_test.py.

PACKTRAIN_ROUNDS is how often each is killed (6). PACKTRAIN_SEED repeats the moments of an earlier run; failures name
it.
"""
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from epoch_reader import EpochReader
from harness import SAMPLE, SAMPLE_TARGETS, DataNode, finished, program
from protocol import batch_pb2

ROUNDS = int(os.environ.get("PACKTRAIN_ROUNDS", "6"))
SEED = int(os.environ.get("PACKTRAIN_SEED") or random.SystemRandom().randrange(2**32))
GRAPHS = 800
EDGES = "radius:3"


class Kill(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(f"{SEED} {self.id()}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.node = DataNode(directory=folder.name)
        self.node.__enter__()
        self.addCleanup(lambda: self.node.__exit__())
        self.succeeds("import", *self.sample("kept"))
        self.whole = self.digests("kept")

    def shortDescription(self):
        return f"PACKTRAIN_SEED={SEED}"

    def sample(self, name):
        return ["extxyz", SAMPLE, "--name", name, "--edges", "full", "--join", SAMPLE_TARGETS, "--key", "name",
                "--limit", GRAPHS]

    def succeeds(self, *arguments):
        result = self.node.run(*arguments)
        self.assertEqual(result.code, 0, result)
        return result.json

    def digests(self, dataset):
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=16, order=batch_pb2.ORDER_NONE, split="all")
        request = batch_pb2.StreamBatchesRequest(dataset=dataset, spec=spec, epochs=1)
        return EpochReader(request).read(lambda: self.node.address).digests

    def names(self):
        return {entry["name"] for entry in self.succeeds("dataset", "list")}

    def rounds(self, *arguments):
        """Kills the daemon at a random moment of the command and starts it again, over and over; gives each time
        whether the command had been acknowledged."""
        for _ in range(ROUNDS):
            command = subprocess.Popen(
                [*program("packtrain"), *map(str, arguments), "--server", self.node.address, "--give-up", "0.1",
                 "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                command.wait(timeout=self.random.uniform(0, 0.3))
            except subprocess.TimeoutExpired:
                pass
            self.node.process.kill()
            self.node.process.wait()
            self.node.process.stdout.close()
            done = finished(command)
            self.node.start()
            yield done.code == 0
            self.assertEqual(self.digests("kept"), self.whole)
            self.succeeds("fsck")
            staging = self.node.directory / "data" / "graphs" / "staging"
            self.assertEqual(list(staging.iterdir()), [])

    def test_a_derivation_is_whole_or_not_there(self):
        derive = ["dataset", "derive", "kept", "--edges", EDGES]
        self.succeeds(*derive, "--name", "reference")
        whole = self.digests("reference")
        self.succeeds("dataset", "delete", "reference", "--yes")
        for acknowledged in self.rounds(*derive, "--name", "derived"):
            there = "derived" in self.names()
            self.assertLessEqual(acknowledged, there)
            if there:
                self.assertEqual(self.digests("derived"), whole)
                self.succeeds("dataset", "delete", "derived", "--yes")
        self.succeeds(*derive, "--name", "derived")
        self.assertEqual(self.digests("derived"), whole)

    def test_a_deleted_data_set_is_gone_or_whole(self):
        derive = ["dataset", "derive", "kept", "--edges", EDGES, "--name", "goes"]
        self.succeeds(*derive)
        whole = self.digests("goes")
        for acknowledged in self.rounds("dataset", "delete", "goes", "--yes"):
            there = "goes" in self.names()
            self.assertFalse(acknowledged and there)
            if not there:
                self.succeeds(*derive)
            self.assertEqual(self.digests("goes"), whole)
        self.succeeds("dataset", "delete", "goes", "--yes")
        self.assertNotIn("goes", self.names())

    def test_an_export_is_whole_or_not_there(self):
        export = ["dataset", "export", "kept", "--format", "native", "-o"]
        self.succeeds(*export, self.folder / "whole")
        whole = (self.folder / "whole").read_bytes()
        target = self.folder / "exports" / "file"
        target.parent.mkdir()
        for acknowledged in self.rounds(*export, target):
            self.assertLessEqual(acknowledged, target.exists())
            self.assertLessEqual({path.name for path in target.parent.iterdir()}, {"file"})
            if target.exists():
                self.assertEqual(target.read_bytes(), whole)
                target.unlink()


if __name__ == "__main__":
    unittest.main()
