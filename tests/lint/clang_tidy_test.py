"""clang_tidy.py finds what is wrong in our sources and headers, of each kind, and nothing in those of others.

usage: clang_tidy_test.py; exit code 77 where there is no clang-tidy 14 with headers for plugins: skipped.
"""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import clang_tidy

SKIPPED = 77
FAULTY = """
#include <string>
#include <utility>

struct __attribute__((capability("mutex"))) Mutex%(name)s {};
struct Counter%(name)s {
  int Count() { return count; }
  Mutex%(name)s mutex;
  int count __attribute__((guarded_by(mutex))) = 0;
};
inline bool IsMoved%(name)s(std::string text) {
  const std::string other = std::move(text);
  return text.empty() && other.empty();
}
inline int Divided%(name)s(int value) { return value == 0 ? 1 / value : 1; }
"""
KINDS = ("clang-diagnostic-thread-safety-analysis", "bugprone-use-after-move", "clang-analyzer-core.DivideZero")


class ClangTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write(".clang-tidy", (clang_tidy.ROOT / ".clang-tidy").read_text())
        self.write("server/ours.h", FAULTY % {"name": "Ours"})
        self.write("others/theirs.h", FAULTY % {"name": "Theirs"})

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def findings(self, source, text):
        self.write(source, text)
        command = f"clang++-14 -std=c++20 -Wthread-safety -I{self.root} -isystem {self.root}/others -c {source}"
        self.write("compile_commands.json",
                   json.dumps([{"directory": str(self.root), "file": source, "command": command}]))
        return clang_tidy.findings_of(self.root / source, self.root, clang_tidy.make_plugin(self.root))

    def assert_finds_each_kind(self, findings, file):
        for kind in KINDS:
            self.assertEqual(len([line for line in findings if file in line and kind in line]), 1, (kind, findings))

    def test_faults_of_a_source_are_found(self):
        self.assert_finds_each_kind(self.findings("server/faulty.cc", FAULTY % {"name": ""}), "server/faulty.cc")

    def test_faults_of_our_header_are_found_and_those_of_others_are_not(self):
        findings = self.findings("server/includes.cc", '#include <theirs.h>\n\n#include "server/ours.h"\n'
                                 "int Both(int value) { return DividedOurs(value) + DividedTheirs(value); }\n")
        self.assert_finds_each_kind(findings, "server/ours.h")
        self.assertFalse([line for line in findings if "theirs.h" in line], findings)

    def test_findings_of_the_analyser_in_installed_headers_are_not_ours(self):
        for line, of_others in (("/usr/include/a.h:1:2: error: x [clang-analyzer-core.DivideZero]", True),
                                ("/usr/include/a.h:1:2: error: 'b.h' file not found [clang-diagnostic-error]", False),
                                (f"{self.root}/server/a.h:1:2: error: x [clang-analyzer-core.DivideZero]", False)):
            self.assertEqual(clang_tidy.is_of_others(line), of_others, line)

    def test_a_source_without_faults_has_no_findings(self):
        self.assertEqual(self.findings("server/right.cc", "int One() { return 1; }\n"), [])

    def test_a_source_that_does_not_compile_is_a_finding(self):
        self.assertIn("server/broken.cc", "\n".join(self.findings("server/broken.cc", "int One( { return 1; }\n")))


if __name__ == "__main__":
    if not shutil.which("clang-tidy-14") or not clang_tidy.PLUGIN_HEADERS.is_dir():
        print("skipped: no clang-tidy 14 with headers for plugins")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
