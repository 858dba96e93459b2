"""Data nodes are killed, stopped and started again under real trainers: each of these comes to its end, and its run has
each step exactly once.
"""
import csv
import io
import unittest

from harness import DataNode, eventually, finished

TRAINERS = 8
STEPS = 120
TRAINING = ["--dataset", "small", "--policy", "dynamic", "--graphs", "15", "--model", "schnet", "--threads", "1",
            "--evaluate-every", "40", "--steps", STEPS]


def wait_for_step(process):
    """Returns when the first step of the process has ended."""
    for line in process.stderr:
        if "step 1/" in line:
            return
    raise AssertionError(f"the trainer ended before its first step: exit {process.wait()}")


def kill(node):
    node.process.kill()
    node.process.wait(timeout=60)
    node.process.stdout.close()


class Trainers(unittest.TestCase):
    def with_sample(self):
        """A data node with 400 molecules of the sample."""
        node = self.enterContext(DataNode())
        self.assertEqual(node.import_sample("--limit", 400, name="small").code, 0)
        return node

    def start(self, node, count, *arguments, server=None):
        """`count` trainings of one rank each, all of which have made a step."""
        trainers = []
        for number in range(count):
            trainers += node.start_training(*TRAINING, "--model-seed", number, *arguments, server=server)
        for trainer in trainers:
            self.addCleanup(trainer.wait)
            self.addCleanup(trainer.kill)
        for trainer in trainers:
            wait_for_step(trainer)
        return trainers

    def steps(self, node):
        """That each run has reported."""
        return {run["run"]: run["steps"] for run in node.run("run", "list").json}

    def await_steps_behind(self, node, before):
        """Until each run has reported more."""
        self.assertTrue(eventually(lambda: all(now > before.get(run, 0) for run, now in self.steps(node).items())))

    def assert_all_done(self, node, trainers):
        results = [finished(trainer) for trainer in trainers]
        self.assertEqual([result.code for result in results], [0] * len(trainers), results)
        runs = [result.json["run"] for result in results]
        self.assertEqual(sorted(runs), sorted(self.steps(node)))
        for run in runs:
            self.assertEqual(node.run("run", "show", run).json["state"], "done")
            exported = node.run("run", "export", run, "--format", "csv", json_output=False)
            self.assertEqual(exported.code, 0, exported)
            rows = list(csv.DictReader(io.StringIO(exported.out)))
            self.assertEqual([int(row["step"]) for row in rows], list(range(STEPS)))


class Restarted(Trainers):
    def test_eight_trainers_go_on_with_a_data_node_that_was_killed_and_then_stopped(self):
        node = self.with_sample()
        trainers = self.start(node, TRAINERS)
        address, before = node.address, self.steps(node)
        self.assertEqual(len(before), TRAINERS)
        kill(node)
        node.start(listen=address)
        self.await_steps_behind(node, before)
        self.assertEqual([trainer.poll() for trainer in trainers], [None] * TRAINERS)
        self.assertEqual(node.terminate(), 0)
        node.start(listen=address)
        self.assert_all_done(node, trainers)


class Spread(Trainers):
    """Batches come from a replica, or from it and its primary; runs are the primary's."""

    def setUp(self):
        self.primary = self.with_sample()
        self.replica = self.enterContext(DataNode("--replica-of", self.primary.address))
        self.assertTrue(eventually(lambda: self.replica.run("dataset", "list").json == self.primary.run(
            "dataset", "list").json))

    def test_a_replica_begins_no_run_and_batches_come_from_it_all_the_same(self):
        refused = finished(*self.primary.start_training(*TRAINING, server=self.replica.address))
        self.assertEqual(refused.code, 1, refused)
        self.assertIn(self.primary.address, refused.err)
        trainers = self.start(self.primary, 1, "--run-server", self.primary.address, server=self.replica.address)
        self.assert_all_done(self.primary, trainers)
        self.assertNotIn("event=stream_opened", self.primary.log())

    def test_trainers_go_on_at_the_primary_when_the_replica_is_killed(self):
        both = f"ipv4:{self.replica.address},{self.primary.address}"
        trainers = self.start(self.primary, 2, "--run-server", self.primary.address, server=both)
        self.assertTrue(eventually(lambda: "event=stream_opened" in self.replica.log()))
        self.assertEqual([trainer.poll() for trainer in trainers], [None, None])
        kill(self.replica)
        self.assert_all_done(self.primary, trainers)

    def test_batches_come_while_the_server_of_the_run_is_away(self):
        trainers = self.start(self.primary, 2, "--run-server", self.primary.address, server=self.replica.address)
        kill(self.primary)
        self.assertTrue(eventually(lambda: "event=stream_ended" in self.replica.log()))  # that of an evaluation
        self.assertEqual([trainer.poll() for trainer in trainers], [None, None])
        self.primary.start(listen=self.primary.address)
        self.assert_all_done(self.primary, trainers)


if __name__ == "__main__":
    unittest.main()
