"""Equal requests give equal bytes: from any number of builders, after a restart or kill -9, from a store that lost
everything but its sealed data sets, and from a copy of the store on another node."""
import hashlib
import itertools
import pathlib
import shutil
import signal
import tempfile
import unittest

from harness import DataNode
from protocol import Client, batch_pb2

EPOCHS = 2


def requests():
    """Every policy, balanced or not, alone and as rank 1 of a world that changed after the first epoch's second step."""
    for balance, policy in itertools.product((batch_pb2.BALANCE_NONE, batch_pb2.BALANCE_COST),
                                             (batch_pb2.POLICY_STATIC, batch_pb2.POLICY_DYNAMIC,
                                              batch_pb2.POLICY_PACKED, batch_pb2.POLICY_TUPLE,
                                              batch_pb2.POLICY_SUPERGRAPH)):
        spec = batch_pb2.BatchSpec(policy=policy, graphs=31, seed=7, balance=balance)
        dataset = "sample"
        if policy == batch_pb2.POLICY_SUPERGRAPH:
            dataset, spec.blocks, spec.block_nodes = "numbered", 20, 32
        yield batch_pb2.StreamBatchesRequest(dataset=dataset, spec=spec, epochs=EPOCHS)
        yield batch_pb2.StreamBatchesRequest(dataset=dataset, spec=spec, epochs=EPOCHS, rank=1, world_size=3,
                                             start_step=2, segments=[batch_pb2.Segment(world_size=2, steps=2)])


def read(client, request):
    """Of every batch: its place, the server's CRC32C of its body, and a digest of the body that came."""
    batches, header, digest = [], None, None
    for part in client.StreamBatches(request):
        if part.HasField("header"):
            header, digest = part.header, hashlib.sha256()
        digest.update(part.body)
        if part.last:
            batches.append((header.epoch, header.step, header.index, header.epoch_steps, header.fingerprint,
                            header.body_crc32c, digest.hexdigest()))
    return batches


class Purity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.origin = pathlib.Path(cls.folder.name) / "origin"
        cls.origin.mkdir()
        with DataNode("--builders", "1", directory=cls.origin) as node:
            imported = node.import_sample()
            assert imported.code == 0, imported
            derived = node.run("dataset", "derive", "sample", "--edges", "knn:3", "--renumber", "rcm", "--name",
                               "numbered")
            assert derived.code == 0, derived
            cls.expected = cls.batches(node)
            assert node.terminate() == 0, node.log()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def batches(node):
        with Client(node.address) as client:
            return [read(client, request) for request in requests()]

    def copy(self):
        """The folder of a node with a copy of the store."""
        directory = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))
        shutil.copytree(self.origin / "data", directory / "data")
        return directory

    def expect_same(self, node):
        for got, expected in zip(self.batches(node), self.expected, strict=True):
            self.assertEqual(got, expected)

    def test_two_epochs_of_distinct_batches_were_read(self):
        for batches in self.expected:
            self.assertEqual({batch[0] for batch in batches}, set(range(EPOCHS)))
            self.assertEqual(len({batch[-1] for batch in batches}), len(batches))
        # The epoch that the segments entered late lacks two steps; the next one is whole.
        alone, late = self.expected[:2]
        self.assertEqual(len(alone), alone[0][3] + alone[-1][3])
        self.assertEqual(len(late), late[0][3] - 2 + late[-1][3])

    def test_builders_and_restarts_do_not_show(self):
        directory = self.copy()
        for builders in ("8", "1", "8"):
            with DataNode("--builders", builders, directory=directory) as node:
                self.expect_same(node)
                self.assertEqual(node.terminate(), 0)

    def test_the_plan_states_the_checksum_that_is_streamed(self):
        with DataNode(directory=self.copy()) as node:
            for epoch, _, index, _, fingerprint, crc32c, _ in self.expected[2][::20]:
                planned = node.run("plan", "--dataset", "sample", "--policy", "dynamic", "--graphs", "31", "--seed",
                                   "7", "--epoch", epoch, "--batch", index).json
                self.assertEqual((planned["crc32c"], planned["fingerprint"]), (crc32c, fingerprint))

    def test_the_sealed_database_alone_serves_the_same_bytes(self):
        directory = self.copy()
        for path in (directory / "data").iterdir():
            if path.name == "graphs":
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for log in (directory / "data" / "graphs").rglob("LOG*"):
            log.unlink()
        with DataNode(directory=directory) as node:
            self.expect_same(node)

    def test_a_copy_elsewhere_serves_the_same_bytes(self):
        with DataNode(directory=self.copy()) as one, DataNode(directory=self.copy()) as other:
            self.expect_same(other)
            self.expect_same(one)

    def test_kill_9_in_mid_stream_does_not_show(self):
        with DataNode(directory=self.copy()) as node:
            for _ in range(3):
                with Client(node.address) as client:
                    endless = next(requests())
                    endless.epochs = 0
                    stream = client.StreamBatches(endless)
                    for _ in range(10):
                        next(stream)
                    node.process.send_signal(signal.SIGKILL)
                    node.process.wait(timeout=60)
                    node.process.stdout.close()
                node.start()
                self.expect_same(node)


if __name__ == "__main__":
    unittest.main()
