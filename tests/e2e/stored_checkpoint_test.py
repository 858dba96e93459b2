"""A checkpoint that an earlier trainer wrote: this trainer goes on with it as that one did."""
import unittest

from harness import BIN, RUN, DataNode
from stored import printed, unpacked

# Sums in another order, on another processor.
TOLERANCE = 1e-4


@unittest.skipUnless(RUN or (BIN / "packtrain-trainer").exists(), "the trainer is not built")
class StoredCheckpoint(unittest.TestCase):
    def test_it_is_taken_up(self):
        folder = unpacked(self, "store", "checkpoint")
        arguments, expected = printed()["training"]
        with DataNode(directory=folder) as node:
            (result,) = node.train(*arguments, "--checkpoint", folder / "checkpoint", "--resume")
            self.assertEqual(result.code, 0, result)
            last = result.json
            for key in ("run", "steps"):
                self.assertEqual(last[key], expected[key], key)
            self.assert_close(last["loss"], expected["loss"])
            for part in ("val", "test"):
                self.assertEqual(last[part].keys(), expected[part].keys())
                for key, value in expected[part].items():
                    self.assert_close(last[part][key], value)
            steps = [row["step"] for row in node.run("run", "steps", last["run"]).json]
            self.assertEqual(steps, list(range(expected["steps"])))

    def assert_close(self, value, expected):
        self.assertLessEqual(abs(value - expected), TOLERANCE * abs(expected))


if __name__ == "__main__":
    unittest.main()
