"""A data node under load and faults for a while: 8 clients stream epochs through a proxy while it is killed, stopped and
started again, connections are cut, others read slowly or never, and data sets and reports come in beside them.

Checked: every epoch of every client is exactly the one that nobody disturbed, no acknowledged step of a run is lost,
nothing acknowledged of an import is lost, resident memory stays within 10 % of the stated cap, and at the end SIGTERM
ends the daemon with exit code 0.

Run by hand: the calls of Python's gRPC 1.51 that it breaks thousands of times now and then never end, which in_time()
mends for streams but not for plain calls. Needs PACKTRAIN_BIN, PACKTRAIN_PROTO and PACKTRAIN_TEST_DATA, as tests/e2e.

usage: soak.py [--seconds S] [--seed N]; exit code 0: all of it held. The seed decides which faults come in which
order; when they meet whom depends on the machine.
"""
import argparse
import os
import pathlib
import random
import sys
import threading
import time
import traceback

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from epoch_reader import SECONDS_OF_STREAM, TRANSIENT, EpochReader, Stalled, in_time, together  # noqa: E402
from harness import DataNode  # noqa: E402
from protocol import Client, batch_pb2, dataset_pb2, run_pb2, server_info_pb2  # noqa: E402
from proxy import Proxy  # noqa: E402

CLIENTS = 8
EPOCHS_IN_TURN = 4
STEPS_IN_BLOCK = 50
IMPORTED_GRAPHS = 100
POLICIES = (batch_pb2.POLICY_STATIC, batch_pb2.POLICY_DYNAMIC, batch_pb2.POLICY_PACKED, batch_pb2.POLICY_TUPLE)
NODE = ("--idle-timeout", "5", "--max-streams", "32", "--max-batch-bytes", "1048576", "--resident-bytes",
        "8388608", "--drain", "10")


def spec_of(policy):
    return batch_pb2.BatchSpec(policy=policy, graphs=8, seed=11)


