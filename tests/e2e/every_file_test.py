"""Imports every file of $PACKTRAIN_DATA, and holds what comes out against every_file_table.py."""
import os
import pathlib
import unittest

import every_file_table as table
from harness import DataNode

DATA = os.environ.get("PACKTRAIN_DATA")


def paths_of(row):
    return [str(pathlib.Path(DATA, name)) for name in row.files]


def flags_of(row):
    """Files among the flags are relative, as those of the row."""
    return [str(pathlib.Path(DATA, flag)) if "/" in flag else flag for flag in row.flags]


class Outcome:
    """What an import left, and how it compares with its row."""

    def __init__(self, row, result, dataset):
        self.row, self.failed = row, result.code not in (0, 4)
        self.message = result.error["message"] if self.failed else ""
        self.imported = {} if self.failed else result.json
        self.dataset = dataset

    def differences(self):
        row = self.row
        if row.error is not None:
            wrong = not self.failed or row.error not in self.message
            return [f"expected to fail with {row.error!r}: {self.message or 'stored'}"] if wrong else []
        if self.failed:
            return [self.message]
        refused = row.refused if row.refused is not None else self.imported["refused_by_reason"]
        wanted = {"read": row.read, "stored": row.stored, "refused_by_reason": refused,
                  "passed_over": row.passed_over, "nodes": row.nodes, "edges": row.edges, "targets": row.targets}
        had = self.counts()
        return [f"{key} {had[key]}, expected {value}" for key, value in wanted.items() if value not in (None, had[key])]

    def counts(self):
        return {**{key: self.imported[key] for key in ("read", "stored", "refused_by_reason", "passed_over")},
                "nodes": self.dataset["nodes"]["total"], "edges": self.dataset["edges"]["total"],
                "targets": tuple(target["name"] for target in self.dataset["targets"])}

    def line(self):
        name = " ".join([self.row.format, *self.row.files[:1], *(["..."] if self.row.files[1:] else [])])
        if self.failed:
            return f"{name:78} {self.message.splitlines()[0][:120]}"
        counts = self.counts()
        refused = ", ".join(f"{reason} {n}" for reason, n in counts["refused_by_reason"].items()) or "-"
        return (f"{name:78} {counts['read']:>8,} {counts['stored']:>8,} {refused:20} {counts['nodes']:>10,} "
                f"{counts['edges']:>12,} {self.imported['graphs_per_second']:>9,.0f}")


@unittest.skipUnless(DATA, "PACKTRAIN_DATA is not set")
class EveryFile(unittest.TestCase):
    def test_every_file_comes_out_as_the_table_says(self):
        print(f"\n{'format and file':78} {'read':>8} {'stored':>8} {'refused':20} {'nodes':>10} {'edges':>12} {'graphs/s':>9}")
        with DataNode() as node:
            for row in table.ROWS:
                with self.subTest(f"{row.format} {' '.join(row.files)} {' '.join(row.flags)}"):
                    outcome = self.run_row(node, row)
                    print(outcome.line(), flush=True)
                    self.assertEqual(outcome.differences(), [])

    def run_row(self, node, row):
        policy = [] if "--on-error" in row.flags else ["--on-error", "skip"]
        result = node.run("import", row.format, *paths_of(row), "--name", "row", *policy, *flags_of(row), timeout=900)
        if result.code not in (0, 4):
            return Outcome(row, result, None)
        dataset = node.run("dataset", "show", "row").json
        node.run("dataset", "delete", "row", "--yes")
        return Outcome(row, result, dataset)

    def test_no_file_is_left_out(self):
        named = [name for row in table.ROWS for name in (*row.files, *(flag for flag in row.flags if "/" in flag))]
        files = {str(path.relative_to(DATA)) for path in pathlib.Path(DATA).rglob("*") if path.is_file()}
        left = {name for name in files - table.TABLES - set(named)
                if not table.is_no_data(name) and not any(folder.endswith("/") and name.startswith(folder) for folder in named)}
        self.assertEqual(left, set())


if __name__ == "__main__":
    unittest.main()
