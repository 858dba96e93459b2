"""Every script of deploy/ that people start says how."""
import pathlib
import subprocess
import sys
import unittest

DEPLOY = pathlib.Path(sys.argv.pop())


def run(script, *arguments):
    return subprocess.run([DEPLOY / script, *arguments], capture_output=True, text=True, timeout=60)


class Help(unittest.TestCase):
    def test_each_prints_its_usage(self):
        for script in ("setup.sh", "build.sh", "quickstart.sh", "test.sh"):
            for flag in ("--help", "-h"):
                printed = run(script, flag)
                self.assertEqual(printed.returncode, 0, printed)
                self.assertIn(f"usage: {script}", printed.stdout)
                self.assertEqual(printed.stderr, "")

    def test_build_without_a_preset(self):
        printed = run("build.sh")
        self.assertEqual(printed.returncode, 2, printed)
        self.assertIn("usage: build.sh PRESET", printed.stderr)


if __name__ == "__main__":
    unittest.main()
