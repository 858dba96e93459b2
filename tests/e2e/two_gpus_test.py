"""Ranks that each have a card train as one, and end when one of them is gone. Skipped without two cards.

Needs Python's standard library, the programs (see harness.py) and PACKTRAIN_TEST_DATA. PACKTRAIN_DEVICE=cpu tries the
tests themselves, with packtrain-trainer and as far as it goes.
"""
import csv
import io
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import OnSmallSample, finished

DEVICE = os.environ.get("PACKTRAIN_DEVICE", "cuda")
TRAINER = "packtrain-trainer" if DEVICE == "cpu" else "packtrain-trainer-cuda"
ENGINES = ["eager"] if DEVICE == "cpu" else ["eager", "captured"]
STEPS = 40
# Batches of 2 * G graphs are those of G graphs, two by two. Their shapes differ.
SPEC = ["--policy", "static", "--pad", "multiple"]
TRAINING = ["--dataset", "small", "--model", "schnet", "--lr", "1e-3", "--threads", "1", "--device", DEVICE]
ENDLESS = [*TRAINING, *SPEC, "--graphs", 10, "--steps", 10_000_000, "--engine", ENGINES[-1]]
# Losses of two orders of addition, relative to each other. Adam makes steps as long as the learning rate of gradients
# that are nothing but rounding, so this grows with the steps.
TOLERANCE = 1e-3


def cards():
    if DEVICE == "cpu":
        return 2
    if shutil.which("nvidia-smi") is None:
        return 0
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.count("GPU ")


def wait_for_step(process):
    """Returns when the first step of the process has ended."""
    for line in process.stderr:
        if line.startswith("step "):
            return
    raise AssertionError("the trainer ended before its first step")


class Ranks(OnSmallSample):
    def start(self, *arguments, ranks=2, cards=None):
        processes = self.node.start_training(*arguments, ranks=ranks, trainer=TRAINER, cards=cards)
        for process in processes:
            self.addCleanup(process.kill)
        return processes

    def train(self, *arguments, ranks=2, cards=None):
        """Returns the last line of a training that succeeds."""
        results = [finished(process) for process in self.start(*arguments, ranks=ranks, cards=cards)]
        for result in results:
            self.assertEqual(result.code, 0, result)
        return results[0].json

    def rows(self, run):
        exported = self.node.run("run", "export", run, "--format", "csv", json_output=False)
        self.assertEqual(exported.code, 0, exported)
        return list(csv.DictReader(io.StringIO(exported.out)))

    def losses(self, run, steps=STEPS):
        """Mean over all graphs of each step, whichever rank they were on."""
        sums, graphs = [0.0] * steps, [0] * steps
        for row in self.rows(run):
            step, real = int(row["step"]), int(row["real_graphs"])
            sums[step] += float(row["loss"]) * real
            graphs[step] += real
        return [total / count for total, count in zip(sums, graphs)]

    def assert_same_training(self, one, other):
        for step, (mine, others) in enumerate(zip(self.losses(one["run"]), self.losses(other["run"]))):
            self.assertLess(abs(mine - others), TOLERANCE * others, f"loss of step {step}")
        for split in ("val", "test"):
            self.assertEqual(one[split]["graphs"], other[split]["graphs"])
            self.assertLess(abs(one[split]["mae"] - other[split]["mae"]), TOLERANCE * other[split]["mae"], split)


@unittest.skipIf(cards() < 2, "needs two cards")
class TwoCards(Ranks):
    def test_two_ranks_train_as_one(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                whole = [*TRAINING, *SPEC, "--steps", STEPS, "--engine", engine]
                self.assert_same_training(self.train(*whole, "--graphs", 10), self.train(*whole, "--graphs", 20, ranks=1))

    def test_ranks_whose_shapes_differ_go_on_together(self):
        # Two captures at most, so that shapes are captured, thrown out and captured again on each rank at its own steps.
        few = [] if DEVICE == "cpu" else ["--max-captures", 2, "--evaluate-every", 15]
        result = self.train(*TRAINING, *SPEC, *few, "--graphs", 10, "--steps", STEPS, "--engine", ENGINES[-1])
        shapes = {}
        for row in self.rows(result["run"]):
            shapes.setdefault(row["step"], set()).add((row["padded_nodes"], row["padded_edges"]))
        self.assertEqual(len(shapes), STEPS)
        self.assertTrue(any(len(shape) > 1 for shape in shapes.values()), "the ranks' shapes never differ")
        if DEVICE != "cpu":
            self.assertGreater(result["captures"], 2)
            self.assertGreater(result["evictions"], 0)

    def test_a_rank_that_is_killed_is_named(self):
        for killed in (1, 0):
            with self.subTest(killed=killed):
                processes = self.start(*ENDLESS)
                wait_for_step(processes[0])
                processes[killed].kill()
                survivor = finished(processes[1 - killed])
                self.assertEqual(survivor.code, 1, survivor)
                self.assertIn(f"rank {killed} is gone", survivor.err)
                finished(processes[killed])

    def test_a_rank_that_stops_ends_both_behind_one_step(self):
        with tempfile.TemporaryDirectory() as room:
            kept = ["--checkpoint", pathlib.Path(room) / "kept", "--resume"]
            whole = [*TRAINING, *SPEC, "--graphs", 10, "--engine", ENGINES[-1]]
            for asked in (0, 1):
                processes = self.start(*ENDLESS, *kept)
                wait_for_step(processes[0])
                processes[asked].send_signal(signal.SIGTERM)
                results = [finished(process) for process in processes]
                self.assertEqual([result.code for result in results], [1, 1], results)
                self.assertIn(f"rank {asked} failed: stopped by a signal", results[1 - asked].err)
                self.assertIn("checkpoint of ", results[0].err)
            steps = int(results[0].err.split("checkpoint of ")[1].split()[0])
            result = self.train(*whole, *kept, "--steps", steps + 3)
            places = sorted((int(row["step"]), int(row["rank"])) for row in self.rows(result["run"]))
            self.assertEqual(places, [(step, rank) for step in range(steps + 3) for rank in (0, 1)])


@unittest.skipIf(DEVICE == "cpu" or cards() < 1, "needs a card")
class OneCard(Ranks):
    def test_two_ranks_of_one_card_train_as_one(self):
        whole = [*TRAINING, *SPEC, "--steps", STEPS, "--engine", "eager"]
        self.assert_same_training(self.train(*whole, "--graphs", 10, cards=(0, 0)),
                                  self.train(*whole, "--graphs", 20, ranks=1))

    def test_a_resume_steps_as_before(self):
        whole = [*TRAINING, *SPEC, "--graphs", 10, "--steps", STEPS]
        with tempfile.TemporaryDirectory() as room:
            kept = ["--checkpoint", pathlib.Path(room) / "kept", "--resume"]
            result = self.train(*whole, "--engine", "captured", *kept, ranks=1)
            self.assertEqual(self.node.run("run", "show", result["run"]).json["engine"], "captured")
            other, = self.start(*whole, "--engine", "eager", "--plain-kernels", *kept, ranks=1)
            refused = finished(other)
            self.assertEqual(refused.code, 1, refused)
            self.assertIn("--engine was 'captured' and is 'eager'; --plain-kernels was 'no' and is 'yes'", refused.err)

    def test_two_ranks_of_one_card_capture_nothing(self):
        for result in [finished(process) for process in self.start(*ENDLESS, cards=(0, 0))]:
            self.assertNotEqual(result.code, 0, result)
            self.assertIn("--engine captured", result.err)
            self.assertIn("ranks 0 and 1 share a card", result.err)


if __name__ == "__main__":
    unittest.main()
