"""Imports and reports that remember what the server acknowledged, and go on where they were cut off."""
import random
import subprocess
import threading

import grpc

from harness import BIN
from protocol import Client, run_pb2

WORLD = 2


class Progress:
    """Counts acknowledgements of all workers until the daemon is killed. Any number of threads may use it."""

    def __init__(self):
        self._changed = threading.Condition()
        self._counts = {"imports": 0, "reports": 0}
        self._stopped = False
        self.failures = []

    def note(self, kind):
        with self._changed:
            self._counts[kind] += 1
            self._changed.notify_all()

    def fail(self, what):
        """Before the daemon is killed nothing may fail."""
        with self._changed:
            if not self._stopped:
                self.failures.append(what)
            self._changed.notify_all()

    def wait_for(self, kind, count):
        with self._changed:
            self._changed.wait_for(lambda: self._counts[kind] >= count or self.failures, timeout=60)

    def stop(self):
        with self._changed:
            self._stopped = True

    @property
    def stopped(self):
        with self._changed:
            return self._stopped


class Importer:
    """Imports random contents under a few names of its own, with the command line program."""

    def __init__(self, prefix, contents, seed):
        self.random = random.Random(seed)
        self.contents = contents
        self.names = [f"{prefix}-{k}" for k in range(3)]
        self.current = {}  # name -> content that was acknowledged last
        self.pending = {}  # name -> content of which nobody knows whether it was sealed
        self.acknowledged = set()
        self.imports = 0

    def work(self, address, progress):
        while not progress.stopped:
            name, content = self.random.choice(self.names), self.random.choice(self.contents)
            self.pending[name] = content
            done = subprocess.run([BIN / "packtrain", "--server", address, "--give-up", "0.1", "import", "extxyz",
                                   content.path, "--name", name, *content.arguments], capture_output=True, text=True)
            if done.returncode != 0:
                progress.fail(f"import: {done.stderr}")
                return
            self.settle(name, content)
            self.imports += 1
            progress.note("imports")

    def possible(self, name):
        """What the name may mean now; None: nothing."""
        current = self.current.get(name)
        return [current, self.pending.get(name, current)]

    def settle(self, name, content):
        """From now on the name means `content`, which is returned."""
        self.pending.pop(name, None)
        if content is not None:
            self.current[name] = content
            self.acknowledged.add((name, content))
        return content


class Process:
    """One attempt of one rank: which steps it sent, and which of them were acknowledged."""

    def __init__(self, rank, attempt, first_step):
        self.rank, self.attempt, self.first_step = rank, attempt, first_step
        self.sent, self.acknowledged = set(), set()

    def total_ns(self, step):
        return 1_000_000 + 1000 * step + 10 * self.rank + self.attempt


class Run:
    """One run: `name` is known once a start was acknowledged; state is running, finishing or finished."""

    def __init__(self, key):
        self.key, self.name, self.state = key, None, "running"
        self.processes = {}  # (rank, attempt) -> Process
        self.latest = {}  # rank -> Process
        self.evaluations = {}  # (attempt of rank 0, step, split) -> mae, as acknowledged
        self.evaluating = {}  # as evaluations, of the call that is not acknowledged yet
        self.opening = None  # (rank, first step) of an attempt that may have been opened
        self.starts = 0

    def ends(self, opened=None):
        """By the attempt of rank 0, the first step that does not count: where a later one begins. `opened` as `opening`."""
        ends, end = {}, opened[1] if opened and opened[0] == 0 else 2**64
        for process in sorted((p for p in self.processes.values() if p.rank == 0), key=lambda p: -p.attempt):
            ends[process.attempt] = end
            end = min(end, process.first_step)
        return ends

    def curves(self):
        """Each list of evaluations that may count, (step, split, mae) by step and split: whether or not the attempt being
        opened has been, and whether or not the evaluation being sent has come."""
        return [self.curve(self.ends(opened), {**self.evaluations, **sent})
                for opened in (None, self.opening) for sent in ({}, self.evaluating)]

    def curve(self, ends, evaluations):
        """Of several evaluations of a step and split that count, the last attempt's is shown."""
        counted = {(step, split): mae for (attempt, step, split), mae in sorted(evaluations.items())
                   if step <= ends[attempt]}
        return [(*place, mae) for place, mae in sorted(counted.items())]

    def acknowledged_steps(self):
        return sum(len(process.acknowledged) for process in self.processes.values())


