"""deploy/test.sh runs the parts that it is asked for, notes those that passed, and lists what was skipped.

The script itself runs over a small tree, whose builds and checks do nothing but note that they were called.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

DEPLOY = pathlib.Path(sys.argv.pop())
PRESETS = ("release", "asan", "tsan")
NOTE = '#!/bin/sh\necho "$(basename "$0") $*" >>{calls}\n[ "$(basename "$0")" != "$(cat {fails} 2>/dev/null)" ]\n'
CLANG_TIDY = """
import os, sys
open("{calls}", "a").write("clang_tidy.py " + " ".join(sys.argv[1:]) + "\\n")
sys.exit(os.path.exists("{fails}") and open("{fails}").read() == "clang_tidy.py")
"""
STUBS = ("deploy/setup.sh", "deploy/build.sh", "tests/fuzz/fuzz_all.sh")
# What a C++ test prints, and a Python file of which some tests are skipped.
PRINTED = {"Disk.MayBeFull": "disk_test.cc:55: Skipped\nno right to mount\n[  SKIPPED ] Disk.MayBeFull (0 ms)\n",
           "e2e.disk": "test_full (disk_test.Disk.test_full) ... skipped 'no mounts'\ntest_other (d.D.test_other) ... ok\n"}
PASSES, FAILS = "add_test(Plan.IsPure true)\n", "add_test(Plan.IsPure false)\n"


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name, "tree")
        self.calls, self.fails = pathlib.Path(folder.name, "calls"), pathlib.Path(folder.name, "fails")
        self.write_tree()
        self.git("init", "-q")
        self.commit()

    def write_tree(self):
        for name in STUBS:
            self.write(name, NOTE.format(calls=self.calls, fails=self.fails)).chmod(0o755)
        self.write("tests/lint/clang_tidy.py", CLANG_TIDY.format(calls=self.calls, fails=self.fails))
        for name in ("test.sh", "lib.sh"):
            shutil.copy(DEPLOY / name, self.tree / "deploy")
        self.set_nvcc("echo nvcc")
        presets = [f'{{"name": "{name}", "generator": "Ninja", "binaryDir": "${{sourceDir}}/build/{name}"}}'
                   for name in PRESETS]
        tests = [f'{{"name": "{name}", "configurePreset": "{name}"}}' for name in PRESETS]
        self.write("CMakePresets.json", f'{{"version": 6, "configurePresets": [{", ".join(presets)}], '
                                        f'"testPresets": [{", ".join(tests)}]}}')
        self.write(".gitignore", "/build/\n")
        for name in PRESETS:
            self.set_tests(name, PASSES)

    def write(self, name, text):
        file = self.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def set_tests(self, preset, text):
        self.write(f"build/{preset}/CTestTestfile.cmake", text)

    def set_nvcc(self, command):
        """Whether there is a CUDA compiler does not depend on this machine."""
        library = (DEPLOY / "lib.sh").read_text()
        self.write("deploy/lib.sh", f"{library}\nnvcc13() {{ {command}; }}\n")

    def git(self, *arguments):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.tree, check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a commit")
        return self.git("rev-parse", "HEAD")

    def run_script(self, *arguments, code=0, fuzz_seconds=None):
        """What it printed; self.called has the scripts that it called."""
        self.calls.write_text("")
        environment = {name: value for name, value in os.environ.items() if name != "PACKTRAIN_FUZZ_SECONDS"}
        if fuzz_seconds is not None:
            environment["PACKTRAIN_FUZZ_SECONDS"] = str(fuzz_seconds)
        done = subprocess.run([self.tree / "deploy/test.sh", *arguments], capture_output=True, text=True, timeout=60,
                              env=environment)
        self.assertEqual(done.returncode, code, done)
        self.called = self.calls.read_text().splitlines()
        return done.stderr if code == 2 else done.stdout

    def passed(self):
        return {file.name: file.read_text().strip() for file in (self.tree / "build").glob("passed/*")}

    def test_a_part_runs_alone_and_notes_its_commit(self):
        head = self.git("rev-parse", "HEAD")
        for part, called in (("asan", ["build.sh asan all"]), ("fuzz", ["build.sh fuzz fuzzers", "fuzz_all.sh"]),
                             ("tidy", ["build.sh fuzz packtrain_protocol", "clang_tidy.py build/fuzz"]),
                             ("tsan", ["build.sh tsan base_test"]), ("tests", ["build.sh release", "build.sh gpu packtrain-trainer-cuda"])):
            self.assertNotIn("is not noted", self.run_script(f"--all={part}"))
            expected = ["setup.sh", *called]
            self.assertEqual(len(self.called), len(expected), self.called)
            for line, beginning in zip(self.called, expected):
                self.assertTrue(line.startswith(beginning), self.called)
            self.assertEqual(self.passed().pop(part), head)
        self.assertEqual(set(self.passed()), {"asan", "tsan", "fuzz", "tidy", "tests"})

    def test_all_runs_what_the_commit_lacks(self):
        self.run_script("--all=tsan")
        self.run_script("--all=fuzz")
        printed = self.run_script("--all")
        for part in ("tsan", "fuzz"):
            self.assertIn(f"part {part} has passed on this commit", printed)
        self.assertFalse([line for line in self.called if line.startswith(("fuzz_all.sh", "build.sh tsan"))])
        for line in ("build.sh asan all", "build.sh fuzz packtrain_protocol", "build.sh release"):
            self.assertIn(line, self.called)
        self.run_script("--all")
        self.assertEqual([line.split()[0] for line in self.called], ["setup.sh"])
        self.commit()
        self.run_script("--all")
        self.assertIn("build.sh asan all", self.called)
        self.assertEqual(set(self.passed().values()), {self.git("rev-parse", "HEAD")})

    def test_a_part_that_is_named_runs_although_it_has_passed(self):
        self.run_script("--all=asan")
        self.run_script("--all=asan")
        self.assertIn("build.sh asan all", self.called)

    def test_a_part_that_fails_is_not_noted_and_ends_the_run(self):
        self.set_tests("asan", FAILS)
        self.assertIn("Plan.IsPure (Failed)", self.run_script("--all", code=1))
        self.fails.write_text("clang_tidy.py")
        self.run_script("--all=tidy", code=1)
        self.assertEqual(self.passed(), {})

    def test_files_that_differ_from_the_commit_are_not_noted_and_have_not_passed(self):
        self.run_script("--all=tsan")
        self.write("new_file", "")
        self.run_script("--all=asan")
        self.assertNotIn("asan", self.passed())
        self.run_script("--all")
        self.assertIn("build.sh asan all", self.called)
        self.assertTrue([line for line in self.called if line.startswith("build.sh tsan")])

    def assert_not_noted(self, part, reason, *arguments, **keywords):
        printed = self.run_script(f"--all={part}", *arguments, **keywords)
        self.assertEqual([line for line in printed.splitlines() if "not noted" in line],
                         [f"== part {part} has passed and is not noted: {reason}"])
        self.assertEqual(self.passed(), {})

    def test_without_the_trainer_no_part_is_noted(self):
        self.assert_not_noted("tests", "the trainer was left out", "--without-trainer")
        self.assertIn("build.sh release --without-trainer", self.called)
        self.assert_not_noted("tsan", "the trainer was left out", "--without-trainer")

    def test_without_the_gpu_program_the_tests_are_not_noted_and_all_else_is(self):
        self.set_nvcc("return 1")
        head = self.commit()
        self.assert_not_noted("tests", "the GPU program was not built, for there is no CUDA 13 compiler (nvcc)")
        self.assertNotIn("build.sh gpu packtrain-trainer-cuda", self.called)
        self.run_script("--all")
        self.assertEqual(self.passed(), dict.fromkeys(("asan", "tsan", "fuzz", "tidy"), head))
        self.run_script("--all")
        self.assertEqual([line.split()[1] for line in self.called if line.startswith("build.sh")], ["release"])

    def test_fuzz_targets_that_ran_for_less_than_a_minute_are_not_noted(self):
        self.assert_not_noted("fuzz", "PACKTRAIN_FUZZ_SECONDS is 59, and the full check takes 60", fuzz_seconds=59)
        self.run_script("--all=asan", fuzz_seconds=59)
        self.assertIn("asan", self.passed())
        self.run_script("--all=fuzz", fuzz_seconds=60)
        self.assertIn("fuzz", self.passed())
        self.assertIn("PACKTRAIN_FUZZ_SECONDS is '1m', not a number of seconds",
                      self.run_script("--all=fuzz", code=2, fuzz_seconds="1m"))

    def test_what_it_does_not_know_is_refused_by_name(self):
        self.assertIn("unknown part 'msan' of --all; known: asan tsan fuzz tidy tests",
                      self.run_script("--all=msan", code=2))
        self.run_script("--all=", code=2)
        self.run_script("--all=asan tsan", code=2)
        self.assertIn("unknown argument '--every'", self.run_script("--every", code=2))
        self.assertEqual(self.called, [])

    def test_without_parts_it_tests_the_decoders_and_the_release_build_and_ends_with_ctests_summary(self):
        for name, text in PRINTED.items():
            self.write(f"build/{name}", text)
        self.set_tests("release", PASSES + "".join(f"add_test({name} cat ../{name})\n" for name in PRINTED) +
                       'set_tests_properties(Disk.MayBeFull PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")\n')
        printed = self.run_script()
        self.assertEqual([line for line in self.called if line.startswith("build.sh asan")],
                         ["build.sh asan base_test base_errors_test wire_layout_test wire_convert_test padded_batch_test "
                          "replays"])
        skips = printed.rindex("== skipped tests")
        self.assertLess(skips, printed.rindex("100% tests passed, 0 tests failed out of "))
        for line in ("Disk.MayBeFull: no right to mount", "e2e.disk: test_full: 'no mounts'"):
            self.assertIn(line, printed[skips:])

    def test_a_failure_of_the_release_build_shows_the_summary_and_ends_with_1(self):
        self.set_tests("release", FAILS)
        printed = self.run_script("--all=tests", code=1)
        self.assertIn("0% tests passed, 1 tests failed out of 1", printed)
        self.assertIn("Plan.IsPure (Failed)", printed[printed.index("0% tests passed"):])


if __name__ == "__main__":
    unittest.main()
