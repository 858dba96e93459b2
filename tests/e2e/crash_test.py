"""kill -9 at random moments under imports and reports: what was acknowledged stays, nothing half done shows, and the
next start needs no hand.

PACKTRAIN_ROUNDS is how often the daemon is killed (10). PACKTRAIN_SEED repeats the choices of an earlier run, though
not its timing; every failure names the seed.
"""
import gzip
import hashlib
import os
import pathlib
import random
import subprocess
import tempfile
import threading
import time
import unittest

from crash_load import Importer, Progress, Reporter
from harness import BIN, SAMPLE, DataNode
from protocol import Client, batch_pb2, dataset_pb2, run_pb2

ROUNDS = int(os.environ.get("PACKTRAIN_ROUNDS", "10"))
SEED = int(os.environ.get("PACKTRAIN_SEED", str(random.SystemRandom().randrange(1 << 32))))
MAX_RESTART_SECONDS = 5
IMPORTERS = 2
REPORTERS = 3
# Runs that finished longer ago are looked at again only at the end.
RECENT_RUNS = 6


def frames_of_sample():
    lines = gzip.open(SAMPLE, "rt").read().splitlines(keepends=True)
    frames, at = [], 0
    while at < len(lines):
        end = at + 2 + int(lines[at])
        frames.append("".join(lines[at:end]))
        at = end
    return frames


class Content:
    """What an import brings: a file and how it is split. Version and bytes are known from a daemon nobody kills."""

    def __init__(self, path, split):
        self.path, self.arguments = path, (["--split-permille", split] if split else [])
        self.version = self.graphs = self.digest = None


def make_contents(folder):
    frames = frames_of_sample()
    contents = []
    for first, last in ((0, 30), (0, 90), (200, 500), (1000, 1005)):
        path = pathlib.Path(folder) / f"frames_{first}_{last}.xyz"
        path.write_text("".join(frames[first:last]))
        contents += [Content(path, None), Content(path, "800,100,100")]
    return contents


def digest_of(client, dataset):
    """SHA-256 of the bodies of all batches of an epoch over all graphs."""
    spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=16, order=batch_pb2.ORDER_NONE, split="all")
    digest = hashlib.sha256()
    for part in client.StreamBatches(batch_pb2.StreamBatchesRequest(dataset=dataset, spec=spec, epochs=1)):
        digest.update(part.body)
    return digest.hexdigest()


def learn_contents(contents):
    """Imports each on a daemon that lives, and notes what it became."""
    with DataNode() as node, Client(node.address) as client:
        for content in contents:
            result = node.run("import", "extxyz", content.path, "--name", "reference", *content.arguments)
            assert result.code == 0, result
            content.version, content.graphs = result.json["version"], result.json["stored"]
            content.digest = digest_of(client, f"reference@{content.version}")
        return sst_files(node)


def staging(node):
    return node.directory / "data" / "graphs" / "staging"


def sst_files(node):
    """Without those of imports that broke off behind their last graph, and are kept."""
    return sum(not file.is_relative_to(staging(node)) for file in (node.directory / "data").rglob("*.sst"))