class Reporter:
    """Reports runs of two ranks, one after the other: blocks late, twice and overlapping, evaluations, attempts."""

    def __init__(self, name, seed):
        self.name = name
        self.random = random.Random(seed)
        self.runs = []
        self.todo = []  # calls that are not acknowledged yet; the first one may have been

    def work(self, address, progress):
        with Client(address) as client:
            try:
                while not progress.stopped:
                    if not self.todo:
                        self.plan_run()
                    self.todo[0](client)
                    del self.todo[0]
                    progress.note("reports")
            except grpc.RpcError as error:
                progress.fail(f"report: {error}")

    def plan_run(self):
        run = Run(f"{self.name}-run-{len(self.runs):08d}")
        self.runs.append(run)
        last = {rank: 0 for rank in range(WORLD)}
        self.todo = [self.starting(run, rank, 0) for rank in range(WORLD)]
        for k in range(self.random.randrange(3, 30)):
            rank = self.random.randrange(WORLD)
            if self.random.randrange(10) == 0:
                last[rank] = self.random.randrange(last[rank] + 1)
                self.todo.append(self.starting(run, rank, last[rank]))
            first, last[rank] = last[rank], last[rank] + self.random.randrange(1, 200)
            self.todo += self.blocks(run, rank, first, last[rank])
            if k % 4 == 0:
                self.todo.append(self.evaluating(run, last[rank], mae=self.random.random()))
        self.todo.append(self.finishing(run))

    def blocks(self, run, rank, first, last):
        """Steps first .. last - 1 in two blocks that overlap, in any order, one of them perhaps twice."""
        middle = self.random.randrange(first, last)
        blocks = [(first, last - self.random.randrange(last - middle)), (middle, last)]
        blocks += self.random.sample(blocks, self.random.randrange(2))
        self.random.shuffle(blocks)
        return [self.reporting(run, rank, *block) for block in blocks]

    def starting(self, run, rank, first_step):
        process_key = f"process-{self.random.randrange(1 << 62)}"

        def call(client):
            run.opening = rank, first_step
            answer = client.StartRun(run_pb2.StartRunRequest(
                idempotency_key=run.key, rank=rank, first_step=first_step, process_key=process_key,
                description=run_pb2.RunDescription(model="none", dataset="none@0", world_size=WORLD)))
            run.name = answer.run
            run.opening = None
            process = Process(rank, answer.attempt, first_step)
            assert (rank, answer.attempt) not in run.processes, "an attempt was given out twice"
            run.processes[rank, answer.attempt] = run.latest[rank] = process
        return call

    def reporting(self, run, rank, first, last):
        def call(client):
            process = run.latest[rank]
            steps = range(first, last)
            process.sent.update(steps)
            block = run_pb2.StepBlock(step=steps, total_ns=map(process.total_ns, steps))
            for column in run_pb2.StepBlock.DESCRIPTOR.fields:
                if column.name not in ("step", "total_ns"):
                    getattr(block, column.name).extend([1] * len(steps))
            client.ReportSteps(run_pb2.ReportStepsRequest(run=run.name, rank=rank, attempt=process.attempt,
                                                          steps=block))
            process.acknowledged.update(steps)
        return call

    def evaluating(self, run, step, mae):
        def call(client):
            run.evaluating = {(run.latest[0].attempt, step, "val"): mae}
            client.ReportEvaluation(run_pb2.ReportEvaluationRequest(
                run=run.name, evaluation=run_pb2.Evaluation(step=step, split="val", mae=mae)))
            run.evaluations.update(run.evaluating)
            run.evaluating = {}
        return call

    def finishing(self, run):
        def call(client):
            run.state = "finishing"
            client.FinishRun(run_pb2.FinishRunRequest(run=run.name, state=run_pb2.RUN_STATE_DONE))
            run.state = "finished"
        return call
