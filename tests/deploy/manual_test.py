"""deploy/OPERATIONS.md has the flags, metrics and events that there are, and no others.

usage: manual_test.py REPOSITORY   (with PACKTRAIN_BIN in the environment)
"""
import pathlib
import re
import subprocess
import sys
import unittest

import scrape

ROOT = pathlib.Path(sys.argv.pop())
EVENT = re.compile(r'\bLog(?:Failure)?\([^"{]*"([a-z_]+)"')


def section(title):
    """The manual's text below a heading, up to the next one of its level."""
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", (ROOT / "deploy/OPERATIONS.md").read_text(), re.M | re.S)[1]


def first_cells(text, pattern):
    """What matches in the code of the first column of a section's tables."""
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {found for cell in cells for code in re.findall(r"`([^`]+)`", cell) for found in re.findall(pattern, code)}


class Manual(unittest.TestCase):
    def test_it_has_every_flag_of_the_server(self):
        printed = subprocess.run([scrape.PACKTRAIND, "--help"], check=True, capture_output=True, text=True).stdout
        flags = set(re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", printed, re.M)) - {"--help", "--version"}
        self.assertGreater(len(flags), 10)
        self.assertEqual(first_cells(section("The server"), r"^--[a-z-]+"), flags)

    def test_it_has_every_metric(self):
        named = first_cells(section("Metrics"), r"^[a-z_]+")
        prefixes = {"packtrain_rocksdb_", "process_"}
        self.assertLessEqual(prefixes, named)
        exported = {name for name in scrape.families() if not name.startswith(("exposer_", *prefixes))}
        self.assertEqual(named - prefixes, exported)

    def test_it_has_every_event(self):
        sources = [file for file in (ROOT / "server").rglob("*.[ch]*") if file.parent.name != "log"]
        logged = {event for file in sources for event in EVENT.findall(file.read_text())}
        self.assertGreater(len(logged), 10)
        self.assertEqual(first_cells(section("Logs"), r"^[a-z_]+$"), logged)


if __name__ == "__main__":
    unittest.main()