class Soak:
    def __init__(self, node, proxy, seed, seconds):
        self.node, self.proxy, self.seed = node, proxy, seed
        self.deadline = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.failures = []
        self.counts = dict.fromkeys(("epochs", "batches", "breaks", "kills", "stops", "cuts", "freezes", "imports",
                                     "steps", "unread"), 0)
        self.most_memory = 0.0
        self.expected = {}

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def over(self):
        return time.monotonic() >= self.deadline or bool(self.failures)

    def guarded(self, work, *arguments):
        """A thread of `work`, whose failure ends the soak."""
        def run():
            try:
                work(*arguments)
            except Exception:
                with self.lock:
                    self.failures.append(traceback.format_exc())
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def address(self):
        return self.proxy.address

    def learn(self):
        """What each policy's epochs are when nobody disturbs them."""
        for policy in POLICIES:
            reader = EpochReader(batch_pb2.StreamBatchesRequest(dataset="sample", spec=spec_of(policy),
                                                                epochs=EPOCHS_IN_TURN))
            self.expected[policy] = reader.read(lambda: self.node.address)

    def stream(self, number):
        """One client: epochs of a policy, over and over; every second one reads slowly."""
        choice = random.Random(f"{self.seed} client {number}")
        while not self.over():
            policy = choice.choice(POLICIES)
            pause = choice.choice((0.0, 0.0, 0.002, 0.01))
            reader = EpochReader(batch_pb2.StreamBatchesRequest(dataset="sample", spec=spec_of(policy),
                                                                epochs=EPOCHS_IN_TURN),
                                 on_batch=lambda reader: time.sleep(pause))
            reader.read(self.address)
            _, graphs = together([reader])
            assert all(set(counts.values()) == {1} for counts in graphs.values()), "a graph came twice in an epoch"
            assert graphs == self.expected[policy].graphs, "an epoch lacks graphs"
            assert reader.digests == self.expected[policy].digests, "a batch has other bytes"
            self.count("epochs", EPOCHS_IN_TURN)
            self.count("batches", len(reader.digests))
            self.count("breaks", reader.breaks)

    def never_read(self):
        """Streams that are opened and left, for the idle limit to end."""
        choice = random.Random(f"{self.seed} unread")
        while not self.over():
            with Client(self.address(), timeout=SECONDS_OF_STREAM) as client:
                request = batch_pb2.StreamBatchesRequest(dataset="sample", spec=spec_of(choice.choice(POLICIES)))
                streams = [client.StreamBatches(request) for _ in range(3)]
                try:
                    for stream in streams:
                        next(in_time(stream))
                    self.count("unread", len(streams))
                except Stalled:
                    pass
                except grpc.RpcError as error:
                    if error.code() not in TRANSIENT:
                        raise
                time.sleep(choice.uniform(0, 2))
                for stream in streams:
                    stream.cancel()

    def again(self, call):
        """Calls until it is answered; what it does must be safe to do twice."""
        while True:
            try:
                with Client(self.address()) as client:
                    return call(client)
            except Stalled:
                continue
            except grpc.RpcError as error:
                if error.code() not in TRANSIENT:
                    raise
                time.sleep(0.05)

    def report(self, number):
        """Runs whose blocks of steps are reported until they are acknowledged, then read back."""
        run_number = 0
        while not self.over():
            key = f"soak-{self.seed}-{number}-{run_number:06d}"
            start = run_pb2.StartRunRequest(idempotency_key=key, process_key=key,
                                            description=run_pb2.RunDescription(model="none", world_size=1))
            run = self.again(lambda client: client.StartRun(start)).run
            blocks = 20
            for block in range(blocks):
                self.again(lambda client: client.ReportSteps(run_pb2.ReportStepsRequest(
                    run=run, steps=step_block(block * STEPS_IN_BLOCK))))
                self.count("steps", STEPS_IN_BLOCK)
            listing = run_pb2.ListStepsRequest(run=run)
            stored = self.again(lambda client: [step for part in in_time(client.ListSteps(listing))
                                                for step in part.steps.step])
            assert stored == list(range(blocks * STEPS_IN_BLOCK)), f"run {run} lost steps or has some twice"
            self.again(lambda client: client.FinishRun(run_pb2.FinishRunRequest(run=run, state=run_pb2.RUN_STATE_DONE)))
            run_number += 1

    def bring_data(self):
        """Imports under names of its own; what was acknowledged is listed from then on."""
        choice = random.Random(f"{self.seed} imports")
        acknowledged = {}
        while not self.over():
            name = f"beside{choice.randrange(3)}"
            limit = choice.randrange(1, IMPORTED_GRAPHS)
            done = self.node.import_sample("--limit", limit, "--give-up", 0.5, name=name)
            if done.code == 0:
                acknowledged[name] = {limit}
                self.count("imports")
            else:
                acknowledged.setdefault(name, {None}).add(limit)
            listed = self.again(lambda client: list(client.pages(
                "ListDatasets", dataset_pb2.ListDatasetsRequest(), "datasets")))
            graphs = {entry.name: entry.graphs for entry in listed}
            for name, possible in acknowledged.items():
                assert graphs.get(name) in possible, f"{name} has {graphs.get(name)} graphs, not one of {possible}"

    def watch_memory(self):
        while not self.over():
            memory = self.again(lambda client: client.GetServerInfo(server_info_pb2.GetServerInfoRequest())).memory
            share = memory.process_rss_bytes / memory.cap_bytes
            self.most_memory = max(self.most_memory, share)
            assert share <= 1.1, f"resident memory {memory.process_rss_bytes} is above the cap {memory.cap_bytes}"
            assert memory.used_bytes <= memory.cap_bytes, f"{memory.used_bytes} counted, the cap is {memory.cap_bytes}"
            time.sleep(0.2)

    def disturb(self):
        """One fault after another, on this thread, until the time is over."""
        choice = random.Random(f"{self.seed} faults")
        faults = [self.kill, self.stop, self.cut, self.cut, self.cut, self.freeze]
        while not self.over():
            time.sleep(choice.uniform(0.1, 1.5))
            choice.choice(faults)(choice)

    def kill(self, choice):
        self.node.process.kill()
        self.node.process.wait()
        self.node.process.stdout.close()
        self.start_again(choice)
        self.count("kills")

    def stop(self, choice):
        assert self.node.terminate() == 0, self.node.log()[-2000:]
        self.start_again(choice)
        self.count("stops")

    def start_again(self, choice):
        self.proxy.cut()
        time.sleep(choice.uniform(0, 0.5))
        self.node.start()
        self.proxy.target = self.node.address

    def cut(self, choice):
        self.proxy.cut()
        self.count("cuts")

    def freeze(self, choice):
        """Every host behind the proxy is gone for a moment."""
        self.proxy.freeze()
        time.sleep(choice.uniform(0.1, 1.0))
        self.proxy.thaw()
        self.count("freezes")

    def run(self):
        self.learn()
        workers = [self.guarded(self.stream, number) for number in range(CLIENTS)]
        workers += [self.guarded(self.report, number) for number in range(2)]
        workers += [self.guarded(work) for work in (self.never_read, self.bring_data, self.watch_memory)]
        self.guarded(self.disturb).join()
        for worker in workers:
            worker.join()
        if not self.failures:
            assert self.node.terminate() == 0, self.node.log()[-2000:]


def step_block(first):
    block = run_pb2.StepBlock(step=range(first, first + STEPS_IN_BLOCK))
    for column in run_pb2.StepBlock.DESCRIPTOR.fields:
        if column.name != "step":
            getattr(block, column.name).extend([1] * STEPS_IN_BLOCK)
    return block


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("PACKTRAIN_SEED",
                                                                       random.SystemRandom().randrange(2**32))))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, {arguments.seconds:g} s", flush=True)
    with DataNode(*NODE) as node, Proxy(node.address) as proxy:
        imported = node.import_sample()
        assert imported.code == 0, imported
        soak = Soak(node, proxy, arguments.seed, arguments.seconds)
        soak.run()
        counts = ", ".join(f"{number} {what}" for what, number in soak.counts.items())
        print(f"seed {arguments.seed}: {counts}; most resident memory {soak.most_memory:.0%} of the cap")
        for failure in soak.failures:
            print(failure, file=sys.stderr)
        if soak.failures:
            print(node.log()[-4000:], file=sys.stderr)
        return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
