"""Generated Python reads the golden parts. Arguments: protoc, folder of the protocol, scratch folder, golden file."""
import pathlib
import subprocess
import sys
import unittest

PROTOC, PROTO_PATH, SCRATCH, GOLDEN = sys.argv[1:5]
PROTOS = ["packtrain/v1/batch.proto", "packtrain/v1/dataset.proto"]


def generate():
    pathlib.Path(SCRATCH).mkdir(parents=True, exist_ok=True)
    subprocess.run([PROTOC, f"--proto_path={PROTO_PATH}", f"--python_out={SCRATCH}", *PROTOS], check=True)
    sys.path.insert(0, SCRATCH)


def golden_messages():
    blocks = pathlib.Path(GOLDEN).read_text().strip().split("\n\n")
    return [bytes.fromhex(block.replace("\n", "")) for block in blocks]


class GoldenParts(unittest.TestCase):
    def setUp(self):
        from packtrain.v1 import batch_pb2

        self.batch_pb2 = batch_pb2
        self.parts = [batch_pb2.StreamBatchesResponse.FromString(m) for m in golden_messages()]

    def test_parts_are_numbered_and_the_last_says_so(self):
        self.assertEqual([part.part for part in self.parts], [0, 1])
        self.assertEqual([part.last for part in self.parts], [False, True])
        self.assertEqual([part.HasField("header") for part in self.parts], [True, False])

    def test_header_says_what_the_encoder_was_given(self):
        header = self.parts[0].header
        self.assertEqual((header.index, header.step, header.epoch), (7, 3, 2))
        self.assertEqual((header.real.graphs, header.real.nodes, header.real.edges), (3, 8, 7))
        self.assertEqual((header.padded.graphs, header.padded.nodes, header.padded.edges), (4, 64, 64))
        fields = [section.field for section in header.sections]
        self.assertEqual(fields, ["graph_index", "n_node", "n_edge", "senders", "receivers", "z"])
        self.assertEqual(self.parts[0].timing.build_ns, 1200)

    def test_sections_lie_where_the_header_says(self):
        header = self.parts[0].header
        body = b"".join(part.body for part in self.parts)
        self.assertEqual(len(body), header.body_bytes)
        content = {s.field: body[s.offset_bytes:s.offset_bytes + s.size_bytes] for s in header.sections}
        self.assertEqual(list(content["senders"]), [1, 0, 2, 3, 2, 2, 0])
        self.assertEqual(list(content["receivers"]), [0, 1, 1, 2, 3, 0, 2])
        self.assertEqual(list(content["z"]), [6, 1, 1, 8, 2, 7, 1, 1])

    def test_python_writes_the_same_bytes(self):
        self.assertEqual([part.SerializeToString() for part in self.parts], golden_messages())


if __name__ == "__main__":
    generate()
    unittest.main(argv=sys.argv[:1])
