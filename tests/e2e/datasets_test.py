"""Data sets from their import on: edges, and what is made of stored ones."""
import glob
import os
import unittest

from harness import DataNode


@unittest.skipUnless(os.environ.get("PACKTRAIN_DATA"), "PACKTRAIN_DATA is unset")
class WholeQm9(unittest.TestCase):
    def test_edges_are_as_many_as_in_the_reference(self):
        files = sorted(glob.glob(os.environ["PACKTRAIN_DATA"] + "/qm9/geometry/*.xyz.gz"))
        with DataNode() as node:
            for spec, total, largest in [("radius:5", 36404508, 732), ("knn:24", 40914584, 696)]:
                with self.subTest(edges=spec):
                    result = node.run("import", "extxyz", *files, "--name", "qm9", "--edges", spec, timeout=600)
                    self.assertEqual(result.code, 0, result)
                    shown = node.run("dataset", "show", "qm9").json
                    self.assertEqual((shown["graphs"], shown["edges"]["total"], shown["edges"]["max"]),
                                     (128744, total, largest))


if __name__ == "__main__":
    unittest.main()
