"""A data node under load and faults for a while: 8 trainers stream epochs and others report runs through a proxy, beside
imports, derivations, exports and deletions, while the node is killed, stopped and started again, its disk is full,
connections are cut, frozen, or read slowly or never.

Checked: every epoch of every trainer is the one that nobody disturbed, bit for bit, each graph once; every step of every
run is there once; data sets are as their last acknowledged command left them; SIGTERM ends the node with exit code 0;
resident memory stays within 10 % of the stated cap, which is set close to what this load needs, and where the soak lasts
long enough for caches to fill, the last quarter's is at most a tenth of the cap above that of the third, the node being
the same since the first half; at the end all that is stored is whole.

With --memory SIZE the node's budget is that, and hostile clients want more beside the others: hostile_clients.py.

usage: soak.py [--seconds S] [--seed N] [--memory SIZE] [--any-memory]; exit code 0: all of it held. The seed decides which faults come in which order;
when they meet whom depends on the machine. Needs PACKTRAIN_BIN, PACKTRAIN_PROTO and PACKTRAIN_TEST_DATA, as ctest sets them. Where the
system allows no mounts, the disk is never full.
"""
import argparse
import collections
import contextlib
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import own_disk  # noqa: E402
from hostile_clients import HostileClients, import_wide  # noqa: E402
from harness import SAMPLE, DataNode, packtrain, program  # noqa: E402
from proxy import Proxy  # noqa: E402

# Limits near what 8 trainers, 6 that never read, and the commands beside them need.
CAP_FLAGS = ("--max-streams", 16, "--max-batch-bytes", 128 << 10, "--resident-bytes", 2 << 20, "--plan-cache-bytes",
             2 << 20, "--store-cache-bytes", 2 << 20)
HOSTILE_FLAGS = ("--max-streams", 64, "--max-batch-bytes", 32 << 20, "--resident-bytes", 64 << 20)
SMALLEST_MEMORY = "256M"
WAITS = ("--idle-timeout", "5", "--drain", "2")
DISK_MEBIBYTES = 512
SECONDS_TO_END = 240
SECONDS_TO_FILL = 300
# What a command may end with while the node is disturbed. NOT_FOUND: of an import that a restart forgot, or a data set
# that may have been deleted.
DISTURBED = {"UNAVAILABLE", "CANCELLED", "RESOURCE_EXHAUSTED", "NOT_FOUND"}


def lacks_answer(error):
    """Whether the server was short of memory for a call, or was not heard of."""
    reasons = {detail.get("reason") for detail in error.get("details", ())}
    return error["code"] == "UNAVAILABLE" or "MEMORY_LIMIT" in reasons


class Beside:
    """Commands on data sets of their own, and what each name may be since: a set of numbers of graphs, None for absent."""

    def __init__(self, proxy, folder, seed, counts):
        self.proxy, self.folder, self.counts = proxy, folder, counts
        self.choice = random.Random(f"{seed} beside")
        self.possible = collections.defaultdict(lambda: {None})

    def run(self, command, *arguments):
        """Whether `packtrain COMMAND ARGUMENTS` was acknowledged."""
        done = packtrain(*command.split(), *arguments, "--json", "--give-up", 5, server=self.proxy.address,
                         timeout=SECONDS_TO_END)
        assert done.code == 0 or done.error["code"] in DISTURBED, (command, arguments, done)
        self.counts[done.error["code"] if done.code else command] += 1
        return done.code == 0

    def settle(self, name, acknowledged, outcomes):
        self.possible[name] = set(outcomes) if acknowledged else self.possible[name] | set(outcomes)

    def bring(self, name):
        limit = self.choice.randrange(1, 200)
        done = self.run("import extxyz", SAMPLE, "--name", name, "--edges", "full", "--limit", limit)
        self.settle(name, done, {limit})

    def derive(self, name):
        done = self.run("dataset derive", name, "--edges", "radius:3", "--name", name + "-r3")
        self.settle(name + "-r3", done, self.possible[name] - {None})

    def delete(self, name):
        done = self.run("dataset delete", name, "--yes")
        self.settle(name, done, {None})

    def export(self, name):
        file = self.folder / f"{name}.jsonl"
        file.unlink(missing_ok=True)
        done = self.run("dataset export", name, "--format", "jsonl", "-o", file)
        assert file.exists() == done, f"an export ended with {done}, its file is there: {file.exists()}"
        if done:
            with open(file, encoding="utf-8") as lines:
                graphs = sum(bool(json.loads(line)) for line in lines)
            assert graphs in self.possible[name], f"{graphs} graphs of {name} were exported, of {self.possible[name]}"

    def step(self):
        name = f"beside{self.choice.randrange(3)}"
        work = self.choice.choice((self.bring, self.derive, self.delete, self.export))
        if self.possible[name] == {None}:
            work = self.bring
        work(name)
        self.check()

    def check(self):
        """Each name is one of what it may be. What was not acknowledged may still come to be."""
        listed = packtrain("dataset", "list", "--json", "--give-up", SECONDS_TO_END, server=self.proxy.address,
                           timeout=2 * SECONDS_TO_END)
        assert listed.code == 0, listed
        graphs = {entry["name"]: entry["graphs"] for entry in listed.json}
        for name, possible in self.possible.items():
            assert graphs.get(name) in possible, f"{name} has {graphs.get(name)} graphs, which is none of {possible}"


