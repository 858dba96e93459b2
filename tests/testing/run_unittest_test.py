"""What ctest is told of a Python file whose tests are skipped."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).with_name("run_unittest.py")
CASE = "import unittest\nclass Facts(unittest.TestCase):\n"
PASSES = "    def test_passes(self):\n        pass\n"
SKIPS = "    def test_skips(self):\n        self.skipTest('no disk')\n"
FAILS = "    def test_fails(self):\n        self.fail()\n"
SKIPPED_CLASS = "@unittest.skip('no card')\nclass Others(unittest.TestCase):\n" + PASSES
SKIPPED_AT_ITS_START = ("class Others(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n"
                        "        raise unittest.SkipTest('no card')\n" + PASSES)


class RunUnittest(unittest.TestCase):
    def run_file(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "facts_test.py")
            file.write_text(text)
            return subprocess.run([sys.executable, "-B", RUN, file], capture_output=True, text=True, timeout=60)

    def test_a_file_whose_tests_are_all_skipped_is_a_skip(self):
        for text in (CASE + SKIPS, CASE + SKIPS + SKIPPED_CLASS, "import unittest\n" + SKIPPED_CLASS,
                     "import unittest\n" + SKIPPED_AT_ITS_START):
            done = self.run_file(text)
            self.assertEqual(done.returncode, 77, done)
            self.assertRegex(done.stderr, r"\.\.\. skipped 'no (disk|card)'")

    def test_a_file_of_which_one_test_passed_is_no_skip_and_names_those_that_were(self):
        for text in (CASE + SKIPS + PASSES, CASE + PASSES + SKIPPED_CLASS, CASE + PASSES + SKIPPED_AT_ITS_START):
            done = self.run_file(text)
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stderr, r"\.\.\. skipped 'no (disk|card)'")

    def test_a_failure_beside_skips_is_a_failure(self):
        self.assertEqual(self.run_file(CASE + SKIPS + FAILS).returncode, 1)

    def test_a_file_without_a_test_fails(self):
        self.assertEqual(self.run_file("import unittest\n").returncode, 1)


if __name__ == "__main__":
    unittest.main()
