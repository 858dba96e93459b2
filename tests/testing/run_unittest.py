"""Runs the unit tests of a Python file as one test of ctest.

usage: run_unittest.py FILE [ARGUMENT...]   (the arguments are the file's own)

Exits with 0 where all passed, those that were skipped aside, whose reasons are printed; with 77 where every test was
skipped; with 1 where one failed or the file has none.
"""
import importlib
import pathlib
import sys
import unittest

SKIPPED = 77


class Result(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main(file, *arguments):
    file = pathlib.Path(file).resolve()
    sys.argv = [str(file), *arguments]
    sys.path[0] = str(file.parent)
    module = importlib.import_module(file.stem)
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Result)
    result = unittest.main(module, argv=sys.argv, testRunner=runner, exit=False).result
    if result.wasSuccessful() and result.skipped and not result.passed:
        return SKIPPED
    return 0 if result.wasSuccessful() and result.passed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