class Memory:
    """Resident memory of the node, in the course of time."""

    def __init__(self, cap, most):
        self.cap, self.most_allowed = cap, most
        self.readings = []  # (time, bytes)

    def read(self, node):
        try:
            resident = node.memory_bytes()
        except (OSError, ValueError):  # between two lives
            return
        self.readings.append((time.monotonic(), resident))
        assert resident <= self.most_allowed, f"resident memory {resident} is above the cap {self.cap}"

    def most(self, begin, end):
        return max(resident for at, resident in self.readings if begin <= at < end)


class Soak:
    def __init__(self, node, proxy, arguments, may_fill):
        self.node, self.proxy = node, proxy
        self.seed, self.seconds, self.any_memory = arguments.seed, arguments.seconds, arguments.any_memory
        self.data = node.directory / "data"
        self.counts = collections.Counter()
        self.failures = []
        self.over = threading.Event()
        self.beside = Beside(proxy, node.directory, self.seed, self.counts)
        self.memory = None
        self.hostile = HostileClients(node, self.seed) if arguments.memory else None
        # Hostile clients take processors, so that each call takes longer: there is to be time for one between two faults.
        self.pause = (0.2, 2) if self.hostile else (0.05, 0.5)
        self.gentle = [self.cut, self.cut, self.cut, self.freeze] + [self.fill] * may_fill
        self.harsh = self.gentle + [self.kill, self.stop]

    def guarded(self, work):
        """A thread that works over and over until the end; its failure ends the soak."""
        def run():
            try:
                while not self.over.is_set():
                    work()
            except Exception:
                self.failures.append(traceback.format_exc())
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def kill(self, choice):
        self.node.process.kill()
        self.node.process.wait()
        self.node.process.stdout.close()
        self.start_again(choice)

    def stop(self, choice):
        code = self.node.terminate()
        assert code == 0, f"SIGTERM ended the node with {code}"
        self.start_again(choice)

    def start_again(self, choice):
        self.proxy.cut()
        time.sleep(choice.uniform(0, 0.5))
        self.node.start()
        self.proxy.target = self.node.address
        if self.hostile:
            self.hostile.follow()

    def cut(self, _):
        self.counts["connections"] += self.proxy.cut()

    def freeze(self, choice):
        """Every host behind the proxy is gone for a moment."""
        self.proxy.freeze()
        time.sleep(choice.uniform(0.1, 1.0))
        self.proxy.thaw()

    def fill(self, choice):
        """A deletion meets the full disk; once there is space, imports work without a restart."""
        imported = self.node.import_sample("--limit", 5, "--give-up", SECONDS_TO_END, name="filled")
        assert imported.code == 0, imported
        ballast = own_disk.fill(self.data)
        time.sleep(choice.uniform(0.1, 1.0))
        self.delete_filled()
        ballast.unlink()
        imported = self.node.import_sample("--limit", 5, "--give-up", SECONDS_TO_END, name="filled")
        assert imported.code == 0, imported

    def delete_filled(self):
        """Beside hostile clients a call may be reset: nobody knows then whether it was made, so it is made again."""
        end = time.monotonic() + SECONDS_TO_END
        deleted = self.node.run("dataset", "delete", "filled", "--yes")
        while self.hostile and deleted.code != 0 and lacks_answer(deleted.error) and time.monotonic() < end:
            self.counts["deleted again"] += 1
            deleted = self.node.run("dataset", "delete", "filled", "--yes")
            if deleted.code != 0 and deleted.error["code"] == "NOT_FOUND":
                return
        assert deleted.code == 0, deleted

    def disturb(self, trainers):
        """One fault after another, on this thread, each kind as often; in the second half none that ends the node."""
        choice = random.Random(f"{self.seed} faults")
        begin, due = time.monotonic(), []
        while (passed := time.monotonic() - begin) < self.seconds and self.goes_on(trainers):
            time.sleep(choice.uniform(*self.pause))
            due = due or choice.sample(self.harsh, len(self.harsh))
            fault = due.pop()
            if passed < self.seconds / 2 or fault in self.gentle:
                fault(choice)
                self.counts[fault.__name__] += 1
        return begin

    def goes_on(self, trainers):
        return not self.failures and trainers.poll() is None and not (self.hostile and self.hostile.has_ended())

    def watch_memory(self):
        self.memory.read(self.node)
        time.sleep(0.1)

    def check_memory(self, begin):
        """Says how much it was; what grows without end shows in the last quarter."""
        quarter = self.seconds / 4
        before = self.memory.most(begin + 2 * quarter, begin + 3 * quarter)
        after = self.memory.most(begin + 3 * quarter, begin + 4 * quarter)
        most = max(resident for _, resident in self.memory.readings)
        print(f"resident memory: cap {self.memory.cap >> 20} MiB, most {most / self.memory.cap:.0%} of it; third quarter "
              f"{before >> 20} MiB, last {after >> 20} MiB", flush=True)
        if self.seconds >= SECONDS_TO_FILL and not self.any_memory:
            assert after <= before + self.memory.cap / 10, "resident memory grows"

    def run(self):
        imported = self.node.import_sample()
        assert imported.code == 0, imported
        graphs = self.node.run("dataset", "show", "sample").json["splits"]["train"]["graphs"]
        cap = self.node.run("server", "info").json["memory"]["cap_bytes"]
        if self.hostile:
            import_wide(self.node)
        self.memory = Memory(cap, math.inf if self.any_memory else 1.1 * cap)
        trainers = subprocess.Popen([*program("soak_trainers"), self.proxy.address, "sample", str(graphs), str(self.seed)],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.disturb_all(trainers)
        finally:
            trainers.kill()

    def disturb_all(self, trainers):
        assert trainers.stdout.readline() == "ready\n", "the trainers did not begin"
        threads = [self.guarded(self.beside.step), self.guarded(self.watch_memory)]
        try:
            with self.hostile or contextlib.nullcontext():
                begin = self.disturb(trainers)
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        assert not self.failures, self.failures[0]
        read, _ = trainers.communicate(timeout=SECONDS_TO_END)
        assert trainers.returncode == 0, "the trainers did not get what they should"
        self.counts.update(json.loads(read))
        self.counts.update(self.hostile.counts if self.hostile else {})
        print(f"seed {self.seed}: {dict(self.counts)}", flush=True)
        self.check_memory(begin)
        self.check_stored()

    def check_stored(self):
        """Also after a last restart."""
        assert self.node.terminate() == 0, "the last SIGTERM"
        self.node.start()
        self.proxy.target = self.node.address
        self.beside.check()
        assert self.node.run("server", "info").json["memory"]["cap_bytes"] == self.memory.cap, "the cap has moved"
        checked = self.node.run("fsck", timeout=SECONDS_TO_END)
        assert checked.code == 0, checked
        assert self.node.terminate() == 0, "the very last SIGTERM"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--memory", help="the node's budget, such as 512M: with hostile clients beside the others")
    parser.add_argument("--any-memory", action="store_true", help="for programs under sanitizers, whose memory is another")
    arguments = parser.parse_args()
    may_fill = own_disk.enter_own_namespace()
    print(f"seed {arguments.seed}, {arguments.seconds:g} s{'' if may_fill else ', without a full disk'}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder, "data")
        data.mkdir()
        may_fill = may_fill and own_disk.mount(data, DISK_MEBIBYTES)
        try:
            return soak(folder, arguments, may_fill)
        finally:
            if may_fill:
                own_disk.unmount(data)


def soak(folder, arguments, may_fill):
    flags = HOSTILE_FLAGS if arguments.memory else CAP_FLAGS
    memory = ("--memory", arguments.memory or SMALLEST_MEMORY)
    with DataNode(*memory, *map(str, flags), *WAITS, directory=folder) as node, Proxy(node.address) as proxy:
        try:
            Soak(node, proxy, arguments, may_fill).run()
            return 0
        except Exception:
            traceback.print_exc()
            print(f"the node: {node.state()}", file=sys.stderr)
            print(f"seed {arguments.seed}; the node's last lines:\n{node.log()[-4000:]}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
