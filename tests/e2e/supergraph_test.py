"""Supergraphs of renumbered programs: every edge stays in its block or joins neighbours, whoever reads from wherever."""
import collections
import json
import pathlib
import struct
import tempfile
import unittest

from harness import DATA, DataNode
from protocol import Client, batch_pb2

PROGRAMS = DATA / "jsonl" / "great.jsonl.gz"
BLOCKS, BLOCK_NODES = 8, 16
POLICY = ("--policy", "supergraph", "--blocks", BLOCKS, "--block-nodes", BLOCK_NODES)
FORMATS = {"U8": "B", "U16": "H", "U32": "I", "U64": "Q"}

Batch = collections.namedtuple("Batch", "header body")


def section(batch, field):
    (found,) = [one for one in batch.header.sections if one.field == field]
    kind = FORMATS[batch_pb2.Section.DESCRIPTOR.fields_by_name["data_type"].enum_type.values_by_number[
        found.data_type].name.removeprefix("DATA_TYPE_")]
    return struct.unpack_from(f"<{found.dims[0]}{kind}", batch.body, found.offset_bytes)


def edges_of(batch):
    """Ends of all edges, by the places of the nodes in the batch."""
    senders, receivers = section(batch, "senders"), section(batch, "receivers")
    edges, node, edge = [], 0, 0
    for nodes, count in zip(section(batch, "n_node"), section(batch, "n_edge")):
        edges += [(node + senders[e], node + receivers[e]) for e in range(edge, edge + count)]
        node, edge = node + nodes, edge + count
    return edges


def bandwidth(graph, numbers):
    return max((abs(numbers[a] - numbers[b]) for a, b in zip(graph["senders"], graph["receivers"])), default=0)


