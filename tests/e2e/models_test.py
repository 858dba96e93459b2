"""Every model trains on the data that it is made for, and goes on from its checkpoint as the model that it was."""
import csv
import io
import math
import pathlib
import subprocess
import tempfile
import unittest

from harness import DATA, DataNode, Result, program

SETTINGS = ["--threads", "1", "--lr", "1e-3"]
SPLIT = ["--split-permille", "700,150,150"]


def describe(*arguments):
    return Result(subprocess.run([*program("packtrain-trainer"), "--describe", *map(str, arguments)], capture_output=True,
                                 text=True, timeout=120, check=False))


class Describe(unittest.TestCase):
    def test_parameters_are_those_of_the_papers(self):
        for arguments, parameters in ((["schnet", "--classes", 5], 80_352), (["schnet", "--classes", 74], 84_768),
                                      (["mpeu", "--classes", 5], 173_152), (["mpeu", "--classes", 74], 177_568),
                                      (["painn", "--classes", 5], 2_284_545), (["painn", "--classes", 74], 2_302_209),
                                      (["pna"], 4_096_110), (["pna", "--readout", "linear"], 4_152_812),
                                      (["ggnn", "--classes", 4_050, "--edge-types", 20], 945_536),
                                      (["ggnn", "--classes", 5, "--edge-types", 8, "--hidden", 64, "--readout", "mean"],
                                       5 * 64 + 8 * 64 ** 2 + 6 * 64 ** 2 + 6 * 64 + 64 ** 2 + 2 * 64 + 1)):
            with self.subTest(model=arguments):
                result = describe("--model", *arguments)
                self.assertEqual(result.code, 0, result)
                self.assertEqual(result.json["parameters"], parameters)
                self.assertEqual(sum(layer["parameters"] for layer in result.json["layers"]), parameters)

    def test_what_a_model_needs_or_does_not_have_is_wrong_usage(self):
        for arguments, part in ((["ggnn", "--classes", 5], "--edge-types"), (["mpeu"], "--classes"),
                                (["schnet", "--classes", 5, "--readout", "max"], "schnet has mean"),
                                (["pna", "--edge-types", 4], "pna has no types of edges"),
                                (["ggnn", "--classes", 5, "--edge-types", 4, "--adjacency", "dense"], "ggnn has sparse, banded")):
            with self.subTest(model=arguments):
                result = describe("--model", *arguments)
                self.assertEqual(result.code, 2, result)
                self.assertIn(part, result.err)


