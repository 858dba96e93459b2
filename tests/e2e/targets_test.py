"""Several targets at once, how the learning rate goes on, and predictions written back against source ids."""
import csv
import gzip
import math
import pathlib
import subprocess
import tempfile
import time
import unittest

from harness import SAMPLE, SAMPLE_TARGETS, DataNode, Result, finished, program

ENERGY, IONIZATION = "binding energy", "ionization energy"
BOTH = f"{ENERGY},{IONIZATION}"
SPEC = ["--policy", "dynamic", "--graphs", 8, "--threads", 1, "--lr", "1e-3"]
SMALL = ["--model", "schnet", "--hidden", 16, "--layers", 2]


def sparse_targets(path):
    """The sample's targets without every third binding energy and every second ionization energy."""
    with gzip.open(SAMPLE_TARGETS, "rt") as file:
        rows = list(csv.reader(file, skipinitialspace=True))
    columns = [rows[0].index(name) for name in ("name", ENERGY, IONIZATION)]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0][column] for column in columns)
        for number, row in enumerate(rows[1:]):
            name, energy, ionization = (row[column] for column in columns)
            writer.writerow([name, energy if number % 3 else "", ionization if number % 2 else ""])


class Targets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.files.cleanup)
        cls.node = DataNode()
        cls.node.__enter__()
        cls.addClassCleanup(cls.node.__exit__)
        sparse = pathlib.Path(cls.files.name, "sparse.csv")
        sparse_targets(sparse)
        silane = pathlib.Path(cls.files.name, "silane.xyz")
        silane.write_text("2\nspecies=SiH\nSi 0 0 0\nH 0 0 1.5\n")
        extxyz = ["import", "extxyz", SAMPLE, "--edges", "full", "--limit", 200]
        for imported in (cls.node.import_sample("--limit", 200, name="whole"),
                         cls.node.run(*extxyz, "--name", "sparse", "--join", sparse, "--key", "name", "--missing-target",
                                      "nan", "--split-permille", "800,100,100"),
                         cls.node.run(*extxyz, "--name", "unlabelled"),
                         cls.node.run("import", "extxyz", silane, "--edges", "full", "--name", "silane")):
            assert imported.code == 0, imported

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.table = self.folder / "predictions.csv"

    def train(self, *arguments, dataset="whole", steps=6):
        (result,) = self.node.train("--dataset", dataset, *SMALL, *SPEC, "--steps", steps, *arguments)
        return result

    def trained(self, *arguments, **others):
        result = self.train(*arguments, **others)
        self.assertEqual(result.code, 0, result)
        return result.json

    def predict(self, *arguments):
        return Result(subprocess.run(
            [*program("packtrain-trainer"), "predict", "--server", self.node.address, "--json", "--threads", "1",
             *map(str, arguments)], capture_output=True, text=True, timeout=240, check=False))

    def predicted(self, checkpoint, dataset, *arguments):
        """The rows of a prediction that ends as it should."""
        result = self.predict("--checkpoint", checkpoint, "--dataset", dataset, *arguments, "-o", self.table)
        self.assertEqual(result.code, 0, result)
        with open(self.table, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(result.json, {"rows": len(rows)})
        self.assertEqual({path.name for path in self.folder.iterdir() if path.is_file()}, {self.table.name})
        return rows

    def mean_error(self, rows, target):
        errors = [abs(float(row[target]) - float(row[f"predicted_{target}"])) for row in rows if row[target]]
        return sum(errors) / len(errors)


class SeveralTargets(Targets):
    def test_each_has_metrics_in_its_unit_and_all_together_in_deviations(self):
        trained = self.trained("--target", BOTH)
        self.assertEqual(list(trained["targets"]), [ENERGY, IONIZATION])
        targets = self.node.run("dataset", "show", "whole").json["splits"]["train"]["targets"]
        deviation = {target["name"]: target["stddev"] for target in targets}
        for split in ("val", "test"):
            scaled = [of_target[split]["mae"] / deviation[name] for name, of_target in trained["targets"].items()]
            self.assertAlmostEqual(trained[split]["mae"], sum(scaled) / 2, places=9)
        (run,) = [run for run in self.node.run("run", "list").json if run["run"] == trained["run"]]
        self.assertEqual(run["target"], BOTH)
        alone = self.trained("--target", IONIZATION)
        constants = [result["targets"][IONIZATION]["constant_predictor"]["rmse"] for result in (trained, alone)]
        self.assertEqual(constants[0], constants[1])

    def test_of_a_graph_that_lacks_some_the_others_count(self):
        trained = self.trained("--target", BOTH, dataset="sparse")
        self.assertTrue(math.isfinite(trained["loss"]))
        graphs = [trained["targets"][name]["test"]["graphs"] for name in (ENERGY, IONIZATION)]
        self.assertGreater(trained["test"]["graphs"], max(graphs))
        self.assertGreater(graphs[0], graphs[1])

    def test_names_that_are_none_or_twice_are_wrong_usage(self):
        for names, part in ((f"{ENERGY},gap", "has no target 'gap'; --target knows: binding energy"),
                            (f"{ENERGY},{ENERGY}", "'binding energy' twice")):
            refused = self.train("--target", names)
            self.assertEqual(refused.code, 2, refused)
            self.assertIn(part, refused.err)


class LearningRate(Targets):
    def test_a_resume_goes_on_along_the_schedule(self):
        schedule = ["--lr-schedule", "constant", "--warmup-steps", 4]
        unbroken = self.trained(*schedule)
        checkpoint = ["--checkpoint", self.folder / "kept", "--resume"]
        self.trained(*schedule, *checkpoint, steps=3 + 2)
        resumed = self.trained(*schedule, *checkpoint)
        for key in ("loss", "val", "test"):
            self.assertEqual(resumed[key], unbroken[key], key)
        shown = self.node.run("run", "show", resumed["run"]).json
        self.assertEqual(shown["settings"]["learning_rate_schedule"], "warm-up of 4 steps, then constant")
        self.assertNotEqual(self.trained()["loss"], unbroken["loss"])
        for other, part in ((["--warmup-steps", 4], "--lr-schedule was 'constant' and is ''"),
                            (["--lr-schedule", "constant", "--warmup-steps", 3], "--warmup-steps was '4' and is '3'")):
            refused = self.train(*other, *checkpoint, steps=9)
            self.assertEqual(refused.code, 1, refused)
            self.assertIn(part, refused.err)

    def test_a_killed_training_goes_on_along_its_cosine(self):
        schedule = ["--lr-schedule", "cosine"]
        unbroken = self.trained(*schedule, steps=60)
        checkpoint = ["--checkpoint", self.folder / "kept", "--checkpoint-every", 3, "--resume"]
        whole = ["--dataset", "whole", *SMALL, *SPEC, *schedule, *checkpoint]
        (process,) = self.node.start_training(*whole, "--steps", 60)
        while process.poll() is None and not (self.folder / "kept" / "checkpoint.bin").exists():
            time.sleep(0.01)
        process.kill()
        process.communicate()
        refused = finished(self.node.start_training(*whole, "--steps", 80)[0])
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("--lr-schedule was 'cosine over 60 steps' and is 'cosine over 80 steps'", refused.err)
        resumed = finished(self.node.start_training(*whole, "--steps", 60)[0])
        self.assertEqual(resumed.code, 0, resumed)
        for key in ("loss", "val", "test"):
            self.assertEqual(resumed.json[key], unbroken[key], key)

    def test_a_warm_up_as_long_as_the_training_is_wrong_usage(self):
        refused = self.train("--warmup-steps", 6)
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("--warmup-steps", refused.err)


class Predictions(Targets):
    def test_are_those_that_the_metrics_are_of(self):
        kept = self.folder / "kept"
        trained = self.trained("--target", BOTH, "--checkpoint", kept)
        rows = self.predicted(kept, "whole", "--split", "test")
        self.assertEqual(list(rows[0]), ["id", ENERGY, IONIZATION, f"predicted_{ENERGY}", f"predicted_{IONIZATION}"])
        self.assertEqual(len(rows), trained["test"]["graphs"])
        for target in (ENERGY, IONIZATION):
            expected = trained["targets"][target]["test"]["mae"]
            self.assertAlmostEqual(self.mean_error(rows, target), expected, delta=1e-5 * expected)

    def test_are_of_each_graph_once_in_the_order_of_the_data_set(self):
        kept = self.folder / "kept"
        self.trained("--checkpoint", kept)
        exported = self.node.run("dataset", "export", "whole", "--format", "jsonl", "-o", "/dev/stdout", json_output=False)
        ids = [line.split('"id":"', 1)[1].split('"', 1)[0] for line in exported.out.splitlines()]
        rows = self.predicted(kept, "whole")
        self.assertEqual([row["id"] for row in rows], ids)
        with gzip.open(SAMPLE_TARGETS, "rt") as file:
            values = {row["name"]: row[ENERGY] for row in csv.DictReader(file, skipinitialspace=True)}
        for row in rows:
            self.assertEqual(float(row[ENERGY]), float(values[row["id"]]))
        others = self.predicted(kept, "unlabelled")
        predicted = [f"predicted_{ENERGY}", "id"]
        self.assertEqual([[row[key] for key in predicted] for row in others],
                         [[row[key] for key in predicted] for row in rows])
        self.assertEqual({row[ENERGY] for row in others}, {""})

    def test_a_missing_target_is_an_empty_cell(self):
        kept = self.folder / "kept"
        trained = self.trained("--target", BOTH, "--checkpoint", kept, dataset="sparse")
        rows = self.predicted(kept, "sparse", "--split", "test")
        for target in (ENERGY, IONIZATION):
            expected = trained["targets"][target]["test"]
            self.assertEqual(sum(row[target] != "" for row in rows), expected["graphs"])
            self.assertAlmostEqual(self.mean_error(rows, target), expected["mae"], delta=1e-5 * expected["mae"])
            self.assertTrue(all(row[f"predicted_{target}"] for row in rows))

    def test_a_failure_says_what_it_is_and_leaves_the_former_file(self):
        kept = self.folder / "kept"
        self.trained("--checkpoint", kept)
        self.table.write_text("former")
        for arguments, code, part in (
                (["--checkpoint", self.folder / "none", "--dataset", "whole"], 1, "no checkpoint in"),
                (["--checkpoint", kept, "--dataset", "none"], 1, "none"),
                (["--checkpoint", kept, "--dataset", "whole", "--split", "first"], 1, "has no split 'first'"),
                (["--checkpoint", kept, "--dataset", "silane"], 1, "has atomic number 14"),
                (["--checkpoint", kept], 2, "--dataset is required")):
            with self.subTest(arguments=arguments):
                refused = self.predict(*arguments, "-o", self.table)
                self.assertEqual(refused.code, code, refused)
                self.assertIn(part, refused.error["message"])
                self.assertEqual(self.table.read_text(), "former")
        refused = self.predict("--checkpoint", kept, "--dataset", "whole", "-o", self.folder / "no" / "file.csv")
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("cannot write", refused.error["message"])


if __name__ == "__main__":
    unittest.main()
