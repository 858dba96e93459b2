"""Graphs whose nodes are renumbered on import: what is stored of them, and that copies of them stay what they are."""
import gzip
import json
import tempfile
import unittest
from pathlib import Path

from harness import DATA, DataNode, eventually, packtrain

PROGRAMS = DATA / "jsonl" / "great.jsonl.gz"


def bandwidth(graph, names=None):
    numbers = names or range(graph["n_node"])
    return max((abs(numbers[a] - numbers[b]) for a, b in zip(graph["senders"], graph["receivers"])), default=0)


def median(values):
    """The smallest value that at least half of them do not exceed."""
    return sorted(values)[(len(values) - 1) // 2]


class Renumbering(unittest.TestCase):
    def setUp(self):
        self.node = DataNode()
        self.node.__enter__()
        self.addCleanup(self.node.__exit__)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def done(self, *arguments, node=None):
        result = (node or self.node).run(*arguments)
        self.assertEqual(result.code, 0, result)
        return result.json

    def lines(self, dataset):
        """The graphs of a data set by id."""
        file = self.folder / f"{dataset}.jsonl"
        self.done("dataset", "export", dataset, "--format", "jsonl", "-o", file)
        return {graph["id"]: graph for graph in map(json.loads, file.read_text().splitlines())}

    def test_graphs_are_the_same_under_other_numbers(self):
        self.done("import", "jsonl", PROGRAMS, "--name", "read")
        self.done("import", "jsonl", PROGRAMS, "--name", "numbered", "--renumber", "rcm")
        read, numbered = self.lines("read"), self.lines("numbered")
        self.assertEqual(list(read), list(numbered))
        for name, graph in numbered.items():
            before, source = read[name], graph["source_node"]
            self.assertEqual(sorted(source), list(range(before["n_node"])))
            self.assertEqual(graph["token"], [before["token"][node] for node in source])
            self.assertEqual(sorted(zip((source[node] for node in graph["senders"]),
                                        (source[node] for node in graph["receivers"]), graph["edge_type"])),
                             sorted(zip(before["senders"], before["receivers"], before["edge_type"])))
            ends = list(zip(graph["receivers"], graph["senders"]))
            self.assertEqual(ends, sorted(ends))
        shown = self.done("dataset", "show", "numbered")
        self.assertEqual((shown["renumbered"], shown["lineage"]["renumbered"]), ("rcm", "rcm"))
        for key, widths in [("bandwidth", [bandwidth(graph) for graph in numbered.values()]),
                            ("bandwidth_as_read", [bandwidth(graph) for graph in read.values()])]:
            self.assertEqual((shown[key]["max"], shown[key]["p50"]), (max(widths), median(widths)), key)
        self.assertEqual([bandwidth(graph, graph["source_node"]) for graph in numbered.values()],
                         [bandwidth(graph) for graph in read.values()])
        self.assertLess(shown["bandwidth"]["mean"], shown["bandwidth_as_read"]["mean"])
        self.assertNotIn("renumbered", self.done("dataset", "show", "read"))
        self.assertEqual(self.done("fsck")["findings"], [])

    def test_exports_and_replicas_are_the_same_version(self):
        version = self.done("import", "jsonl", PROGRAMS, "--name", "programs", "--renumber", "rcm")["version"]
        shown = self.done("dataset", "show", "programs")
        with DataNode("--replica-of", self.node.address) as replica:
            self.assertTrue(eventually(lambda: replica.run("dataset", "list").json != []), replica.log())
            self.assertEqual(self.done("dataset", "show", "programs", node=replica), shown)
            self.assertEqual(self.done("fsck", node=replica)["findings"], [])
        for form in ("native", "jsonl"):
            file = self.folder / f"programs.{form}"
            self.done("dataset", "export", "programs", "--format", form, "-o", file)
            with DataNode() as other:
                self.assertEqual(self.done("import", form, file, "--name", "programs", node=other)["version"], version)
                again = self.done("dataset", "show", "programs", node=other)
            for key in ("renumbered", "bandwidth", "bandwidth_as_read", "histogram"):
                self.assertEqual(again[key], shown[key], (form, key))

    def test_parts_are_joined_as_one_import(self):
        lines = gzip.open(PROGRAMS, "rt").readlines()
        files = [self.folder / f"{name}.jsonl" for name in "ab"]
        files[0].write_text("".join(lines[:4]))
        files[1].write_text("".join(lines[4:]))
        parts = [file.with_suffix(".packtrain") for file in files]
        for file, part in zip(files, parts):
            made = packtrain("import", "jsonl", file, "-o", part, "--renumber", "rcm", server="nowhere:1")
            self.assertEqual(made.code, 0, made)
        joined = self.done("import", "native", *parts, "--name", "joined")
        imported = self.done("import", "jsonl", *files, "--name", "imported", "--renumber", "rcm")
        self.assertEqual(joined["version"], imported["version"])
        packtrain("import", "jsonl", files[1], "-o", parts[1], server="nowhere:1")
        mixed = self.node.run("import", "native", *parts, "--name", "mixed")
        self.assertEqual(mixed.code, 1)
        self.assertIn(f"{parts[1]}: its nodes are numbered as they were read", mixed.error["message"])


if __name__ == "__main__":
    unittest.main()
