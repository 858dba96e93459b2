"""Imports that break off in the middle, by kill -9 of the client or of the server, go on with --continue: the version is
that of a whole import, and what the server has is not sent again.
"""
import pathlib
import random
import subprocess
import tempfile
import unittest

from harness import DataNode, eventually, finished, free_port, program

GRAPHS = 1200
ATOMS = 400
EDGES = "knn:16"  # some 30 kB a graph: the first pieces of 4 MiB are there long before the end


def write_graphs(path):
    draw = random.Random(7)
    with open(path, "w") as file:
        for graph in range(GRAPHS):
            file.write(f"{ATOMS}\nid=g{graph} e={graph}\n")
            file.writelines(f"C {draw.uniform(0, 20):.3f} {draw.uniform(0, 20):.3f} {draw.uniform(0, 20):.3f}\n"
                            for _ in range(ATOMS))


class Continue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.file = pathlib.Path(cls.folder.name, "graphs.xyz")
        write_graphs(cls.file)
        with DataNode() as node:
            whole = node.run("import", *cls.arguments("whole"), timeout=240)
            assert whole.code == 0, whole
            cls.whole = whole.json

    @classmethod
    def arguments(cls, name="graphs", edges=EDGES):
        return ["extxyz", cls.file, "--name", name, "--edges", edges]

    def begin(self, node, give_up="0.1"):
        """Starts the import, and returns once the server has some pieces of it."""
        command = subprocess.Popen(
            [*program("packtrain"), *map(str, ["import", *self.arguments()]), "--server", node.address, "--give-up", give_up,
             "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(command.kill)
        self.assertTrue(eventually(lambda: any(self.staging(node).glob("*/graphs-2.sst"))))
        self.assertIsNone(command.poll())
        return command

    def staging(self, node):
        return node.directory / "data" / "graphs" / "staging"

    def kill(self, node):
        node.process.kill()
        node.process.wait()
        node.process.stdout.close()

    def kept(self, node):
        info = node.run("server", "info")
        self.assertEqual(info.code, 0, info)
        return info.json["disk"]["kept_imports"]

    def goes_on(self, node):
        result = node.run("import", *self.arguments(), "--continue", timeout=240)
        self.assertEqual(result.code, 0, result)
        self.is_whole(result)
        self.assertEqual(self.kept(node), 0)
        self.assertEqual(list(self.staging(node).iterdir()), [])
        checked = node.run("fsck")
        self.assertEqual(checked.code, 0, checked)
        return result.json["continued_at"]

    def is_whole(self, result):
        for key in ("version", "read", "stored", "refused", "labels"):
            self.assertEqual(result.json[key], self.whole[key], key)
        self.assertGreater(result.json["continued_at"], 0)
        self.assertLess(result.json["continued_at"], GRAPHS)

    def test_a_killed_client_goes_on(self):
        with DataNode() as node:
            command = self.begin(node)
            command.kill()
            finished(command)
            self.assertTrue(eventually(lambda: self.kept(node) == 1))
            self.assertEqual(node.run("dataset", "list").json, [])
            at = self.goes_on(node)
            self.assertIn(f"event=import_continued dataset=graphs graphs={at}", node.log())

    def test_a_killed_client_goes_on_at_once(self):
        with DataNode() as node:
            command = self.begin(node)
            command.kill()
            self.goes_on(node)
            finished(command)

    def test_a_killed_server_goes_on(self):
        with tempfile.TemporaryDirectory() as directory, DataNode(directory=directory) as node:
            command = self.begin(node)
            self.kill(node)
            self.assertEqual(finished(command).code, 3)
            node.start()
            self.assertEqual(self.kept(node), 1)
            checked = node.run("fsck")
            self.assertEqual(checked.code, 0, checked)
            self.goes_on(node)

    def test_a_stopped_server_goes_on_behind_all_that_came(self):
        with tempfile.TemporaryDirectory() as directory, DataNode(directory=directory) as node:
            command = self.begin(node)
            self.assertEqual(node.terminate(), 0)
            finished(command)
            node.start()
            self.goes_on(node)

    def test_the_command_itself_goes_on_with_a_server_that_comes_back(self):
        with tempfile.TemporaryDirectory() as directory, DataNode(directory=directory) as node:
            node.terminate()
            address = f"127.0.0.1:{free_port()}"
            node.start(listen=address)
            command = self.begin(node, give_up="60")
            self.kill(node)
            node.start(listen=address)
            result = finished(command)
            self.assertEqual(result.code, 0, result)
            self.is_whole(result)

    def test_a_kill_while_it_goes_on_loses_nothing(self):
        with tempfile.TemporaryDirectory() as directory, DataNode(directory=directory) as node:
            self.begin(node)
            self.kill(node)
            node.start()
            (folder,) = self.staging(node).iterdir()
            pieces = len(list(folder.glob("*.sst")))
            command = subprocess.Popen(
                [*program("packtrain"), *map(str, ["import", *self.arguments()]), "--continue", "--server", node.address,
                 "--give-up", "0.1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(command.kill)
            self.assertTrue(eventually(lambda: len(list(folder.glob("*.sst"))) > pieces + 1 or command.poll() is not None))
            self.kill(node)
            finished(command)
            node.start()
            self.goes_on(node)

    def test_another_option_is_named_and_refused(self):
        with DataNode() as node:
            command = self.begin(node)
            command.kill()
            finished(command)
            self.assertTrue(eventually(lambda: self.kept(node) == 1))
            refused = node.run("import", *self.arguments(edges="knn:12"), "--continue", timeout=240)
            self.assertEqual(refused.code, 1, refused)
            self.assertIn(f"--edges is knn:12, was {EDGES}", refused.error["message"])
            self.goes_on(node)

    def test_what_is_kept_goes_with_its_time(self):
        with DataNode("--keep-staged", "0.001") as node:
            command = self.begin(node)
            command.kill()
            finished(command)
            self.assertTrue(eventually(lambda: not any(self.staging(node).iterdir())))
            self.assertEqual(self.kept(node), 0)
            self.assertIn("event=kept_import_dropped", node.log())

    def test_a_server_that_keeps_nothing_leaves_nothing(self):
        with DataNode("--keep-staged", "0") as node:
            command = subprocess.Popen(
                [*program("packtrain"), *map(str, ["import", *self.arguments()]), "--server", node.address],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertTrue(eventually(lambda: any(self.staging(node).iterdir())))
            command.kill()
            finished(command)
            self.assertTrue(eventually(lambda: not any(self.staging(node).iterdir())))
            result = node.run("import", *self.arguments(), "--continue", timeout=240)
            self.assertEqual(result.code, 0, result)
            self.assertIn("nothing to go on with", result.err)
            self.assertEqual(result.json["continued_at"], 0)


if __name__ == "__main__":
    unittest.main()
