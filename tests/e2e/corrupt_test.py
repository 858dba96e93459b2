"""A byte of a stored data set is damaged: a training ends by name, or goes on without the graphs it lost and lists them."""
import collections
import csv
import io
import math
import re
import tempfile
import unittest

from harness import DataNode, damage_store
from protocol import Client, batch_pb2

# 320 graphs to train on, so 22 steps an epoch of 15 graphs a batch.
SPEC = ["--policy", "dynamic", "--graphs", "15"]
EPOCH = 22
GRAPHS = 320


class Corrupt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        with DataNode(directory=folder.name) as node:
            imported = node.import_sample("--limit", 400, name="small")
            assert imported.code == 0, imported
            assert node.terminate() == 0
        damage_store(folder.name)
        cls.node = cls.enterClassContext(DataNode(directory=folder.name))
        cls.damaged = {split: cls.damaged_of(split) for split in ("train", "val", "test")}
        assert cls.damaged["train"], cls.damaged

    @classmethod
    def damaged_of(cls, split):
        """Indices of the graphs that a stream of the split goes without."""
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=7, split=split)
        with Client(cls.node.address) as client:
            parts = client.StreamBatches(batch_pb2.StreamBatchesRequest(
                dataset="small", spec=spec, epochs=1, on_corrupt=batch_pb2.ON_CORRUPT_SKIP))
            return {graph for part in parts for graph in part.header.corrupt_graphs}

    def train(self, *arguments, spec=SPEC):
        (result,) = self.node.train("--dataset", "small", *spec, "--model", "schnet", "--threads", "1", *arguments)
        return result

    def shown(self, run):
        return self.node.run("run", "show", run).json

    def rows(self, run):
        exported = self.node.run("run", "export", run, "--format", "csv", json_output=False)
        self.assertEqual(exported.code, 0, exported)
        return list(csv.DictReader(io.StringIO(exported.out)))

    def assert_stopped(self, result):
        self.assertEqual(result.code, 1, result)
        named = re.search(r"data set small@[0-9a-f]+, graph (\d+)", result.err)
        self.assertIsNotNone(named, result)
        self.assertIn(int(named[1]), self.damaged["train"])
        self.assertIn("--on-corrupt skip", result.err)

    def test_a_training_stops_and_names_data_set_graph_and_flag(self):
        self.assert_stopped(self.train("--steps", EPOCH))
        self.assert_stopped(self.train("--steps", EPOCH, "--on-corrupt", "stop"))

    def test_a_training_that_skips_comes_to_its_end_and_its_run_lists_the_graphs(self):
        result = self.train("--steps", 2 * EPOCH, "--on-corrupt", "skip")
        self.assertEqual(result.code, 0, result)
        self.assertIn("is damaged and left out", result.err)
        run = result.json["run"]
        shown = self.shown(run)
        self.assertEqual((shown["state"], shown["on_corrupt"], shown["steps"]), ("done", "skip", 2 * EPOCH))
        corrupt = shown["corrupt_graphs"]
        for epoch in (0, 1):
            of_epoch = [entry for entry in corrupt["list"] if entry["split"] == "train" and entry["epoch"] == epoch]
            self.assertEqual(sorted(entry["graph"] for entry in of_epoch), sorted(self.damaged["train"]))
            for entry in of_epoch:
                self.assertEqual(entry["step"], EPOCH * epoch + entry["batch"])
        for split in ("val", "test"):
            of_split = [entry["graph"] for entry in corrupt["list"] if entry["split"] == split]
            self.assertEqual(sorted(of_split), sorted(self.damaged[split]))
        self.assertEqual(corrupt["count"], len(corrupt["list"]))
        self.assertEqual(corrupt["graphs"], sum(map(len, self.damaged.values())))
        self.assertFalse(corrupt["truncated"])
        # What is left was trained: each step knows how many real graphs it had.
        left_out = collections.Counter(entry["step"] for entry in corrupt["list"] if entry["split"] == "train")
        rows = self.rows(run)
        self.assertEqual([int(row["step"]) for row in rows], list(range(2 * EPOCH)))
        for epoch in (0, 1):
            real = sum(int(row["real_graphs"]) for row in rows if int(row["epoch"]) == epoch)
            self.assertEqual(real, GRAPHS - len(self.damaged["train"]))
        self.assertEqual(sum(left_out.values()), 2 * len(self.damaged["train"]))
        self.assertIn("graph ", self.node.run("run", "show", run, json_output=False).out)
        self.assertIn("event=corrupt_graphs_left_out", self.node.log())

    def test_a_batch_of_which_nothing_is_left_is_trained_as_an_empty_one(self):
        result = self.train("--steps", GRAPHS, "--on-corrupt", "skip", spec=["--policy", "static", "--graphs", "1"])
        self.assertEqual(result.code, 0, result)
        self.assertTrue(math.isfinite(result.json["loss"]))
        self.assertEqual(result.json["graphs"], GRAPHS - len(self.damaged["train"]))
        rows = self.rows(result.json["run"])
        empty = {int(row["step"]) for row in rows if row["real_graphs"] == "0"}
        corrupt = self.shown(result.json["run"])["corrupt_graphs"]["list"]
        self.assertEqual({entry["step"] for entry in corrupt if entry["split"] == "train"}, empty)
        self.assertEqual(len(empty), len(self.damaged["train"]))

    def test_a_training_that_stopped_goes_on_from_its_checkpoint_when_it_may_skip(self):
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = ["--steps", EPOCH, "--checkpoint", folder, "--checkpoint-every", 1, "--resume"]
            self.assert_stopped(self.train(*checkpoint))
            result = self.train(*checkpoint, "--on-corrupt", "skip")
            self.assertEqual(result.code, 0, result)
            shown = self.shown(result.json["run"])
            self.assertEqual((shown["state"], shown["on_corrupt"]), ("done", "skip"))
            of_train = [entry["graph"] for entry in shown["corrupt_graphs"]["list"] if entry["split"] == "train"]
            self.assertEqual(sorted(of_train), sorted(self.damaged["train"]))


if __name__ == "__main__":
    unittest.main()