class Trained(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        imports = (("molecules", ["smiles", DATA / "smiles" / "hiv_sample.csv", "--features", "ogb", "--targets", "HIV_active",
                                  *SPLIT]),
                   ("crystals", ["extxyz", DATA / "crystals" / "mp_sample.extxyz", "--edges", "knn:12",
                                 "--missing-target", "nan"]),
                   ("programs", ["jsonl", DATA / "jsonl" / "great.jsonl.gz", "--split-permille", "500,500,0", "--renumber",
                                 "rcm"]))
        for name, arguments in imports:
            imported = cls.node.run("import", *arguments, "--name", name)
            assert imported.code == 0, imported
        imported = cls.node.import_sample("--limit", 200, name="conformers")
        assert imported.code == 0, imported

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()

    def train(self, dataset, model, *arguments, steps=6, graphs=8, policy=None):
        policy = policy or ["--policy", "dynamic", "--graphs", graphs]
        (result,) = self.node.train("--dataset", dataset, "--model", model, *SETTINGS, *policy, "--steps", steps, *arguments)
        return result

    def trained(self, *arguments, **others):
        """The result of a training that ends as it should, and the record of its run."""
        result = self.train(*arguments, **others)
        self.assertEqual(result.code, 0, result)
        self.assertTrue(math.isfinite(result.json["loss"]), result)
        return result.json, self.node.run("run", "show", result.json["run"]).json

    def test_models_of_positions_train_on_conformers_and_crystals(self):
        for model in ("mpeu", "painn"):
            with self.subTest(model=model):
                trained, _ = self.trained("conformers", model, "--hidden", 32)
                self.assertTrue(math.isfinite(trained["val"]["mae"]))
        for model in ("schnet", "mpeu", "painn"):
            with self.subTest(model=model, data="crystals"):
                self.trained("crystals", model, "--hidden", 16, graphs=2)

    def test_schnet_with_tables_records_how_far_its_filters_are_from_direct_ones(self):
        trained, run = self.trained("conformers", "schnet", "--filter", "table", "--hidden", 16)
        self.assertEqual(run["settings"]["other"]["filter"], "table")
        points = self.node.run("run", "curve", trained["run"]).json
        self.assertGreater(len(points), 0)
        for point in points:
            self.assertTrue(0 < point["filter_error"] < 1e-4, point)
        direct, _ = self.trained("conformers", "schnet", "--hidden", 16)
        self.assertIsNone(self.node.run("run", "curve", direct["run"]).json[0]["filter_error"])

    def test_pna_trains_on_features_and_refers_to_the_degrees_of_its_split(self):
        shown = self.node.run("dataset", "show", "molecules").json["splits"]["train"]["mean_log_degree"]
        self.assertAlmostEqual(shown, math.log(3), delta=0.3)
        trained, run = self.trained("molecules", "pna", "--layers", 4, "--hidden", 16)
        self.assertTrue(math.isfinite(trained["test"]["mae"]))
        other = run["settings"]["other"]
        self.assertEqual(other["mean_log_degree"], f"{shown:.12g}")
        self.assertEqual((other["readout"], other["layers"], other["hidden"]), ("max", "4", "16"))
        self.trained("molecules", "pna", "--readout", "linear", steps=2)

    def test_ggnn_chooses_among_the_nodes_of_programs(self):
        trained, run = self.trained("programs", "ggnn", "--hidden", 16, graphs=4)
        self.assertTrue(0 <= trained["val"]["accuracy"] <= 1)
        self.assertGreater(trained["val"]["cross_entropy"], 0)
        self.assertIn("accuracy", trained["constant_predictor"])
        (point,) = self.node.run("run", "curve", trained["run"]).json
        self.assertEqual(point["accuracy"], trained["val"]["accuracy"])
        self.assertEqual(point["constant_predictor"]["accuracy"], trained["constant_predictor"]["accuracy"])
        self.assertEqual(self.node.run("run", "summary", trained["run"]).json["evaluations_left_out"], 0)
        types = len(self.node.run("dataset", "show", "programs").json["vocabularies"]["edge_type"]["words"])
        other = run["settings"]["other"]
        self.assertEqual((other["readout"], other["adjacency"], other["edge_types"]), ("choice", "sparse", str(2 * types)))

    def test_ggnn_trains_on_supergraphs_by_banded_sums_as_by_sparse_ones(self):
        policy = ["--policy", "supergraph", "--blocks", 8, "--block-nodes", 32, "--oversize", "alone"]
        (sparse, _), (banded, run) = (self.trained("programs", "ggnn", "--hidden", 8, "--adjacency", adjacency, policy=policy)
                                      for adjacency in ("sparse", "banded"))
        self.assertEqual(run["settings"]["other"]["adjacency"], "banded")
        self.assertAlmostEqual(banded["loss"], sparse["loss"], delta=1e-4)
        for metric in ("accuracy", "cross_entropy", "graphs"):
            self.assertAlmostEqual(banded["val"][metric], sparse["val"][metric], delta=1e-3, msg=metric)
        refused = self.train("programs", "ggnn", "--adjacency", "banded")
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("--policy supergraph", refused.err)

    def test_a_training_on_a_slice_is_evaluated_on_every_graph(self):
        policy = ["--policy", "packed", "--graphs", 4]
        for dataset, model, limit in (("conformers", "schnet", "nodes:16"), ("programs", "ggnn", "bandwidth:16")):
            with self.subTest(limit=limit):
                sliced = [*policy, "--skip-above", limit]
                plans = {split: self.node.run("plan", "--dataset", dataset, *sliced, "--split", split).json
                         for split in ("train", "val")}
                self.assertTrue(all(plan["skipped_graphs"] > 0 for plan in plans.values()), plans)
                whole, _ = self.trained(dataset, model, "--hidden", 8, policy=policy, steps=2)
                steps = plans["train"]["steps"]
                trained, _ = self.trained(dataset, model, "--hidden", 8, policy=sliced, steps=steps)
                self.assertEqual(trained["graphs"], plans["train"]["graphs"])
                scored = [next(iter(result["targets"].values()), result)["val"]["graphs"] for result in (trained, whole)]
                self.assertEqual(scored[0], scored[1])
                (listed,) = self.node.run("run", "list", "--where", f"skip_above = {limit}").json
                self.assertEqual(listed["run"], trained["run"])

    def test_ggnn_learns_a_target_of_molecules(self):
        trained, run = self.trained("molecules", "ggnn", "--hidden", 16)
        self.assertTrue(math.isfinite(trained["val"]["rmse"]))
        self.assertEqual(run["settings"]["other"]["readout"], "mean")
        refused = self.train("molecules", "ggnn", "--readout", "choice")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("has no field 'token'", refused.err)

    def losses(self, run, steps):
        """Of each step, over the graphs of all ranks."""
        exported = self.node.run("run", "export", run, "--format", "csv", json_output=False)
        self.assertEqual(exported.code, 0, exported)
        of_steps = {int(row["step"]): float(row["loss"]) for row in csv.DictReader(io.StringIO(exported.out))}
        return [of_steps[step] for step in range(steps)]

    def test_two_ranks_train_as_one_on_the_joined_batches(self):
        # In f64, so that all that is left is the order of additions; targets are missing in some of the crystals.
        for dataset, model, graphs in (("conformers", "schnet", 5), ("crystals", "mpeu", 1), ("crystals", "painn", 1),
                                       ("molecules", "pna", 6), ("programs", "ggnn", 3)):
            with self.subTest(model=model):
                layers = ["--layers", 3] if model == "pna" else []
                settings = ["--dataset", dataset, "--model", model, *SETTINGS, *layers, "--hidden", 8, "--precision", "f64",
                            "--policy", "static", "--pad", "multiple", "--order", "none", "--steps", 10]
                runs = []
                for ranks in (1, 2):
                    results = self.node.train(*settings, "--graphs", graphs * 2 // ranks, ranks=ranks)
                    self.assertEqual([result.code for result in results], [0] * ranks, results)
                    runs.append(results[0].json["run"])
                for one, two in zip(*(self.losses(run, 10) for run in runs)):
                    self.assertLess(abs(one - two), 1e-10 * abs(one))

    def test_a_training_can_be_repeated_from_its_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.trained("molecules", "ggnn", "--hidden", 8, "--precision", "f64", "--write-steps", folder, steps=3)
            self.assertEqual(sorted(path.name for path in pathlib.Path(folder).iterdir()),
                             ["parameters.pt", "step-0.rank-0.pt", "step-1.rank-0.pt", "step-2.rank-0.pt"])
            refused = self.train("molecules", "ggnn", "--hidden", 8, "--write-steps", folder, steps=1)
            self.assertEqual(refused.code, 2, refused)
            self.assertIn("of an earlier training", refused.err)

    def test_a_training_goes_on_as_the_model_that_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = ["--checkpoint", pathlib.Path(folder), "--resume"]
            small = ["--layers", 3, "--hidden", 16]
            self.trained("molecules", "pna", *small, *checkpoint, steps=3)
            whole, _ = self.trained("molecules", "pna", *small, *checkpoint, steps=6)
            unbroken, _ = self.trained("molecules", "pna", *small, steps=6)
            self.assertEqual(whole["loss"], unbroken["loss"])
            refused = self.train("molecules", "pna", "--layers", 4, "--hidden", 16, *checkpoint, steps=9)
            self.assertEqual(refused.code, 1, refused)
            self.assertIn("--layers was '3' and is '4'", refused.err)

    def test_a_model_on_data_that_lacks_its_inputs_says_which(self):
        for dataset, model, part in (("molecules", "painn", "has no field 'pos'"), ("programs", "pna", "has no field 'x'"),
                                     ("conformers", "ggnn", "no field 'edge_type' and no field 'token'")):
            with self.subTest(model=model):
                refused = self.train(dataset, model)
                self.assertEqual(refused.code, 1, refused)
                self.assertIn(part, refused.err)


if __name__ == "__main__":
    unittest.main()