class CrashTest(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.contents = make_contents(self.folder.name)
        self.files_without_crashes = learn_contents(self.contents)
        self.importers = [Importer(f"importer{k}", self.contents, self.random.randrange(1 << 32))
                          for k in range(IMPORTERS)]
        self.reporters = [Reporter(f"reporter{k}", self.random.randrange(1 << 32)) for k in range(REPORTERS)]
        self.seconds_to_start = []

    def test_nothing_acknowledged_is_lost_and_nothing_half_done_shows(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        with DataNode(directory=directory.name) as node:
            for crash in range(ROUNDS):
                try:
                    self.run_until_killed(node)
                    self.restart(node)
                    self.check(node, all_runs=crash + 1 == ROUNDS)
                except Exception as error:
                    error.add_note(f"crash {crash} of {ROUNDS}, PACKTRAIN_SEED={SEED}; {node.log()[-2000:]}")
                    raise
        print(f"{ROUNDS} crashes, {sum(len(i.acknowledged) for i in self.importers)} data sets, "
              f"{sum(i.imports for i in self.importers)} imports, {sum(len(r.runs) for r in self.reporters)} runs, "
              f"{sum(run.acknowledged_steps() for r in self.reporters for run in r.runs)} steps; "
              f"seconds to start: at most {max(self.seconds_to_start):.2f}, seed {SEED}")

    def run_until_killed(self, node):
        """Load, and SIGKILL a short moment after a random number of acknowledgements."""
        progress = Progress()
        workers = [threading.Thread(target=worker.work, args=(node.address, progress))
                   for worker in self.importers + self.reporters]
        for worker in workers:
            worker.start()
        kind, most, jitter = self.random.choice([("imports", 4, 0.2), ("reports", 60, 0.02)])
        progress.wait_for(kind, self.random.randrange(most))
        time.sleep(self.random.uniform(0, jitter))
        progress.stop()
        node.process.kill()
        node.process.wait()
        node.process.stdout.close()
        for worker in workers:
            worker.join()
        self.assertEqual(progress.failures, [])

    def restart(self, node):
        """Starts the daemon again; one start in four is killed, too."""
        if self.random.randrange(4) == 0:
            with open(node.directory / "packtraind.log", "ab") as log:
                victim = subprocess.Popen([BIN / "packtraind", "--data", node.directory / "data", "--listen",
                                           "127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=log)
            time.sleep(self.random.uniform(0, 0.1))
            victim.kill()
            victim.wait()
        begin = time.monotonic()
        node.start()
        self.seconds_to_start.append(time.monotonic() - begin)
        self.assertLess(self.seconds_to_start[-1], MAX_RESTART_SECONDS)

    def check(self, node, all_runs):
        self.check_space(node)
        with Client(node.address) as client:
            self.check_datasets(client)
            self.check_runs(client, all_runs)

    def check_space(self, node):
        """Nothing staged is left but what is kept of imports, and files of graphs are no more than the contents need,
        beside those of the log."""
        kept = node.run("server", "info")
        self.assertEqual(kept.code, 0, kept)
        self.assertEqual(len(list(staging(node).iterdir())), kept.json["disk"]["kept_imports"])
        self.assertLess(sst_files(node), 2 * self.files_without_crashes + 16)

    def check_datasets(self, client):
        listed = {entry.name: entry for entry in
                  client.pages("ListDatasets", dataset_pb2.ListDatasetsRequest(), "datasets")}
        names = {name for importer in self.importers for name in importer.names}
        self.assertLessEqual(set(listed), names)
        for importer in self.importers:
            for name in importer.names:
                self.check_name(client, importer, name, listed.get(name))
            for name, content in importer.acknowledged:
                version = client.GetDataset(dataset_pb2.GetDatasetRequest(dataset=f"{name}@{content.version}"))
                self.assertEqual(version.dataset.graphs, content.graphs)

    def check_name(self, client, importer, name, entry):
        """The name means what was acknowledged last, or what was under way: then that was sealed."""
        possible = {content and content.version: content for content in importer.possible(name)}
        version = entry and entry.version
        self.assertIn(version, possible, name)
        content = importer.settle(name, possible[version])
        if content is not None:
            self.assertEqual(entry.graphs, content.graphs)
            self.assertEqual(digest_of(client, name), content.digest)

    def check_runs(self, client, all_runs):
        listed = {run.run: run for run in client.pages("ListRuns", run_pb2.ListRunsRequest(), "runs")}
        ours = [run for reporter in self.reporters for run in reporter.runs]
        self.assertLessEqual(len(listed), len(ours))
        for reporter in self.reporters:
            for age, run in enumerate(reversed(reporter.runs)):
                if run.name is None:
                    continue
                self.check_state(run, listed[run.name])
                if all_runs or age < RECENT_RUNS:
                    self.check_steps(client, run, listed[run.name])
                    self.check_evaluations(client, run)

    def check_state(self, run, entry):
        states = {"running": {run_pb2.RUN_STATE_RUNNING}, "finished": {run_pb2.RUN_STATE_DONE},
                  "finishing": {run_pb2.RUN_STATE_RUNNING, run_pb2.RUN_STATE_DONE}}
        self.assertIn(entry.state, states[run.state], run.name)

    def check_steps(self, client, run, entry):
        """Each acknowledged step is stored once, with its record, and none that was never sent."""
        stored = {}
        for block in client.ListSteps(run_pb2.ListStepsRequest(run=run.name, all_attempts=True)):
            steps = stored.setdefault((block.rank, block.attempt), {})
            for step, total_ns in zip(block.steps.step, block.steps.total_ns):
                self.assertNotIn(step, steps, f"{run.name} holds a step twice")
                steps[step] = total_ns
        self.assertLessEqual(set(stored), set(run.processes))
        for key, process in run.processes.items():
            steps = stored.get(key, {})
            self.assertLessEqual(process.acknowledged, set(steps), f"{run.name} lost steps of {key}")
            self.assertLessEqual(set(steps), process.sent)
            self.assertEqual({step: process.total_ns(step) for step in steps}, steps)
        counts = {self.counted(stored, run.ends(opened)) for opened in (None, run.opening)}
        self.assertIn(entry.steps, counts, run.name)

    def counted(self, stored, ends):
        """Steps of rank 0 that lie before the end of their attempt."""
        steps = [step for (rank, attempt), of_attempt in stored.items() if rank == 0 for step in of_attempt
                 if step < ends[attempt]]
        self.assertEqual(len(steps), len(set(steps)))
        return len(steps)

    def check_evaluations(self, client, run):
        """Each evaluation that counts is listed once, and no other one."""
        answer = client.ListEvaluations(run_pb2.ListEvaluationsRequest(run=run.name))
        self.assertIn([(e.step, e.split, e.mae) for e in answer.evaluations], run.curves(), run.name)


if __name__ == "__main__":
    unittest.main()