class Supergraphs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = DataNode()
        cls.node.__enter__()
        cls.addClassCleanup(cls.node.__exit__)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.count = cls.done("import", "jsonl", PROGRAMS, "--name", "programs", "--renumber", "rcm")["stored"]

    @classmethod
    def done(cls, *arguments):
        result = cls.node.run(*arguments)
        assert result.code == 0, result
        return result.json

    def read(self, slice_of=(), **request):
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_SUPERGRAPH, blocks=BLOCKS, block_nodes=BLOCK_NODES, seed=3,
                                   oversize=batch_pb2.OVERSIZE_ALONE, **dict(slice_of))
        batches = []
        with Client(self.node.address) as client:
            for part in client.StreamBatches(batch_pb2.StreamBatchesRequest(dataset="programs", spec=spec, epochs=1,
                                                                            **request)):
                if part.HasField("header"):
                    batches.append(Batch(part.header, b""))
                batches[-1] = Batch(batches[-1].header, batches[-1].body + part.body)
        return batches

    def test_edges_stay_within_a_block_and_its_neighbours(self):
        batches = self.read()
        plan = self.done("plan", "--dataset", "programs", *POLICY, "--seed", 3, "--oversize", "alone")
        wide = [batch for batch in batches if batch.header.oversize]
        self.assertEqual((len(batches), len(wide)), (plan["batches"], plan["oversize"]["count"]))
        self.assertTrue(0 < len(wide) < len(batches))
        most = max(batch.header.real.edges for batch in batches if not batch.header.oversize)
        for batch in batches:
            padded = batch.header.padded
            if batch.header.oversize:
                self.assertEqual((padded.block_nodes % 64, padded.nodes % padded.block_nodes, padded.graphs), (0, 0, 2))
                self.assertLess(padded.nodes - batch.header.real.nodes, padded.block_nodes)
            else:
                self.assertEqual((padded.graphs, padded.nodes, padded.edges, padded.block_nodes),
                                 (BLOCKS * BLOCK_NODES + 1, BLOCKS * BLOCK_NODES, most, BLOCK_NODES))
            for a, b in edges_of(batch):
                self.assertLessEqual(abs(a - b), padded.block_nodes)
                self.assertLessEqual(abs(a // padded.block_nodes - b // padded.block_nodes), 1)
        shapes = collections.Counter((b.header.padded.graphs, b.header.padded.nodes, b.header.padded.edges,
                                      b.header.padded.block_nodes) for b in batches)
        self.assertEqual(shapes, {(s["graphs"], s["nodes"], s["edges"], s["block_nodes"]): s["batches"]
                                  for s in plan["shapes"]})

    def test_ranks_share_an_epoch_and_a_stream_goes_on(self):
        alone = self.read()
        graphs = collections.Counter(graph for batch in alone for graph in section(batch, "graph_index"))
        self.assertEqual(graphs, dict.fromkeys(range(self.count), 1))
        ranks = [self.read(rank=rank, world_size=3) for rank in range(3)]
        self.assertEqual(len({len(rank) for rank in ranks}), 1)
        dealt = {batch.header.index: batch.body for rank in ranks for batch in rank if not batch.header.empty}
        self.assertEqual(dealt, {batch.header.index: batch.body for batch in alone})
        for step in (1, len(alone) // 2, len(alone) - 1):
            self.assertEqual([b.body for b in self.read(start_step=step)], [b.body for b in alone[step:]])

    def exported(self):
        file = pathlib.Path(self.folder.name) / f"{self.id()}.jsonl"
        self.done("dataset", "export", "programs", "--format", "jsonl", "-o", file)
        return [json.loads(line) for line in file.read_text().splitlines()]

    def test_a_slice_is_what_its_limit_keeps(self):
        graphs = self.exported()
        for word, limit, of_graph in (("nodes", 64, lambda graph: graph["n_node"]),
                                      ("bandwidth", 12, lambda graph: bandwidth(graph, range(graph["n_node"])))):
            kept = {index for index, graph in enumerate(graphs) if of_graph(graph) <= limit}
            self.assertTrue(0 < len(kept) < len(graphs), (word, len(kept)))
            plan = self.done("plan", "--dataset", "programs", *POLICY, "--seed", 3, "--oversize", "alone", "--skip-above",
                             f"{word}:{limit}")
            self.assertEqual((plan["graphs"], plan["skipped_graphs"]), (len(kept), len(graphs) - len(kept)))
            slice_of = {"skip_above": batch_pb2.SkipAbove.Value(f"SKIP_ABOVE_{word.upper()}"), "skip_above_limit": limit}
            ranks = [self.read(slice_of, rank=rank, world_size=2) for rank in range(2)]
            read = collections.Counter(graph for rank in ranks for batch in rank for graph in section(batch, "graph_index"))
            self.assertEqual(read, dict.fromkeys(kept, 1))
            self.assertEqual({batch.header.fingerprint for rank in ranks for batch in rank}, {plan["fingerprint"]})

    def test_the_table_counts_what_each_limit_keeps(self):
        graphs = self.exported()
        table = self.done("plan", "--dataset", "programs", *POLICY, "--table")["table"]
        rows = {(row["by"], row["limit"]): row for row in table}
        sizes = [{"nodes": graph["n_node"], "bandwidth": bandwidth(graph, range(graph["n_node"])),
                  "bandwidth_as_read": bandwidth(graph, graph["source_node"])} for graph in graphs]
        self.assertTrue({by for by, _ in rows} == set(sizes[0]))
        for (by, limit), row in rows.items():
            kept = sum(size[by] <= limit and size["nodes"] < BLOCKS * BLOCK_NODES for size in sizes)
            self.assertAlmostEqual(row["share"], kept / len(sizes), msg=(by, limit))
        skipping = self.done("plan", "--dataset", "programs", *POLICY, "--oversize", "skip")
        policy = rows["bandwidth", BLOCK_NODES]
        self.assertAlmostEqual(policy["share"], skipping["graphs"] / len(sizes))
        self.assertAlmostEqual(policy["graphs_per_supergraph"], skipping["graphs_per_batch"]["mean"])
        self.assertNotIn(("bandwidth_as_read", BLOCK_NODES), rows)  # keeps none

    def test_a_data_set_in_its_own_numbers_is_refused(self):
        self.done("import", "jsonl", PROGRAMS, "--name", "plain")
        slice_of = ("--policy", "packed", "--graphs", 8, "--skip-above", "bandwidth:64")
        for flags in (POLICY, (*POLICY, "--table"), slice_of, (*slice_of, "--tune")):
            result = self.node.run("plan", "--dataset", "plain", *flags)
            self.assertEqual((result.code, result.error["code"]), (1, "FAILED_PRECONDITION"))
            self.assertIn("--renumber rcm", result.error["message"])


if __name__ == "__main__":
    unittest.main()
