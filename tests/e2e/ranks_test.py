"""Ranks that do not meet, or do not agree, end with one clear line and leave no run behind."""
import signal
import socket
import unittest

from harness import OnSmallSample, eventually, finished, free_port

TRAINING = ["--dataset", "small", "--policy", "dynamic", "--graphs", "15", "--model", "schnet", "--threads", "1"]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


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
