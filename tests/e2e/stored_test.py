"""A store that an earlier version of the programs wrote: these programs show of it what those showed."""
import unittest

from harness import DataNode
from stored import printed, unpacked


def cut_to(expected, value):
    """`value` without the keys that `expected` lacks: there may be new ones, and what differs from one call to the next
    is not kept."""
    if isinstance(expected, dict) and isinstance(value, dict):
        return {key: cut_to(expected[key], inner) for key, inner in value.items() if key in expected}
    if isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        return [cut_to(*pair) for pair in zip(expected, value)]
    return value


class Stored(unittest.TestCase):
    maxDiff = None

    def assert_shows_the_same(self, node):
        for arguments, expected in printed()["json"]:
            with self.subTest(command=arguments):
                result = node.run(*arguments)
                self.assertEqual(result.code, 0, result)
                self.assertEqual(cut_to(expected, result.json), expected)
        for arguments, expected in printed()["text"]:
            with self.subTest(command=arguments, form="text"):
                result = node.run(*arguments, json_output=False)
                self.assertEqual(result.code, 0, result)
                self.assertEqual(result.out, expected)

    def test_it_shows_the_same_and_once_more_when_it_is_opened_again(self):
        folder = unpacked(self, "store")
        for _ in range(2):
            with DataNode(directory=folder) as node:
                self.assert_shows_the_same(node)
                self.assertEqual(node.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
