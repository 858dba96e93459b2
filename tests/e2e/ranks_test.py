"""Ranks that do not meet, or do not agree, end with one clear line and leave no run behind."""
import contextlib
import fcntl
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from harness import DataNode, OnSmallSample, eventually, finished, free_port

# Seconds; a rank that leaves waits half as long for the others' reasons.
PEERS_PATIENCE = 10
TRAINING = ["--dataset", "small", "--policy", "dynamic", "--graphs", "15", "--model", "schnet", "--threads", "1"]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def listener(answer, came=None):
    """The port of a service that sends `answer` on each connection, and sets `came` at the first one."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        connections = []

        def serve():
            while True:
                try:
                    connection, _ = door.accept()
                except OSError:
                    return
                connections.append(connection)
                connection.sendall(answer)
                if came:
                    came.set()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield door.getsockname()[1]
        finally:
            door.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in connections:
                connection.close()


class Ranks(OnSmallSample):
    def start(self, *arguments, rank, port, **others):
        return self.node.start_rank(*TRAINING, *arguments, rank=rank, ranks=2, port=port, **others)

    def lines(self, result):
        return result.err.splitlines()

    def test_a_signal_ends_the_wait_for_other_ranks(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            port = free_port()
            process = self.start("--steps", 3, rank=0, port=port)
            self.assertTrue(eventually(lambda: listens(port) or process.poll() is not None))
            process.send_signal(number)
            result = finished(process, timeout=60)
            self.assertEqual(result.code, 1, result)
            self.assertEqual(len(self.lines(result)), 1, result)
            self.assertIn("stopped by a signal", result.err)

    def test_an_address_that_does_not_resolve(self):
        process = self.start("--steps", 3, rank=1, port=free_port(), host="no.such.host.invalid")
        result = finished(process, timeout=60)
        self.assertEqual(result.code, 2, result)
        self.assertEqual(len(self.lines(result)), 1, result)
        self.assertIn("at no.such.host.invalid:", result.err)
        self.assertIn("the name does not resolve", result.err)

    def test_ranks_that_differ(self):
        for flag, one, other in (("--steps", 10, 11), ("--seed", 0, 5), ("--lr", "0.001", "0.0001")):
            with self.subTest(flag=flag):
                port = free_port()
                common = ["--steps", 10] if flag != "--steps" else []
                processes = [self.start(*common, flag, value, rank=rank, port=port)
                             for rank, value in enumerate((one, other))]
                for process in processes:
                    result = finished(process)
                    self.assertEqual(result.code, 1, result)
                    self.assertIn(f"the ranks differ in {flag}: rank 0 has '{one}', rank 1 has '{other}'", result.err)
        self.assertEqual(self.node.run("run", "list").json, [])

    def test_ranks_that_report_to_different_data_nodes(self):
        with DataNode() as other:
            imported = other.import_sample("--limit", 400, name="small")
            self.assertEqual(imported.code, 0, imported)
            port = free_port()
            processes = [self.start("--steps", 3, rank=0, port=port),
                         self.start("--steps", 3, rank=1, port=port, server=other.address)]
            for process in processes:
                result = finished(process)
                self.assertEqual(result.code, 1, result)
                self.assertIn("rank 1 finds no run", result.err)
                self.assertIn(f"on server {other.address}", result.err)
                self.assertIn(f"on server {self.node.address}", result.err)
            self.assertEqual(other.run("run", "list").json, [])
        self.assertEqual([run["state"] for run in self.node.run("run", "list").json if run["steps"] == 0], ["failed"])

    def test_another_service_in_the_place_of_rank_0(self):
        with listener(b"HTTP/1.1 400 Bad Request\r\n\r\n") as http, listener(b"") as silent:
            for port in (http, silent, int(self.node.address.rpartition(":")[2])):
                with self.subTest(port=port):
                    result = finished(self.start("--steps", 3, "--meet-timeout", 2, rank=1, port=port), timeout=60)
                    self.assertEqual(result.code, 1, result)
                    self.assertEqual(len(self.lines(result)), 1, result)
                    self.assertIn("another service listens there", result.err)
                    self.assertRegex(result.err, r"after \d+\.\d s \(--meet-timeout 2 s\)")

    def test_a_signal_ends_the_wait_for_a_silent_listener(self):
        came = threading.Event()
        with listener(b"", came) as port:
            process = self.start("--steps", 3, "--meet-timeout", 3600, rank=1, port=port)
            self.assertTrue(came.wait(timeout=60))
            process.send_signal(signal.SIGTERM)
            result = finished(process, timeout=60)
        self.assertEqual(result.code, 1, result)
        self.assertIn("stopped by a signal", result.err)

    def both_say(self, reason, folder):
        port = free_port()
        processes = [self.start("--steps", 3, "--checkpoint", folder, "--resume", rank=rank, port=port)
                     for rank in range(2)]
        for process in processes:
            result = finished(process)
            self.assertEqual(result.code, 1, result)
            self.assertIn(reason, result.err)
            self.assertNotIn("is gone", result.err)

    def test_all_ranks_say_why_rank_0_cannot_begin(self):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "file")
            file.write_text("")
            self.both_say(str(file), file)
            empty = pathlib.Path(name, "empty")
            empty.mkdir()
            (empty / "checkpoint.bin").write_bytes(b"")
            self.both_say("is corrupt: it is empty", empty)
            with open(empty / "checkpoint.lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.both_say("is in use by", empty)

    def test_a_rank_that_reaches_its_run_server_late_learns_why_another_one_did_not(self):
        port, late = free_port(), f"127.0.0.1:{free_port()}"
        came = threading.Event()
        with listener(b"", came) as silent:
            zero = self.start("--steps", 3, "--give-up", 0, "--run-server", f"127.0.0.1:{silent}", rank=0, port=port)
            one = self.start("--steps", 3, "--run-server", late, rank=1, port=port)
            for process in (zero, one):
                self.addCleanup(process.kill)
            self.assertTrue(came.wait(timeout=60))
            with self.assertRaises(subprocess.TimeoutExpired, msg="rank 0 did not wait for rank 1 with its reason"):
                zero.wait(timeout=PEERS_PATIENCE)
            other = DataNode()
            other.start(listen=late)
            self.addCleanup(other.__exit__)
            failed, told = finished(zero), finished(one)
        self.assertEqual(failed.code, 3, failed)
        self.assertIn(f"127.0.0.1:{silent}", failed.err)
        self.assertEqual(told.code, 1, told)
        self.assertIn("rank 0 failed: ", told.err)
        self.assertIn(f"127.0.0.1:{silent}", told.err)

    def test_two_processes_that_are_one_rank(self):
        port = free_port()
        zero = self.start("--steps", 3, rank=0, port=port)
        ones = [finished(process) for process in [self.start("--steps", 3, rank=1, port=port) for _ in range(2)]]
        result = finished(zero)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(one.code for one in ones), [0, 1], ones)
        self.assertIn("RANK", "".join(one.err for one in ones))

    def test_a_rank_without_the_others_checkpoint(self):
        port = free_port()
        folder = self.node.directory / "checkpoints"
        processes = [self.start("--steps", 3, "--checkpoint", folder, rank=0, port=port),
                     self.start("--steps", 3, rank=1, port=port)]
        for process in processes:
            self.assertIn("the ranks differ in --checkpoint: rank 0 has 'yes', rank 1 has 'no'", finished(process).err)
        self.assertEqual(self.node.run("run", "list").json, [])


if __name__ == "__main__":
    unittest.main()
