"""From a molecule file to a verdict, with the real programs."""
import csv
import io
import math
import os
import statistics
import tempfile
import unittest

from harness import DataNode

STATIC = ["--policy", "static", "--pad", "multiple", "--graphs", "15"]
DYNAMIC = ["--policy", "dynamic", "--graphs", "15"]


class MainJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        cls.imported = cls.node.import_sample()

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()

    def test_import_stores_every_molecule(self):
        self.assertEqual(self.imported.code, 0, self.imported)
        result = self.imported.json
        self.assertEqual((result["read"], result["stored"], result["refused"]), (2778, 2778, 0))
        shown = self.node.run("dataset", "show", "sample").json
        self.assertEqual(shown["graphs"], 2778)
        self.assertEqual(shown["version"], result["version"])
        self.assertEqual({name: split["graphs"] for name, split in shown["splits"].items()},
                         {"all": 2778, "train": 2222, "val": 278, "test": 278})

    def test_the_same_import_again_is_the_same_version(self):
        again = self.node.import_sample()
        self.assertEqual(again.code, 0, again)
        self.assertEqual(again.json["version"], self.imported.json["version"])

    def test_every_batch_of_an_epoch_together_holds_the_split_once(self):
        plan = self.node.run("plan", "--dataset", "sample", *DYNAMIC, "--world-size", "3").json
        ids = []
        for index in range(plan["steps"] * 3):
            batch = self.node.run("plan", "--dataset", "sample", *DYNAMIC, "--world-size", "3", "--batch", index).json
            self.assertEqual(batch["index"], index)
            ids += batch["ids"]
        self.assertEqual(len(ids), 2222)
        self.assertEqual(len(set(ids)), 2222)

    def test_two_ranks_train_and_the_verdict_follows_from_the_exported_rows(self):
        for policy in (STATIC, DYNAMIC):
            for seed in ("1", "2", "3"):
                ranks = self.node.train("--dataset", "sample", "--model", "schnet", *policy, "--seed", seed,
                                        "--model-seed", seed, "--steps", "20", "--labels", "test=verdict", ranks=2)
                for rank in ranks:
                    self.assertEqual(rank.code, 0, rank)
        runs = self.node.run("run", "list", "--where", "label.test = verdict").json
        self.assertEqual(len(runs), 6)
        self.assertEqual({run["state"] for run in runs}, {"done"})
        self.assertEqual({run["steps"] for run in runs}, {20})
        compared = self.node.run("run", "compare", "--where", "label.test = verdict", "--by", "policy").json
        (cell,) = compared["cells"]
        (pair,) = cell["pairs"]
        logs = {"static-multiple": [], "dynamic": []}
        for run in runs:
            logs[run["policy"]].append(math.log(self.seconds_per_graph(run["run"])))
        a, b = logs[pair["a"]], logs[pair["b"]]
        self.assertEqual((pair["n_a"], pair["n_b"]), (3, 3))
        self.assertAlmostEqual(math.log(pair["ratio"]), statistics.mean(a) - statistics.mean(b), places=9)
        self.assertLess(pair["ci95"][0], pair["ratio"])
        self.assertGreater(pair["ci95"][1], pair["ratio"])
        self.assertIn(pair["verdict"], {"faster", "slower", "no difference seen"})

    def test_synthetic_batches_are_those_of_the_first_epoch_again(self):
        (rank,) = self.node.train("--dataset", "sample", "--model", "schnet", "--policy", "dynamic", "--graphs", "255",
                                  "--steps", "20", "--synthetic")
        self.assertEqual(rank.code, 0, rank)
        (run,) = self.node.run("run", "list", "--where", "label.input = synthetic").json
        self.assertEqual(self.node.run("run", "list", "--where", "input = synthetic").json, [run])
        exported = self.node.run("run", "export", run["run"], "--format", "csv", json_output=False)
        rows = [(int(row["epoch"]), row["batch_index"], row["real_graphs"], row["padded_edges"])
                for row in csv.DictReader(io.StringIO(exported.out))]
        first = [row[1:] for row in rows if row[0] == 0]
        self.assertGreater(len(rows), len(first))
        self.assertEqual([row[1:] for row in rows], (first * len(rows))[:len(rows)])
        self.assertEqual([row[0] for row in rows], [step // len(first) for step in range(len(rows))])

    def test_a_run_says_all_that_can_move_its_metrics(self):
        (rank,) = self.node.train("--dataset", "sample", "--model", "schnet", "--policy", "dynamic", "--graphs", "255",
                                  "--steps", "20", "--evaluate-every", "10", "--threads", "1", "--read-ahead", "3",
                                  "--labels", "test=settings")
        self.assertEqual(rank.code, 0, rank)
        (run,) = self.node.run("run", "list", "--where", "label.test = settings and threads = 1").json
        shown = self.node.run("run", "show", run["run"]).json
        self.assertEqual(shown["input"], "served")
        self.assertEqual(shown["settings"], {
            "threads": 1, "read_ahead_bytes": 3 << 20, "learning_rate_schedule": "staircase 0.96 every 100000",
            "max_captures": None, "evaluate_every": 10, "checkpoint_every": None,
            "other": {"classes": shown["settings"]["other"]["classes"]}})
        self.assertGreater(shown["environment"]["server_builders"], 0)
        self.assertIs(shown["environment"]["shares_host_with_server"], True)
        self.assertIsNone(shown["environment"]["power_limit_watts"])

    def seconds_per_graph(self, run):
        """From the exported rows alone: slowest rank's total over the graphs of all ranks, steady steps."""
        exported = self.node.run("run", "export", run, "--format", "csv", json_output=False)
        self.assertEqual(exported.code, 0, exported)
        steps = {}
        for row in csv.DictReader(io.StringIO(exported.out)):
            if int(row["flags"]) & (1 | 2 | 16 | 32) == 0:
                total, graphs = steps.get(row["step"], (0, 0))
                steps[row["step"]] = (max(total, int(row["total_ns"])), graphs + int(row["real_graphs"]))
        self.assertEqual(len(steps), 10)
        return sum(total for total, _ in steps.values()) / 1e9 / sum(graphs for _, graphs in steps.values())

    def test_sigterm_drains_and_a_restart_serves_the_same_batches(self):
        with tempfile.TemporaryDirectory() as directory, DataNode(directory=directory) as node:
            node.import_sample()
            before = node.run("plan", "--dataset", "sample", *DYNAMIC, "--batch", "7").json
            self.assertEqual(node.terminate(), 0)
            node.start()
            self.assertEqual(node.run("plan", "--dataset", "sample", *DYNAMIC, "--batch", "7").json, before)


@unittest.skipUnless(os.environ.get("PACKTRAIN_DATA"), "PACKTRAIN_DATA is unset")
class WholeQm9(unittest.TestCase):
    def test_whole_qm9_is_stored_and_planned(self):
        import glob
        import json
        data = os.environ["PACKTRAIN_DATA"]
        with open(f"{data}/reference/expected.json") as file:
            expected = json.load(file)["qm9_import_order"]
        with DataNode() as node:
            files = sorted(glob.glob(f"{data}/qm9/geometry/*.xyz.gz"))
            result = node.run("import", "extxyz", *files, "--name", "qm9", "--edges", "full", timeout=600)
            self.assertEqual(result.code, 0, result)
            shown = node.run("dataset", "show", "qm9").json
            self.assertEqual((shown["graphs"], shown["nodes"]["total"], shown["edges"]["total"]),
                             (128744, 2330532, 40939402))
            for size, want in expected["by_batch_size"].items():
                spec = ["--graphs", int(size) - 1, "--order", "none", "--split", "all"]
                plans = {"dynamic": ["--policy", "dynamic"], "static_multiple": ["--policy", "static"],
                         "static_pow2": ["--policy", "static", "--pad", "pow2"],
                         "static_constant": ["--policy", "static", "--pad", "constant"]}
                for name, policy in plans.items():
                    with self.subTest(size=size, plan=name):
                        plan = node.run("plan", "--dataset", "qm9", *policy, *spec).json
                        self.assertEqual((plan["batches"], len(plan["shapes"])),
                                         (want[name]["batches"], want[name]["shapes"]))
                        self.assertAlmostEqual(plan["fill"]["nodes"], want[name]["node_fill"], delta=1e-6)
                        self.assertAlmostEqual(plan["fill"]["edges"], want[name]["edge_fill"], delta=1e-6)


if __name__ == "__main__":
    unittest.main()
