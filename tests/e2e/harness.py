"""Runs the real programs: a data node on a free port over a directory of its own, and commands against it.

They are in the folder PACKTRAIN_BIN; or PACKTRAIN_RUN is a script that starts the one that its first argument names.
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ.get("PACKTRAIN_BIN", ""))
RUN = os.environ.get("PACKTRAIN_RUN")
DATA = pathlib.Path(os.environ["PACKTRAIN_TEST_DATA"])
SAMPLE = DATA / "qm9" / "qm9_sample.xyz.gz"
SAMPLE_TARGETS = DATA / "qm9" / "qm9_sample_targets.csv.gz"

# A trainer that lacks these sets them and starts itself anew, which takes as long as the training of a test.
TRAINER_DEFAULTS = {"OMP_WAIT_POLICY": "passive", "TORCH_CPP_LOG_LEVEL": "ERROR"}


def program(name):
    """The beginning of a command line."""
    return [RUN, name] if RUN else [BIN / name]


class Result:
    """What a finished command left: exit code, stdout, stderr."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        return json.loads(self.out)["error"]

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out[-2000:]}\nstderr: {self.err[-2000:]}"


class DataNode:
    """One packtraind. `with DataNode() as node:` starts it and ends it, its directory included.

    `open_files`: the hard limit of files it may have open.
    """

    def __init__(self, *arguments, directory=None, open_files=None):
        self._own = tempfile.TemporaryDirectory() if directory is None else None
        self.directory = pathlib.Path(self._own.name if self._own else directory)
        self._arguments = arguments
        self._limits = ["prlimit", f"--nofile={open_files}"] if open_files else []
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        if self._own:
            self._own.cleanup()

    def start(self, listen="127.0.0.1:0"):
        log = open(self.directory / "packtraind.log", "ab")
        with log:
            self.process = subprocess.Popen(
                [*self._limits, *program("packtraind"), "--data", self.directory / "data", "--listen", listen,
                 *self._arguments],
                stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.communicate()
            raise RuntimeError(f"packtraind said {line!r}: {self.log()}")
        self.address = line.removeprefix("listening on ").strip()

    def log(self):
        return (self.directory / "packtraind.log").read_text()

    def state(self):
        code = self.process.poll()
        return "runs" if code is None else f"ended with {code}"

    def sockets(self):
        """How many sockets it has open; other files come and go with gRPC's threads."""
        folder = f"/proc/{self.process.pid}/fd"
        return sum(target_of(f"{folder}/{name}").startswith("socket:") for name in os.listdir(folder))

    def memory_bytes(self, key="VmRSS"):
        """Its resident memory; VmHWM: the most that it ever was."""
        with open(f"/proc/{self.process.pid}/status") as status:
            (line,) = [line for line in status if line.startswith(key + ":")]
        return int(line.split()[1]) << 10

    def terminate(self):
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        return code

    def run(self, *arguments, json_output=True, timeout=120):
        """Runs `packtrain ARGUMENTS` against this node."""
        return packtrain(*arguments, *(["--json"] if json_output else []), server=self.address, timeout=timeout)

    def import_sample(self, *arguments, name="sample"):
        return self.run("import", "extxyz", SAMPLE, "--name", name, "--edges", "full", "--join", SAMPLE_TARGETS,
                        "--key", "name", "--split-permille", "800,100,100", *arguments)

    def start_training(self, *arguments, ranks=1, trainer="packtrain-trainer", cards=None, server=None):
        """Starts a training of `ranks` processes, each on its card of the host [its rank]; returns them. Batches come
        from `server` [this node]."""
        port = free_port()
        return [self.start_rank(*arguments, rank=rank, ranks=ranks, port=port, trainer=trainer, card=card, server=server)
                for rank, card in enumerate(cards or range(ranks))]

    def start_rank(self, *arguments, rank, ranks, port, trainer="packtrain-trainer", card=None, host="127.0.0.1",
                   server=None):
        """Starts one process of a training of `ranks`, which meet at `host`:`port`; returns it."""
        environment = {**TRAINER_DEFAULTS, **os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks),
                       "LOCAL_RANK": str(rank if card is None else card), "MASTER_ADDR": host, "MASTER_PORT": str(port)}
        return subprocess.Popen([*program(trainer), "--server", server or self.address, *map(str, arguments)], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def train(self, *arguments, ranks=1, timeout=240):
        """Runs one training of `ranks` processes; returns their results."""
        return [finished(process, timeout) for process in self.start_training(*arguments, ranks=ranks)]


def damage_store(directory):
    """Flips a bit of a record in the store of a node that has ended, and so takes the block that holds it."""
    files = pathlib.Path(directory, "data", "graphs").rglob("*.sst")
    largest = max(files, key=lambda path: path.stat().st_size)
    with open(largest, "r+b") as file:
        file.seek(largest.stat().st_size // 3)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 0x10]))


def eventually(holds, seconds=60):
    """Whether `holds()` comes true in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def imported_sample(test):
    """A directory for data nodes, gone with `test`, whose store holds the sample: for limits too short for imports."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    with DataNode(directory=folder.name) as node:
        imported = node.import_sample()
        test.assertEqual(imported.code, 0, imported)
        test.assertEqual(node.terminate(), 0)
    return folder.name


class OnSmallSample(unittest.TestCase):
    """One data node for the class, `node`, with 400 molecules of the sample as data set `small`."""

    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        imported = cls.node.import_sample("--limit", 400, name="small")
        assert imported.code == 0, imported

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()


def finished(process, timeout=240):
    """Waits for a started process; returns its result."""
    out, err = process.communicate(timeout=timeout)
    return Result(subprocess.CompletedProcess([], process.returncode, out, err))


def packtrain(*arguments, server, timeout=120):
    environment = dict(os.environ, PACKTRAIN_SERVER=server)
    return Result(subprocess.run([*program("packtrain"), *map(str, arguments)], env=environment, capture_output=True,
                                 text=True, timeout=timeout))


def target_of(link):
    """Where a link leads; nowhere once it has gone."""
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
