"""Checks the script that starts a bundle's programs, on bundles and Python packages made up for it.

usage: bundle_run_test.py BUNDLE_RUN_SH
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop())


class BundleRun(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.bundle = pathlib.Path(room.name, "bundle")
        self.packages = pathlib.Path(room.name, "packages")
        (self.bundle / "bin").mkdir(parents=True)
        self.packages.mkdir()
        shutil.copy(SCRIPT, self.bundle / "run")
        for program in ("packtraind", "packtrain-trainer-cuda"):
            path = self.bundle / "bin" / program
            path.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH"; echo "$@"\n')
            path.chmod(0o755)

    def install_torch(self, version, cuda):
        torch = self.packages / "torch"
        torch.mkdir()
        (torch / "__init__.py").write_text("raise ImportError('not to be imported')\n")
        (torch / "version.py").write_text(f"__version__ = {version!r}\ncuda = {cuda!r}\n")
        for part in ("cu13", "nccl"):
            (self.packages / "nvidia" / part / "lib").mkdir(parents=True)

    def run_program(self, *words, python=sys.executable):
        # -S: packages that this machine has are not seen.
        wrapper = self.bundle / "python"
        wrapper.write_text(f'#!/bin/sh\nexec "{python}" -S "$@"\n')
        wrapper.chmod(0o755)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.packages), "PACKTRAIN_PYTHON": str(wrapper)}
        return subprocess.run([self.bundle / "run", *words], env=environment, capture_output=True, text=True)

    def expect_refused(self, done, *words):
        self.assertEqual(done.returncode, 2)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_server_needs_no_torch(self):
        done = self.run_program("packtraind", "--listen", "a b")
        self.assertEqual(done.stdout, f"{self.bundle}/lib\n--listen a b\n")

    def test_a_trainer_gets_torch_and_the_libraries_it_came_with(self):
        self.install_torch("2.11.0+cu130", "13.0")
        done = self.run_program("packtrain-trainer-cuda")
        folders = [self.bundle / "lib", self.packages / "torch/lib", self.packages / "nvidia/cu13/lib",
                   self.packages / "nvidia/nccl/lib"]
        self.assertEqual(done.stdout.splitlines()[0], ":".join(map(str, folders)), done.stderr)

    def test_without_torch_it_says_what_is_needed(self):
        self.expect_refused(self.run_program("packtrain-trainer-cuda"), "finds no torch", "torch 2.11 for CUDA 13")

    def test_another_torch_is_named_and_refused(self):
        for version, cuda, said in (("2.9.1+cu128", "12.8", "torch 2.9.1+cu128 for CUDA 12.8"),
                                    ("2.11.0+cu128", "12.8", "torch 2.11.0+cu128 for CUDA 12.8"),
                                    ("2.11.0+cpu", None, "torch 2.11.0+cpu for the CPU")):
            with self.subTest(version):
                self.install_torch(version, cuda)
                self.expect_refused(self.run_program("packtrain-trainer-cuda"), said, "torch 2.11 for CUDA 13")
                shutil.rmtree(self.packages / "torch")
                shutil.rmtree(self.packages / "nvidia")

    def test_an_unknown_program_is_refused_with_those_there_are(self):
        for words in ((), ("packtrain-trainer",), ("../bin/packtrain-trainer",)):
            self.expect_refused(self.run_program(*words), "packtrain-trainer-cuda packtraind")


if __name__ == "__main__":
    unittest.main()
