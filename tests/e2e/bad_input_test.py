"""Every bad input ends in one clear message and the exit code that cli.md fixes; nothing is lost or half done."""
import gzip
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from harness import BIN, DataNode, free_port, packtrain

METHANE = """5
methane
C 0.0 0.0 0.0
H 0.6 0.6 0.6
H -0.6 -0.6 0.6
H -0.6 0.6 -0.6
H 0.6 -0.6 -0.6
"""


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        cls.folder = tempfile.TemporaryDirectory()
        imported = cls.node.import_sample()
        assert imported.code == 0, imported

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()
        cls.folder.cleanup()

    def file(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused_import(self, path, *arguments):
        """Imports, expects failure, and expects no data set; returns the error."""
        result = self.node.run("import", "extxyz", path, "--name", "refused", "--edges", "full", *arguments)
        self.assertEqual(result.code, 1, result)
        self.assertEqual(self.node.run("dataset", "show", "refused").error["code"], "NOT_FOUND")
        return result.error

    def test_empty_file(self):
        error = self.refused_import(self.file("empty.xyz", ""))
        self.assertIn("empty.xyz", error["message"])

    def test_truncated_gzip(self):
        error = self.refused_import(self.file("cut.xyz.gz", gzip.compress(METHANE.encode() * 100)[:-20]))
        self.assertIn("cut.xyz.gz", error["message"])

    def test_frame_count_too_high(self):
        error = self.refused_import(self.file("count.xyz", METHANE.replace("5\n", "6\n", 1)))
        self.assertIn("count.xyz", error["message"])

    def test_nan_coordinate(self):
        error = self.refused_import(self.file("nan.xyz", METHANE.replace("-0.6", "nan", 1)))
        self.assertIn("nan.xyz:5: frame 1 (nan)", error["message"])  # a lone frame has the file's name

    def test_unknown_symbol(self):
        error = self.refused_import(self.file("symbol.xyz", METHANE.replace("C ", "Qq ")))
        self.assertIn("Qq", error["message"])

    def test_duplicate_id(self):
        error = self.refused_import(self.file("twice.xyz", METHANE * 2))
        self.assertIn("methane", error["message"])

    def test_id_missing_in_the_csv(self):
        table = self.file("targets.csv", "name,energy\nethane,1.0\n")
        error = self.refused_import(self.file("m.xyz", METHANE + METHANE.replace("methane", "ethane")), "--join", table,
                                    "--key", "name")
        self.assertIn("methane", error["message"])

    def test_skipped_graphs_give_exit_code_4_and_a_ledger(self):
        ledger = pathlib.Path(self.folder.name) / "ledger.jsonl"
        path = self.file("some.xyz", METHANE + METHANE.replace("methane", "bad").replace("-0.6", "nan", 1))
        result = self.node.run("import", "extxyz", path, "--name", "some", "--edges", "full", "--on-error", "skip",
                               "--ledger", ledger)
        self.assertEqual(result.code, 4, result)
        self.assertEqual((result.json["read"], result.json["stored"], result.json["refused"]), (2, 1, 1))
        self.assertIn('"bad"', ledger.read_text())

    def test_graph_larger_than_the_budget(self):
        result = self.node.run("plan", "--dataset", "sample", "--policy", "dynamic", "--graphs", "4", "--nodes", "16",
                               "--edges", "4096")
        self.assertEqual(result.code, 1, result)
        self.assertEqual(result.error["code"], "FAILED_PRECONDITION")
        self.assertIn("--oversize", result.error["message"])

    def test_unknown_data_set(self):
        result = self.node.run("plan", "--dataset", "nothing", "--policy", "dynamic", "--graphs", "4")
        self.assertEqual((result.code, result.error["code"]), (1, "NOT_FOUND"))
        (trainer,) = self.node.train("--dataset", "nothing", "--model", "schnet", "--policy", "dynamic", "--graphs", "4",
                                     "--steps", "1")
        self.assertEqual(trainer.code, 1, trainer)
        self.assertIn("nothing", trainer.err)

    def test_wrong_flag(self):
        self.assertEqual(self.node.run("plan", "--dataset", "sample", "--policy", "fastest", "--graphs", "4").code, 2)
        self.assertEqual(self.node.run("plan", "--dataste", "sample").code, 2)
        (trainer,) = self.node.train("--nonsense")
        self.assertEqual(trainer.code, 2, trainer)

    def test_server_not_reachable(self):
        result = packtrain("dataset", "list", "--json", "--give-up", "1", server=f"127.0.0.1:{free_port()}")
        self.assertEqual((result.code, result.error["code"]), (3, "UNAVAILABLE"))

    def test_port_taken(self):
        with tempfile.TemporaryDirectory() as directory:
            second = subprocess.run([BIN / "packtraind", "--data", directory, "--listen", self.node.address],
                                    capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 1, second)
        self.assertIn(self.node.address, second.stderr)

    def test_second_daemon_on_one_store(self):
        second = subprocess.run([BIN / "packtraind", "--data", self.node.directory / "data", "--listen", "127.0.0.1:0"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 1, second)
        self.assertIn(str(self.node.process.pid), second.stderr)

    def test_other_address_without_insecure(self):
        with tempfile.TemporaryDirectory() as directory:
            refused = subprocess.run([BIN / "packtraind", "--data", directory, "--listen", "0.0.0.0:0"],
                                     capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2, refused)
        self.assertIn("--insecure", refused.stderr)

    def test_server_gone_in_mid_epoch(self):
        with DataNode() as node:
            self.assertEqual(node.import_sample().code, 0)
            trainer = subprocess.Popen(
                [BIN / "packtrain-trainer", "--server", node.address, "--dataset", "sample", "--model", "schnet",
                 "--policy", "dynamic", "--graphs", "15", "--steps", "1000000", "--give-up", "1"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertIn("step", trainer.stderr.readline())
            node.process.send_signal(signal.SIGKILL)
            _, err = trainer.communicate(timeout=120)
        self.assertEqual(trainer.returncode, 3, err)
        self.assertIn(node.address, err)

    def test_interrupted_import_leaves_nothing(self):
        # A pipe as the file holds the import open until it is interrupted.
        pipe = pathlib.Path(self.folder.name) / "slow.xyz"
        os.mkfifo(pipe)
        command = subprocess.Popen([BIN / "packtrain", "--server", self.node.address, "import", "extxyz", pipe, "--name",
                                    "interrupted", "--edges", "full"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(pipe, "w") as feed:
            feed.write(METHANE)
            feed.flush()
            command.send_signal(signal.SIGINT)
            self.assertNotEqual(command.wait(timeout=60), 0)
        self.assertEqual(self.node.run("dataset", "show", "interrupted").error["code"], "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
