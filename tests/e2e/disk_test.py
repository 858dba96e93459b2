"""A data node whose disk is full for a while, read-only, or gives wrong bytes: what was acknowledged stays, what can be
read is read, and work goes on once the disk is well again. A full or read-only disk is one in memory, mounted for this
process alone; where the system allows no mounts, those tests are skipped.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import grpc

import own_disk
from epoch_reader import EpochReader
from harness import DataNode, damage_store, eventually, program
from protocol import Client, batch_pb2, run_pb2

SIZE = 256  # MiB
MAY_MOUNT = own_disk.enter_own_namespace()


def steps_of(first):
    block = run_pb2.StepBlock(step=range(first, first + 1000))
    for column in run_pb2.StepBlock.DESCRIPTOR.fields:
        if column.name != "step":
            getattr(block, column.name).extend([1] * 1000)
    return block


class Disk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data"
        self.data.mkdir()
        if not MAY_MOUNT or not own_disk.mount(self.data, SIZE):
            self.skipTest("no right to mount a disk")
        self.addCleanup(lambda: self.assertTrue(own_disk.unmount(self.data)))

    def refused_as_full(self, call):
        with self.assertRaises(grpc.RpcError) as refused:
            call()
        self.assertEqual(refused.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, refused.exception)
        self.assertIn("disk full", refused.exception.details())

    def epoch(self, node):
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_DYNAMIC, graphs=8)
        request = batch_pb2.StreamBatchesRequest(dataset="before", spec=spec, epochs=1)
        return EpochReader(request).read(lambda: node.address).digests

    def test_a_full_disk_loses_nothing_and_work_goes_on_once_there_is_space(self):
        with DataNode(directory=self.folder) as node, Client(node.address) as client:
            self.assertEqual(node.import_sample("--limit", 200, name="before").code, 0)
            whole = self.epoch(node)
            start = run_pb2.StartRunRequest(idempotency_key="of-a-full-disk", process_key="one",
                                            description=run_pb2.RunDescription(world_size=1))
            run = client.StartRun(start).run

            def report(first):
                client.ReportSteps(run_pb2.ReportStepsRequest(run=run, steps=steps_of(first)))

            def stored():
                blocks = client.ListSteps(run_pb2.ListStepsRequest(run=run))
                return [step for block in blocks for step in block.steps.step]

            report(0)
            ballast = own_disk.fill(self.data)
            self.refused_as_full(lambda: report(1000))
            self.refused_as_full(lambda: client.StartRun(run_pb2.StartRunRequest(
                idempotency_key="another-run", description=run_pb2.RunDescription(world_size=1))))
            imported = node.import_sample("--limit", 300, name="late")
            self.assertEqual((imported.code, imported.error["code"]), (1, "RESOURCE_EXHAUSTED"), imported)
            self.assertEqual(stored(), list(range(1000)))
            self.assertEqual(self.epoch(node), whole)
            ballast.unlink()
            report(1000)
            self.assertEqual(node.import_sample("--limit", 300, name="late").code, 0)
            self.assertEqual(stored(), list(range(2000)))
            self.assertEqual(node.terminate(), 0)
        with DataNode(directory=self.folder) as node, Client(node.address) as client:
            self.assertEqual(stored(), list(range(2000)))
            self.assertEqual(sorted(entry["name"] for entry in node.run("dataset", "list").json), ["before", "late"])
            self.assertEqual(self.epoch(node), whole)

    def test_a_deletion_meets_the_full_disk_and_imports_work_once_there_is_space(self):
        with DataNode(directory=self.folder) as node:
            for name, limit in (("before", 200), ("gone", 100)):
                self.assertEqual(node.import_sample("--limit", limit, name=name).code, 0)
            whole = self.epoch(node)
            ballast = own_disk.fill(self.data)
            self.assertEqual(os.statvfs(self.data).f_bavail, 0)
            deleted = node.run("dataset", "delete", "gone", "--yes")
            self.assertEqual(deleted.code, 0, deleted)
            own_disk.fill(self.data)
            late = node.import_sample("--limit", 300, name="late")
            self.assertEqual((late.code, late.error["code"]), (1, "RESOURCE_EXHAUSTED"), late)
            ballast.unlink()
            self.assertEqual(node.import_sample("--limit", 300, name="late").code, 0)
            self.assertEqual(node.run("dataset", "split", "late", "--permille", "500,250,250").code, 0)
            self.assertEqual(self.epoch(node), whole)
            self.assertEqual(node.terminate(), 0)

    def test_a_replica_whose_disk_is_full_copies_once_there_is_space(self):
        with DataNode() as primary, DataNode("--replica-of", primary.address, directory=self.folder) as replica:
            ballast = own_disk.fill(self.data)
            self.assertEqual(primary.import_sample("--limit", 300, name="late").code, 0)
            self.assertTrue(eventually(lambda: "code=RESOURCE_EXHAUSTED" in replica.log()), replica.log())
            self.assertEqual(list((self.data / "graphs" / "staging").iterdir()), [])
            ballast.unlink()
            self.assertTrue(eventually(lambda: replica.run("--give-up", "0.1", "dataset", "show", "late").code == 0),
                            replica.log())

    def test_a_start_on_a_full_disk_serves_and_writes_once_there_is_space(self):
        with DataNode(directory=self.folder) as node:
            self.assertEqual(node.import_sample("--limit", 200, name="before").code, 0)
            whole = self.epoch(node)
            node.process.kill()
            node.process.wait()
        ballast = own_disk.fill(self.data)
        for file in self.data.rglob("RESERVE"):
            file.unlink()
        own_disk.fill(self.data)
        with DataNode(directory=self.folder) as node:
            self.assertEqual(self.epoch(node), whole)
            late = node.import_sample("--limit", 300, name="late")
            self.assertEqual((late.code, late.error["code"]), (1, "RESOURCE_EXHAUSTED"), late)
            ballast.unlink()
            self.assertEqual(node.import_sample("--limit", 300, name="late").code, 0)
            self.assertEqual(node.terminate(), 0)

    def test_a_first_start_on_a_full_disk_says_that_it_is_full(self):
        own_disk.fill(self.data).rename(self.data / "lost+found")
        with self.assertRaisesRegex(RuntimeError, "disk full|No space left"):
            DataNode(directory=self.folder).start()

    def test_a_read_only_disk_is_refused_by_name_and_left_as_it_is(self):
        with DataNode(directory=self.folder) as node:
            self.assertEqual(node.import_sample("--limit", 50, name="before").code, 0)
            whole = self.epoch(node)
            self.assertEqual(node.terminate(), 0)
        self.assertTrue(own_disk.mount(self.data, SIZE, own_disk.REMOUNT | own_disk.READ_ONLY))
        with self.assertRaisesRegex(RuntimeError, f"{self.data}.*Read-only file system"):
            DataNode(directory=self.folder).start()
        for lock in list(self.data.rglob("LOCK")):
            checked = subprocess.run([*program("packtraind"), "--data", self.data, "--fsck"], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked)
            self.assertTrue(own_disk.mount(self.data, SIZE, own_disk.REMOUNT))
            lock.unlink()
            self.assertTrue(own_disk.mount(self.data, SIZE, own_disk.REMOUNT | own_disk.READ_ONLY))
        checked = subprocess.run([*program("packtraind"), "--data", self.data, "--fsck"], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked)
        self.assertTrue(own_disk.mount(self.data, SIZE, own_disk.REMOUNT))
        with DataNode(directory=self.folder) as node:
            self.assertEqual(self.epoch(node), whole)


class Lock(unittest.TestCase):
    def test_deleted_locks_let_no_second_server_in_and_are_put_back(self):
        with DataNode() as node:
            self.assertEqual(node.import_sample("--limit", 50, name="first").code, 0)
            locks = list(node.directory.rglob("LOCK"))
            self.assertEqual(len(locks), 2)
            for lock in locks:
                lock.unlink()
            refused = subprocess.run([*program("packtraind"), "--data", node.directory / "data", "--listen", "127.0.0.1:0"],
                                     capture_output=True, text=True)
            self.assertEqual(refused.returncode, 1, refused)
            self.assertIn(f"process {node.process.pid}", refused.stderr)
            self.assertEqual(node.import_sample("--limit", 60, name="second").code, 0)
            self.assertTrue((node.directory / "data" / "graphs" / "db" / "LOCK").exists())
            self.assertIn("lock_put_back", node.log())
            self.assertEqual(node.terminate(), 0)
            node.start()
            self.assertEqual(sorted(entry["name"] for entry in node.run("dataset", "list").json), ["first", "second"])
            self.assertEqual(node.run("fsck").code, 0)


class Damage(unittest.TestCase):
    def batch(self, client, step):
        """Reads the one batch of `step`, 8 graphs in the order of the data set; None once its code is DATA_LOSS."""
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=8, order=batch_pb2.ORDER_NONE, split="all")
        stream = client.StreamBatches(batch_pb2.StreamBatchesRequest(dataset="sample", spec=spec, start_step=step,
                                                                     epochs=1))
        try:
            part = next(stream)
            stream.cancel()
            return part.body
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.DATA_LOSS, error)
            named = re.search(r"data set sample@[0-9a-f]+, graph (\d+)", error.details())
            self.assertIsNotNone(named, error.details())
            self.assertIn(int(named[1]), range(8 * step, 8 * step + 8))
            return None

    def test_a_data_set_that_the_manifest_has_lost_is_named_until_it_is_deleted(self):
        with DataNode() as node:
            self.assertEqual(node.import_sample("--limit", 50, name="whole").code, 0)
            store = node.directory / "data" / "graphs" / "db"
            manifest = store / (store / "CURRENT").read_text().strip()
            size = manifest.stat().st_size
            version = node.import_sample("--limit", 60, name="lost").json["version"]
            self.assertEqual(node.terminate(), 0)
            os.truncate(manifest, size)
            node.start()
            shown = node.run("dataset", "show", "lost")
            self.assertEqual((shown.code, shown.error["code"]), (1, "DATA_LOSS"), shown)
            self.assertIn(f"lost@{version}", shown.error["message"])
            self.assertEqual(node.run("dataset", "show", "whole").code, 0)
            checked = node.run("fsck")
            self.assertEqual(checked.code, 1, checked)
            self.assertEqual([finding["dataset"] for finding in checked.json["findings"]], [f"lost@{version}"])
            self.assertEqual(node.run("dataset", "delete", "lost", "--yes").code, 0)
            self.assertEqual(node.run("fsck").code, 0)
            self.assertEqual(node.run("dataset", "show", "lost").error["code"], "NOT_FOUND")

    def test_a_damaged_graph_stops_its_batches_by_name_and_no_others(self):
        with tempfile.TemporaryDirectory() as directory:
            with DataNode(directory=directory) as node, Client(node.address) as client:
                imported = node.import_sample()
                self.assertEqual(imported.code, 0)
                steps = imported.json["stored"] // 8
                whole = [self.batch(client, step) for step in range(steps)]
                self.assertNotIn(None, whole)
                self.assertEqual(node.terminate(), 0)
            damage_store(directory)
            with DataNode(directory=directory) as node, Client(node.address) as client:
                found = [self.batch(client, step) for step in range(steps)]
                self.assertIn(None, found)
                self.assertLess(found.count(None), steps // 4)
                for now, before in zip(found, whole, strict=True):
                    self.assertIn(now, (None, before))


if __name__ == "__main__":
    unittest.main()
